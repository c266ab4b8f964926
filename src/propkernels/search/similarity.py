"""similarity: how similar two graphs are, as one number."""

from __future__ import annotations

import warnings
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels._utils.checks import shown
from propkernels._utils.parallel import workers
from propkernels._utils.typing import Estimator
from propkernels.convert.check import check_graphs
from propkernels.counts.base_kernels import Linear
from propkernels.graphs.accepted import Graphs, OneGraph
from propkernels.kernels.named import named_kernel
from propkernels.kernels.neighborhoods import Neighborhoods
from propkernels.search.bounds import measure_of


@overload
def similarity(g: OneGraph, h: OneGraph, /, *, kernel: Estimator | str | None = None) -> float: ...


@overload
def similarity(graphs: Graphs, /, *, kernel: Estimator | str | None = None) -> NDArray[np.float64]: ...


def similarity(
    g: Graphs | OneGraph, h: OneGraph | None = None, /, *, kernel: Estimator | str | None = None
) -> float | NDArray[np.float64]:
    """Return how similar two graphs are, from 0 to 1, or the matrix of all similarities of several graphs.

    It is the ratio of shared to all neighborhoods: around each node of both graphs, those of 0, 1, 2 and 3
    steps are counted, and the sum of smaller counts is divided by the sum of larger counts (min-max, which
    chemists call the Tanimoto similarity of count fingerprints). Isomorphic graphs have similarity 1, with
    everything that they carry taken as it is: labels, edge labels, direction, weights and attributes. It is
    the number that ``GraphIndex(similarity="jaccard")`` ranks by.

    A similarity of 0.7 says that of all neighborhoods that occur in either graph, 70 % occur in both: about
    that similar are a molecule of 25 atoms and the same without one bond. Graphs that three steps of
    refinement cannot tell apart also get 1, such as two triangles and a hexagon;
    ``graph_hash(graph, exact=True)`` decides.

    Parameters
    ----------
    g, h : graph
        Graphs of networkx, igraph, PyTorch Geometric or RDKit, SMILES, adjacency matrices, lists of edges,
        items of a database, ...: all that a list for :func:`check_graphs` may hold. Without ``h``, ``g`` is
        such a list, or a database.
    kernel : estimator or str, optional
        What is counted instead: a kernel of this library that counts. Of other kernels the normalized value
        is returned, k(g, h) / sqrt(k(g, g) k(h, h)).

    Returns
    -------
    float, or ndarray of shape (n, n) for several graphs

    Warns
    -----
    UserWarning
        If some graphs have node labels and others have none: they share no neighborhood.

    See Also
    --------
    similar_because : The neighborhoods that two graphs share.
    edit_distance : A number of edits.
    GraphIndex : The most similar graphs of many.

    Notes
    -----
    A node without a label has its number of neighbors instead. Weights and attributes count three times: not
    at all, rounded (to 1, 1.5, 2, 3, 4, 6, 8, ...), and exactly; so graphs that differ in these numbers alone
    are similar, but never equal. Nothing is learned from the graphs: the similarity of two graphs does not
    depend on others. Grids are compared by ``PropagationKernel(t_max=3, random_state=0)``.

    References
    ----------
    .. [1] P. Willett, J. M. Barnard and G. M. Downs (1998). Chemical similarity searching. Journal of
       Chemical Information and Computer Sciences 38 (6), 983-996. doi:10.1021/ci9800211.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> pk.similarity(nx.cycle_graph(6), nx.cycle_graph(6))
    1.0
    >>> round(pk.similarity(nx.path_graph(6), nx.path_graph(7)), 2)
    0.73
    >>> pk.similarity([nx.path_graph(6), nx.path_graph(7), nx.star_graph(5)]).shape
    (3, 3)
    """
    several: Any = g if h is None else [g, h]
    graphs = check_graphs(several)
    kernel = named_kernel(kernel, random_state=0)
    if kernel is None:
        _warn_of_missing_labels(graphs)
    elif isinstance(kernel, type) or not hasattr(kernel, "_is_dot_product"):
        raise TypeError(f"kernel must be a kernel, such as pk.WeisfeilerLehman(), got {shown(kernel)}")
    chosen: Any = Neighborhoods() if kernel is None else clone(kernel)
    if chosen._is_dot_product:
        with workers(chosen.n_jobs):
            shared = Linear().square(measure_of("jaccard").features(chosen.fit(graphs)._training_counts))
        own = shared.diagonal()
        below = own[:, None] + own - shared
    else:
        shared = np.asarray(chosen.fit_transform(graphs))
        own = shared.diagonal()
        below = np.sqrt(own[:, None] * own)
    # two graphs without neighborhoods are equal
    values = np.clip(np.divide(shared, below, out=np.ones_like(shared), where=below > 0), 0.0, 1.0)
    return values if h is None else float(values[0, 1])


def _warn_of_missing_labels(graphs: Any) -> None:
    """Warn if some graphs have node labels and others have nodes without."""
    column = graphs.label_column
    if column is None or bool(column.observed.all()):
        return
    n_labels = np.bincount(graphs.graph_ids[column.observed], minlength=len(graphs))
    without = np.flatnonzero((n_labels == 0) & (graphs.graph_sizes > 0))
    if len(without) and n_labels.any():
        warnings.warn(
            f"graph {without[0]} has no node labels and graph {n_labels.argmax()} has, so they share no "
            "neighborhood: label both, or compare structure alone by "
            'kernel=pk.WeisfeilerLehman(labels="degree")',
            stacklevel=3,
        )
