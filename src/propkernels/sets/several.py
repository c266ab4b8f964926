"""compare_several: distances and tests between all pairs of several collections, and a map of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer, check_share, kind_of
from propkernels._utils.optional import data_frame
from propkernels._utils.randomness import draw_seed
from propkernels._utils.safe_files import atomic_write
from propkernels._utils.text_tables import format_table
from propkernels._utils.typing import Estimator, PathLike, Record, Seed
from propkernels.convert.check import check_graphs
from propkernels.graphs.accepted import Graphs
from propkernels.sets.comparing import (
    contributions_of,
    counting_kernel,
    joined,
    permuted_statistics,
    share_above,
    shared_features,
)

if TYPE_CHECKING:
    from pandas import DataFrame

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons:
    """Result of :func:`propkernels.compare_several`.

    Attributes
    ----------
    names : list of str
        Names of the collections.
    sizes : list of int
        Numbers of graphs.
    statistics : ndarray, (collections, collections)
        Unbiased MMD^2 of each pair; 0 on the diagonal.
    p_values : ndarray, (collections, collections)
        P-values, adjusted for the number of pairs (Holm): of all differences that are found at 0.05, none is
        false with a probability of 0.95 or more. 1 on the diagonal.
    positions : ndarray, (collections, 2)
        A map: distances in the plane are as close to sqrt(MMD^2) as classical scaling makes them.
    """

    names: list[str]
    sizes: list[int]
    statistics: Values
    p_values: Values
    positions: Values

    def records(self) -> list[Record]:
        """Return one record per pair: names, statistic and adjusted p-value."""
        return [
            {
                "first": self.names[i],
                "second": self.names[j],
                "statistic": float(self.statistics[i, j]),
                "p_value": float(self.p_values[i, j]),
            }
            for i, j in combinations(range(len(self.names)), 2)
        ]

    def to_frame(self) -> DataFrame:
        """Return the records as a pandas DataFrame."""
        return data_frame(self.records())

    def not_told_apart(self, alpha: float = 0.05) -> list[tuple[int, int]]:
        """Return the pairs of collections whose adjusted p-value is above ``alpha``, as positions."""
        level, pairs = check_share(alpha, "alpha"), combinations(range(len(self.names)), 2)
        return [(i, j) for i, j in pairs if self.p_values[i, j] > level]

    def save(self, path: PathLike) -> None:
        """Write an HTML page: the map, and distances and p-values of all pairs.

        Parameters
        ----------
        path : str or path
            File to write.
        """
        from propkernels.sets.comparison_page import several_page

        with atomic_write(path, text=True) as stream:
            stream.write(several_page(self))

    def _repr_html_(self) -> str:
        from propkernels.sets.comparison_page import several_fragment

        return several_fragment(self)

    def __repr__(self) -> str:
        return f"Comparisons({len(self.names)} collections, {sum(self.sizes):,} graphs)"

    def __str__(self) -> str:
        rows = [
            [one["first"], one["second"], f"{one['statistic']:.4g}", f"{one['p_value']:.4g}"]
            for one in self.records()
        ]
        table = format_table(["first", "second", "MMD^2", "p, adjusted"], rows, left=("first", "second"))
        return f"{self!r}\n{table}"


def compare_several(
    collections: Mapping[str, Graphs] | Sequence[Graphs],
    *,
    kernel: Estimator | None = None,
    n_permutations: int = 999,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Comparisons:
    """Return distances and tests between all pairs of several collections of graphs, and a map of them.

    Parameters
    ----------
    collections : mapping of names to graphs, or sequence of graphs
        Two collections or more, of two graphs or more.
    kernel, n_permutations, random_state, n_jobs
        As in :func:`propkernels.compare`. The kernel is fitted once, to all graphs.

    Returns
    -------
    Comparisons
        With attributes ``statistics``, ``p_values`` and ``positions``.

    See Also
    --------
    compare : Two collections, and the surroundings in which they differ.
    propkernels.plotting.plot_collections : Draws the map.

    References
    ----------
    S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6 (2), 65-70.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(90, random_state=0).graphs
    >>> years = {"2023": graphs[:30], "2024": graphs[30:60], "2025": graphs[60:]}
    >>> found = pk.compare_several(years, n_permutations=99)
    >>> found.statistics.shape, found.positions.shape
    ((3, 3), (3, 2))
    """
    n_permutations = check_integer(n_permutations, "n_permutations", 1)
    names, parts = _named(collections)
    seed = draw_seed(random_state)
    chosen = counting_kernel(kernel, seed)
    fitted: Any = chosen.fit(joined(parts))
    features, _ = shared_features(list(fitted._training_counts), bool(getattr(chosen, "normalize", False)))
    ends = np.cumsum([0, *map(len, parts)])
    rows = [np.arange(first, last) for first, last in pairwise(ends.tolist())]
    n = len(parts)
    statistics, p_values = np.zeros((n, n)), np.ones((n, n))
    for number, (i, j) in enumerate(combinations(range(n), 2)):
        own, size = features[np.concatenate([rows[i], rows[j]])], len(rows[i])
        value = float(contributions_of(own, size).sum())
        permuted = permuted_statistics(own, size, n_permutations, seed + number, n_jobs)
        statistics[i, j] = statistics[j, i] = value
        p_values[i, j] = p_values[j, i] = share_above(permuted, value, own)
    above = np.triu_indices(n, 1)
    p_values[above] = holm(p_values[above])
    p_values.T[above] = p_values[above]
    return Comparisons(names, [len(part) for part in parts], statistics, p_values, scaled(statistics))


def _named(collections: Any) -> tuple[list[str], list[Any]]:
    """Return names and checked graphs of all collections."""
    if isinstance(collections, str) or not isinstance(collections, Iterable):
        raise TypeError(f"collections must be a mapping or a list of graphs, got {kind_of(collections)}")
    items = collections.items() if isinstance(collections, Mapping) else enumerate(collections)
    names, parts = [], []
    for name, graphs in items:
        names.append(str(name))
        parts.append(check_graphs(graphs))
        if len(parts[-1]) < 2:
            raise ValueError(f"two graphs are needed in each collection, but {name} has {len(parts[-1])}")
    if len(parts) < 2:
        raise ValueError(f"two collections are needed, got {len(parts)}")
    return names, parts


def holm(p_values: Values) -> Values:
    """Return p-values adjusted by Holm's method: the smallest times n, the next times n - 1, ..., monotone.

    Examples
    --------
    >>> holm(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.04]
    """
    order, n = np.argsort(p_values, kind="stable"), len(p_values)
    adjusted = np.maximum.accumulate(p_values[order] * np.arange(n, 0, -1))
    found = np.empty(n)
    found[order] = np.minimum(adjusted, 1.0)
    return found


def scaled(squared: Values) -> Values:
    """Return positions in the plane by classical scaling of squared distances, negative ones taken as 0."""
    n = len(squared)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ np.maximum(squared, 0.0) @ center)
    positions = np.zeros((n, 2))
    for column, k in enumerate(np.argsort(-values)[: min(2, n)].tolist()):
        vector = vectors[:, k] * np.sign(vectors[np.abs(vectors[:, k]).argmax(), k])
        positions[:, column] = vector * np.sqrt(max(values[k], 0.0))
    return positions
