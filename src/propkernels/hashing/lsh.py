"""Locality sensitive hashing of distributions and attributes (Algorithm 2, CALCULATE-LSH)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.utils.randomness import GOLDEN, OTHER_FACTOR, cauchy, gaussian, uniform

NO_BIN = np.iinfo(np.int64).min  # the code of a node that is not counted
METRICS = ("tv", "hellinger", "l1", "l2")
LARGEST_FLOOR = 2.0**36
KEPT_BITS = np.int64(-(2**16))
_VECTOR, _OFFSET, _OWN_OFFSET = 1, 2, 3


@dataclass(frozen=True)
class LocalitySensitiveHash:
    """A family of hashes ``h(x) = floor((v . x + b) / w)``, one for each iteration t and repetition.

    ``v`` has independent p-stable entries (Cauchy for tv and l1, normal for hellinger and l2) and ``b``
    is uniform in [0, w]; hellinger takes the square root of x first (Algorithm 2).

    Attributes
    ----------
    metric : {"tv", "hellinger", "l1", "l2"}
    bin_width : float
        The width w.
    seed : int
    purpose : int
        Tells apart the families drawn from one seed (labels, attributes, ...).
    """

    metric: str
    bin_width: float
    seed: int
    purpose: int = 0

    @property
    def takes_root(self) -> bool:
        """Whether coordinates are replaced by their square roots, which no linear step commutes with."""
        return self.metric == "hellinger"

    def vectors(self, keys: NDArray[np.uint64], streams: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return v / w: one row for each key (label, dimension), one column for each stream."""
        draw = cauchy if self.metric in ("tv", "l1") else gaussian
        words = (self.seed, self.purpose, _VECTOR, streams[None, :], keys[:, None])
        return draw(*words) / self.bin_width

    def offsets(self, streams: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return b / w for each stream: uniform in (0, 1)."""
        return uniform(self.seed, self.purpose, _OFFSET, streams)

    def own_offsets(self, keys: NDArray[np.uint64], stream: int) -> NDArray[np.float64]:
        """Return b / w for each key of one stream, where each dimension is hashed by itself."""
        return uniform(self.seed, self.purpose, _OWN_OFFSET, stream, keys)


def stream_numbers(t_max: int, n_hashes: int) -> NDArray[np.int64]:
    """Number the streams (t, hash) so that a smaller t_max or n_hashes is a part of a larger one.

    Streams are ordered by t, then by hash; the number itself depends on neither t_max nor n_hashes.
    """
    t, h = np.divmod(np.arange((t_max + 1) * n_hashes, dtype=np.int64), n_hashes)
    return (t << np.int64(32)) + h


def floor_codes(values: Any) -> NDArray[np.int64]:
    """Floor to int64; from ``LARGEST_FLOOR`` on, the leading bits of the float itself serve as code.

    The floor of a large value would depend on its last bits, and so on the order in which neighbors were
    added up. Keeping 36 of its 52 binary digits leaves those bits out; such codes never equal a floor.
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    small = np.abs(array) < LARGEST_FLOOR
    floors = np.floor(np.where(small, array, 0.0)).astype(np.int64)
    return np.where(small, floors, array.view(np.int64) & KEPT_BITS)


def join_codes(codes: NDArray[np.int64], other: Any) -> NDArray[np.int64]:
    """Join two codes into one that is equal where both are (h = h_l and h_a, Algorithm 4).

    Nodes that are not counted stay so. ``compiled.join`` is the same for one number.
    """
    with np.errstate(over="ignore"):
        word = codes.view(np.uint64) * GOLDEN + np.asarray(other, dtype=np.int64).view(np.uint64)
        word = (word ^ (word >> np.uint64(32))) * OTHER_FACTOR
        joined = (word ^ (word >> np.uint64(29))).view(np.int64)
    return np.where(codes == NO_BIN, codes, joined)
