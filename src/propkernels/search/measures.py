"""Measures of similarity between counts: cosine, intersection, Tanimoto and Jaccard, all streams together.

Let s be the dot product of two graphs' features, l and r those of each graph with itself. Cosine and
intersection are s / sqrt(l r), Tanimoto and Jaccard s / (l + r - s). Features are counts, or (intersection,
Jaccard) the levels of counts, whose dot product is the sum over bins of the smaller count
(:mod:`propkernels.counts.levels`): Jaccard is the sum of smaller counts over the sum of larger counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.levels import LevelCounter, levels_of

Values = NDArray[np.float64]
LOOSE = 1 - 1e-9  # factor of bounds that rounding must not cross


class Measure(NamedTuple):
    """How an index compares two graphs by their sums s, l and r.

    Attributes
    ----------
    name : str
    by_levels : bool
        Whether s is the sum of smaller counts, not of products.
    is_ratio : bool
        Whether the similarity is s / (l + r - s), not s / sqrt(l r).
    """

    name: str
    by_levels: bool
    is_ratio: bool

    def values(self, shared: Values, own: float, others: NDArray[Any]) -> Values:
        """Return the similarity of a graph to others, given s, l and r; 0 if both are empty."""
        others = others.astype(np.float64, copy=False)
        below = own + others - shared if self.is_ratio else np.sqrt(own * others)
        return np.divide(shared, below, out=np.zeros(len(shared)), where=below > 0)

    def may_exceed(self, shared: Values, own: float, others: NDArray[Any], least: float) -> NDArray[np.bool_]:
        """Return False only for graphs whose similarity is at most ``least``, without dividing."""
        if self.is_ratio:
            return np.asarray((1 + least) * shared >= LOOSE * least * (own + others))
        return np.asarray(shared * shared >= LOOSE * least * least * own * others)

    def counter(self, counter: Counter) -> Counter:
        """Return a counter of the features: of counts, or of their levels."""
        wraps = self.by_levels and not isinstance(counter, LevelCounter)
        return LevelCounter(counter) if wraps else counter

    def features(self, streams: Sequence[StreamCounts]) -> list[StreamCounts]:
        """Return the features of counted graphs.

        Raises
        ------
        ValueError
            If counts are not whole numbers, which have no levels.
        """
        if not self.by_levels:
            return list(streams)
        for stream in streams:
            if not np.array_equal(stream.counts.data, np.rint(stream.counts.data)):
                raise ValueError(f"similarity={self.name!r} needs a kernel whose counts are whole numbers")
        return levels_of(streams)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("cosine", by_levels=False, is_ratio=False),
        Measure("intersection", by_levels=True, is_ratio=False),
        Measure("tanimoto", by_levels=False, is_ratio=True),
        Measure("jaccard", by_levels=True, is_ratio=True),
    )
}
COSINE = MEASURES["cosine"]


def measure_of(name: Any) -> Measure:
    """Return the measure of that name.

    Examples
    --------
    >>> measure_of("jaccard").values(np.array([3.0]), 4.0, np.array([5.0]))
    array([0.5])
    """
    check_choice(name, tuple(MEASURES), "similarity")
    return MEASURES[name]
