"""Isomorphism classes: canonical forms of graphs with labels, attributes and weights.

Colors are refined until they are stable; then one node of a graph's first ambiguous color gets a color of
its own, and so on until all nodes differ ("individualize and refine" [1]_). The graph written down in the
order of its colors is its form. Equal forms are the same graph, whatever the hash; where the forms of two
graphs with the same stable colors differ, a search over the other choices decides.

References
----------
.. [1] B. D. McKay and A. Piperno (2014). Practical graph isomorphism, II. Journal of Symbolic Computation 60,
   94-112. doi:10.1016/j.jsc.2013.09.003.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.randomness import mix
from propkernels.auditing.refined_colors import Contents, Groups, Words, in_company, number_equal

AT_ONCE = 4  # refinements between two looks at whether colors are stable
MOST_CHOICES = 300  # nodes of a graph that get a color of their own
MOST_TRIALS = 2000  # choices that are tried for a pair of graphs


def isomorphism_classes(contents: Contents, alike: Groups, n_jobs: int | None) -> tuple[Groups, int]:
    """Number graphs, equal numbers being the same graph up to the order of its nodes.

    Parameters
    ----------
    contents : Contents
    alike : ndarray of int64
        Groups that hold all graphs that may be the same.
    n_jobs : int or None

    Returns
    -------
    classes : ndarray of int64
    undecided : int
        Graphs that are like another one to every refinement, and for which the search was given up: they
        are counted as different.
    """
    candidates = np.flatnonzero(in_company(alike))
    forms: list[object] = [("alone", i) for i in range(len(alike))]
    found = canonical_forms(contents.take(candidates), n_jobs) if len(candidates) else []
    known: dict[int, list[tuple[int, bytes]]] = {}  # different graphs of each group
    undecided = sum(form is None for form in found)
    for member, form in zip(candidates.tolist(), found, strict=True):
        if form is not None:
            others = known.setdefault(int(alike[member]), [])
            forms[member], is_sure = _class_of(contents, member, form, others)
            undecided += not is_sure
    return number_equal(forms), undecided


def _class_of(
    contents: Contents, member: int, form: bytes, representatives: list[tuple[int, bytes]]
) -> tuple[bytes, bool]:
    """The form of the first graph of its group that is the same, and whether the answer is sure."""
    if any(form == other for _, other in representatives):
        return form, True
    is_sure = True
    for number, other in representatives:
        answer = same_graph(contents.take(np.array([number])), contents.take(np.array([member])))
        if answer:
            return other, True
        is_sure = is_sure and answer is not None
    representatives.append((member, form))
    return form, is_sure


def canonical_forms(contents: Contents, n_jobs: int | None = None) -> list[bytes | None]:
    """One form per graph; None where too many nodes had to be told apart by choice.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> from propkernels.auditing.refined_colors import everything
    >>> cycle, other = nx.cycle_graph(6), nx.relabel_nodes(nx.cycle_graph(6), {0: 3, 3: 0})
    >>> forms = canonical_forms(everything(pk.from_networkx([cycle, other, nx.path_graph(6)])))
    >>> forms[0] == forms[1], forms[0] == forms[2]
    (True, False)
    """
    forms: list[bytes | None] = [None] * len(contents.graphs)
    active, part = np.arange(len(contents.graphs)), contents
    colors = told_apart(contents)
    for _ in range(MOST_CHOICES + 1):
        colors = stable_colors(part, colors, n_jobs)
        chosen = first_ambiguous(colors, part.graphs.graph_ptr)
        for place in np.flatnonzero(chosen < 0).tolist():
            forms[active[place]] = written_down(part, place, colors)
        going_on = np.flatnonzero(chosen >= 0)
        if not len(going_on):
            break
        colors = colors.copy()
        colors[chosen[going_on]] = mix(colors[chosen[going_on]], 1)
        colors = np.concatenate([colors[slice(*part.graphs.graph_ptr[i : i + 2])] for i in going_on])
        active, part = active[going_on], part.take(going_on) if len(going_on) < len(active) else part
    return forms


def stable_colors(contents: Contents, colors: Words, n_jobs: int | None = None) -> Words:
    """Refine until no graph's nodes fall into more colors."""
    owners, number = contents.graphs.graph_ids, -1
    while True:
        found = len(np.unique(mix(owners, colors)))
        if found == number or found == len(colors):
            return colors
        number = found
        colors = contents.refined(colors, AT_ONCE, n_jobs)[-1].view(np.uint64)


