"""Hashes of graphs: a short text per graph, equal for isomorphic graphs, and the distinct graphs of a set."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import threaded, workers
from propkernels._utils.randomness import mix
from propkernels.codes.codes import multiset_codes
from propkernels.codes.contents import Contents, Words, contents_by_value, everything, number_equal
from propkernels.convert.check import check_edges, is_one_graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs, OneGraph
from propkernels.sets.isomorphism import AT_ONCE, canonical_form, isomorphism_classes, sums_at


@threaded
def graph_hash(
    graph: OneGraph | Graphs, exact: bool = False, *, n_jobs: int | None = None
) -> str | list[str]:
    """Return a hash of a graph: 32 hexadecimal digits, equal for isomorphic graphs.

    Hashes depend on neither the order of nodes nor other graphs, and are the same in every process, machine
    and version. Node labels, edge labels, direction, weights and attributes must agree.

    By default the hash is that of stable Weisfeiler-Lehman colors, in linear time per step: graphs that no
    number of steps can distinguish (such as two triangles and a hexagon) have equal hashes. With ``exact``,
    it is that of a canonical form [1]_, and different graphs have different hashes.

    Parameters
    ----------
    graph : graph, or several graphs
        One graph: an item of a database, a graph of another library, or a tuple; see
        :func:`propkernels.check_graphs` for several.
    exact : bool, default=False
        Whether graphs that colors do not distinguish have different hashes.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Returns
    -------
    str, or list of str for several graphs

    Raises
    ------
    ValueError
        If the search for a canonical form reaches its limit: the graph is too large and too symmetric.

    See Also
    --------
    unique : The distinct graphs of several.
    audit : Duplicates with conflicting targets.

    References
    ----------
    .. [1] B. D. McKay and A. Piperno (2014). Practical graph isomorphism, II. Journal of Symbolic Computation
       60, 94-112. doi:10.1016/j.jsc.2013.09.003.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> pk.graph_hash(nx.petersen_graph())
    '1112c6a8cb5709a0c05cf0417b87aec3'
    >>> triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    >>> pk.graph_hash(triangles) == pk.graph_hash(nx.cycle_graph(6))
    True
    >>> pk.graph_hash(triangles, exact=True) == pk.graph_hash(nx.cycle_graph(6), exact=True)
    False
    """
    is_one = is_one_graph(graph)
    several: Any = [graph] if is_one else graph
    contents = contents_by_value(check_edges(several))
    hashes = _exact_hashes(contents) if exact else color_hashes(contents)
    return hashes[0] if is_one else hashes


def _exact_hashes(contents: Contents) -> list[str]:
    """Return the hash of each graph's canonical form."""
    hashes = []
    for i in range(len(contents.graphs)):
        form = canonical_form(contents.take(np.array([i])))
        if form is None:
            n_nodes = int(contents.graphs.graph_sizes[i])
            raise ValueError(
                f"graph {i} ({n_nodes} nodes) is too symmetric for an exact hash: use exact=False, which "
                "does not separate graphs with equal Weisfeiler-Lehman colors"
            )
        hashes.append(hashlib.blake2b(form, digest_size=16).hexdigest())
    return hashes


def color_hashes(contents: Contents) -> list[str]:
    """Return the hash of each graph's stable colors.

    A graph is refined four steps at a time until the number of its colors no longer grows, whatever other
    graphs need: the hash is a function of the graph.
    """
    words = np.zeros((len(contents.graphs), 2), dtype=np.uint64)
    part, active, colors = contents, np.arange(len(contents.graphs)), contents.node_keys
    n_before = _numbers_of_colors(part.graphs, colors)
    while len(active):
        keys = mix(*part.edges.T) if len(part.edges) else None
        colors = multiset_codes(part.graphs, colors, keys, AT_ONCE).codes[-1].view(np.uint64)
        n_colors = _numbers_of_colors(part.graphs, colors)
        words[active] = np.where((n_colors == n_before)[:, None], _sums(part.graphs, colors), words[active])
        rest = np.flatnonzero(n_colors > n_before)
        rows = np.isin(part.graphs.graph_ids, rest)
        active, n_before, colors = active[rest], n_colors[rest], colors[rows]
        part = part.take(rest) if len(rest) else part
    return [f"{int(first):016x}{int(second):016x}" for first, second in words]


def _numbers_of_colors(graphs: GraphDatabase, colors: Words) -> NDArray[np.int64]:
    """Return the number of different colors of each graph."""
    order = np.lexsort((colors, graphs.graph_ids))
    owners, colors = graphs.graph_ids[order], colors[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (owners[1:] != owners[:-1]) | (colors[1:] != colors[:-1])
    return np.bincount(owners[is_new], minlength=len(graphs))


def _sums(graphs: GraphDatabase, colors: Words) -> Words:
    """Return two sums of hashed colors of each graph, (graphs, 2)."""
    sums = [sums_at(graphs.graph_ids, mix(colors, number), len(graphs)) for number in (1, 2)]
    return mix(np.column_stack(sums), graphs.graph_sizes.astype(np.uint64)[:, None])


@overload
def unique(graphs: Graphs, *, n_jobs: int | None = None) -> GraphDatabase: ...


@overload
def unique(
    graphs: Graphs, *, return_inverse: Literal[True], n_jobs: int | None = None
) -> tuple[GraphDatabase, NDArray[np.int64], NDArray[np.int64]]: ...


def unique(
    graphs: Graphs, *, return_inverse: bool = False, n_jobs: int | None = None
) -> GraphDatabase | tuple[GraphDatabase, NDArray[np.int64], NDArray[np.int64]]:
    """Return the graphs that are not isomorphic to an earlier one, with labels, attributes and weights.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
        See :func:`propkernels.check_graphs`.
    return_inverse : bool, default=False
        Whether to return positions too.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Returns
    -------
    GraphDatabase
        The distinct graphs, in order of first appearance.
    index : ndarray of int64, (distinct graphs,)
        Position of each among all graphs; only with ``return_inverse``.
    inverse : ndarray of int64, (graphs,)
        For each graph, the position of its equal among the distinct graphs; only with ``return_inverse``.

    Warns
    -----
    UserWarning
        If an exact comparison reached its limit; such graphs count as different.

    See Also
    --------
    graph_hash : One text per graph.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> star = nx.relabel_nodes(nx.star_graph(3), {0: 3, 3: 0})
    >>> len(pk.unique([nx.star_graph(3), nx.path_graph(4), star]))
    2
    """
    database = check_edges(graphs)
    contents = everything(database)
    with workers(n_jobs):
        classes, undecided = isomorphism_classes(contents, number_equal(color_hashes(contents)))
    if undecided:
        warnings.warn(
            f"{undecided} graphs have the same colors as another graph, and the exact comparison reached its "
            "limit: they count as different",
            stacklevel=2,
        )
    index = np.unique(classes, return_index=True)[1].astype(np.int64)
    distinct = database[index]
    return (distinct, index, classes) if return_inverse else distinct