def told_apart(contents: Contents) -> Words:
    """Start colors: what nodes carry, and their rank among nodes with the same neighbors.

    To exchange two such nodes changes nothing, so that any order of them is as good as any other.
    """
    adjacency, keys = contents.graphs.adjacency, contents.edge_keys
    rows = np.repeat(np.arange(len(contents.nodes)), np.diff(adjacency.indptr))
    edges = np.zeros(adjacency.nnz, dtype=np.uint64) if keys is None else keys
    seen = _sums(rows, mix(adjacency.indices, edges, 1), len(contents.nodes))
    seen += _sums(adjacency.indices, mix(rows, edges, 2), len(contents.nodes))
    own = contents.node_keys
    colors = mix(own, _ranks(mix(own, seen)))
    if keys is None:  # neighbors of each other, with all others in common
        everyone, zero = np.arange(len(contents.nodes)), np.uint64(0)
        colors = mix(colors, _ranks(mix(own, seen + mix(everyone, zero, 1) + mix(everyone, zero, 2))))
    return colors


def _sums(places: NDArray[np.int64], words: Words, number: int) -> Words:
    """Sums of words, modulo 2^64, by place."""
    sums = np.zeros(number, dtype=np.uint64)
    np.add.at(sums, places, words)
    return sums


def _ranks(words: Words) -> NDArray[np.int64]:
    """For each word, how many equal ones come before it."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(words) else np.zeros(0, np.int64)
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[order] = np.arange(len(words)) - np.repeat(starts, np.diff(np.r_[starts, len(words)]))
    return ranks


def first_ambiguous(colors: Words, graph_ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each graph, a node of its smallest color that several nodes have; -1: all colors differ."""
    owners = np.repeat(np.arange(len(graph_ptr) - 1), np.diff(graph_ptr))
    order = np.lexsort((colors, owners))
    same = (colors[order][1:] == colors[order][:-1]) & (owners[order][1:] == owners[order][:-1])
    places = np.flatnonzero(same)
    found = np.full(len(graph_ptr) - 1, -1, dtype=np.int64)
    found[owners[order[places]][::-1]] = order[places][::-1]  # the first is written last
    return found


def written_down(contents: Contents, place: int, colors: Words) -> bytes:
    """A graph with its nodes in the order of their colors: what they carry, and all edges."""
    start, stop = contents.graphs.graph_ptr[place : place + 2]
    indptr = contents.graphs.adjacency.indptr
    entries = slice(int(indptr[start]), int(indptr[stop]))
    order = np.argsort(colors[start:stop])
    rank = np.empty(len(order), dtype=np.uint64)
    rank[order] = np.arange(len(order), dtype=np.uint64)
    rows = np.repeat(rank, np.diff(indptr[start : stop + 1]))
    ends = rank[contents.graphs.adjacency.indices[entries] - start]
    table = np.column_stack([rows, ends, contents.edges[entries]])
    table = np.ascontiguousarray(table[np.lexsort(table.T[::-1])])
    return np.uint64(len(order)).tobytes() + contents.nodes[start:stop][order].tobytes() + table.tobytes()


@dataclass
class _Search:
    """A search for an order of one graph's nodes in which it is written down like another graph."""

    contents: Contents
    levels: list[tuple[Words, np.uint64]]  # of the other graph: sorted stable colors, and the color chosen
    form: bytes
    trials: int = 0

    def run(self, colors: Words, level: int) -> bool | None:
        """Whether there is one among all choices from this level on; None: given up."""
        if self.trials >= MOST_TRIALS:
            return None
        self.trials += 1
        colors = stable_colors(self.contents, colors)
        stable, chosen = self.levels[level]
        if not np.array_equal(np.sort(colors), stable):
            return False
        if level == len(self.levels) - 1:
            return written_down(self.contents, 0, colors) == self.form
        is_sure = True
        for node in np.flatnonzero(colors == chosen).tolist():
            tried = colors.copy()
            tried[node] = mix(colors[node], 1)
            answer = self.run(tried, level + 1)
            if answer:
                return True
            is_sure = is_sure and answer is not None
        return False if is_sure else None


def same_graph(one: Contents, other: Contents) -> bool | None:
    """Whether two graphs are the same up to the order of their nodes; None: not decided in time.

    Both hold one graph, and number labels alike.
    """
    colors, levels = told_apart(one), []
    for _ in range(MOST_CHOICES + 1):
        colors = stable_colors(one, colors)
        node = int(first_ambiguous(colors, one.graphs.graph_ptr)[0])
        levels.append((np.sort(colors), colors[node] if node >= 0 else np.uint64(0)))
        if node < 0:
            return _Search(other, levels, written_down(one, 0, colors)).run(told_apart(other), 0)
        colors = colors.copy()
        colors[node] = mix(colors[node], 1)
    return None
