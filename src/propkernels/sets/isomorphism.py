"""Isomorphism classes: canonical forms of graphs with labels, attributes and weights.

Colors are refined until they are stable; then a node of the first ambiguous color of a graph gets a new
color, and so on until all nodes differ ("individualize and refine" [1]_). The form of a graph lists its nodes
and edges in the order of colors. Equal forms imply isomorphism, regardless of hash collisions. If the forms
of two graphs with the same stable colors differ, their smallest forms of all choices of nodes decide: one
graph suffices for ``canonical_form``, and forms can be compared later.

References
----------
.. [1] B. D. McKay and A. Piperno (2014). Practical graph isomorphism, II. Journal of Symbolic Computation 60,
   94-112. doi:10.1016/j.jsc.2013.09.003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.randomness import mix
from propkernels.codes.contents import Contents, Groups, Words, in_company, number_equal

AT_ONCE = 4  # refinements between two checks for stability
MOST_CHOICES = 300  # individualized nodes per graph
MOST_REFINEMENTS = 10_000  # stable colorings per graph in the search for its canonical form


def isomorphism_classes(contents: Contents, alike: Groups) -> tuple[Groups, int]:
    """Return one class number per graph, equal for isomorphic graphs, and the number of undecided graphs.

    Parameters
    ----------
    contents : Contents
    alike : ndarray of int64
        One group number per graph; isomorphic graphs are in the same group.

    Returns
    -------
    classes : ndarray of int64
    undecided : int
        Graphs that color refinement does not distinguish from another graph, and for which the search reached
        its limit; they count as different.
    """
    candidates = np.flatnonzero(in_company(alike))
    classes: list[object] = [("alone", i) for i in range(len(alike))]
    forms = canonical_forms(contents.take(candidates)) if len(candidates) else []
    known: dict[int, dict[bytes, int]] = {}  # per group: a graph of the class of each form
    smallest: dict[int, bytes | None] = {}  # forms of graphs whose first forms differ
    undecided = sum(form is None for form in forms)
    for member, form in zip(candidates.tolist(), forms, strict=True):
        if form is None:
            continue
        found = known.setdefault(int(alike[member]), {})
        if form not in found:
            others = list(dict.fromkeys(found.values()))
            for graph in (member, *others) if others else ():
                if graph not in smallest:
                    smallest[graph] = canonical_form(contents.take(np.array([graph])))
            own = smallest.get(member)
            equal = [graph for graph in others if own is not None and smallest[graph] == own]
            undecided += bool(others) and not equal and None in (own, *(smallest[i] for i in others))
            found[form] = equal[0] if equal else member
        classes[member] = ("like", found[form])
    return number_equal(classes), undecided


def canonical_forms(contents: Contents) -> list[bytes | None]:
    """Return one form per graph; None if more than 300 nodes had to be individualized.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> from propkernels.codes.contents import everything
    >>> cycle, other = nx.cycle_graph(6), nx.relabel_nodes(nx.cycle_graph(6), {0: 3, 3: 0})
    >>> forms = canonical_forms(everything(pk.from_networkx([cycle, other, nx.path_graph(6)])))
    >>> forms[0] == forms[1], forms[0] == forms[2]
    (True, False)
    """
    forms: list[bytes | None] = [None] * len(contents.graphs)
    active, part = np.arange(len(contents.graphs)), contents
    colors = told_apart(contents)
    for _ in range(MOST_CHOICES + 1):
        colors = stable_colors(part, colors)
        chosen = first_ambiguous(colors, part.graphs.graph_ptr)
        for place in np.flatnonzero(chosen < 0).tolist():
            forms[active[place]] = written_down(part, place, colors)
        going_on = np.flatnonzero(chosen >= 0)
        if not len(going_on):
            break
        colors = _individualized(colors, chosen[going_on])
        colors = np.concatenate([colors[slice(*part.graphs.graph_ptr[i : i + 2])] for i in going_on])
        active, part = active[going_on], part.take(going_on) if len(going_on) < len(active) else part
    return forms


def stable_colors(contents: Contents, colors: Words) -> Words:
    """Return colors refined until the number of colors no longer grows."""
    owners, n_before = contents.graphs.graph_ids, -1
    while True:
        n_colors = len(np.unique(mix(owners, colors)))
        if n_colors in (n_before, len(colors)):
            return colors
        n_before = n_colors
        colors = contents.refined(colors, AT_ONCE)[-1].view(np.uint64)


def told_apart(contents: Contents) -> Words:
    """Return initial colors: labels and attributes of nodes, and their rank among nodes with equal neighbors.

    Exchanging two nodes with equal neighbors is an automorphism, so any order of them gives the same form.
    """
    adjacency, keys = contents.graphs.adjacency, contents.edge_keys
    rows = np.repeat(np.arange(len(contents.nodes)), np.diff(adjacency.indptr))
    edges = np.zeros(adjacency.nnz, dtype=np.uint64) if keys is None else keys
    seen = sums_at(rows, mix(adjacency.indices, edges, 1), len(contents.nodes))
    seen += sums_at(adjacency.indices, mix(rows, edges, 2), len(contents.nodes))
    node_keys = contents.node_keys
    colors = mix(node_keys, _ranks(mix(node_keys, seen)))
    if keys is None:  # adjacent nodes whose other neighbors are equal: each counts as its own neighbor
        nodes, zero = np.arange(len(contents.nodes)), np.uint64(0)
        colors = mix(colors, _ranks(mix(node_keys, seen + mix(nodes, zero, 1) + mix(nodes, zero, 2))))
    return colors


def sums_at(places: NDArray[Any], words: Words, number: int) -> Words:
    """Return the sum of words modulo 2^64 at each place."""
    sums = np.zeros(number, dtype=np.uint64)
    np.add.at(sums, places, words)
    return sums


def _ranks(words: Words) -> NDArray[np.int64]:
    """Return, for each word, the number of equal words before it."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(words) else np.zeros(0, np.int64)
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[order] = np.arange(len(words)) - np.repeat(starts, np.diff(np.r_[starts, len(words)]))
    return ranks


def first_ambiguous(colors: Words, graph_ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each graph, a node of its smallest repeated color; -1: all colors differ."""
    owners = np.repeat(np.arange(len(graph_ptr) - 1), np.diff(graph_ptr))
    order = np.lexsort((colors, owners))
    same = (colors[order][1:] == colors[order][:-1]) & (owners[order][1:] == owners[order][:-1])
    places = np.flatnonzero(same)
    nodes = np.full(len(graph_ptr) - 1, -1, dtype=np.int64)
    nodes[owners[order[places]][::-1]] = order[places][::-1]  # reversed, so that the first of a graph wins
    return nodes


def written_down(contents: Contents, place: int, colors: Words) -> bytes:
    """Return the form of a graph: node labels and attributes in the order of colors, and sorted edges."""
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


Leaf = tuple[bytes, bytes]  # sorted stable colors, and the form


@dataclass
class _SmallestForm:
    """A search over all choices of nodes for the smallest form of one graph."""

    contents: Contents
    n_refinements: int = 0

    def run(self, colors: Words) -> tuple[Leaf, Leaf]:
        """Return the leaf that the first choices reach, and the smallest leaf.

        If the first leaf of a choice equals that of an earlier choice, an automorphism that keeps all
        previous choices exchanges them, and their smallest leaves are equal: the choice is skipped.
        """
        colors, node = self._stable(colors)
        if node < 0:
            leaf = self._leaf(colors)
            return leaf, leaf
        leaves: dict[Leaf, Leaf] = {}  # first and smallest leaf of each choice
        for choice in np.flatnonzero(colors == colors[node]).tolist():
            tried = _individualized(colors, choice)
            if not leaves or self._first(tried) not in leaves:
                first, smallest = self.run(tried)
                leaves[first] = smallest
        return next(iter(leaves)), min(leaves.values())

    def _first(self, colors: Words) -> Leaf:
        colors, node = self._stable(colors)
        while node >= 0:
            colors, node = self._stable(_individualized(colors, node))
        return self._leaf(colors)

    def _stable(self, colors: Words) -> tuple[Words, int]:
        if self.n_refinements >= MOST_REFINEMENTS:
            raise _TooManyError
        self.n_refinements += 1
        colors = stable_colors(self.contents, colors)
        return colors, int(first_ambiguous(colors, self.contents.graphs.graph_ptr)[0])

    def _leaf(self, colors: Words) -> Leaf:
        return np.sort(colors).tobytes(), written_down(self.contents, 0, colors)


class _TooManyError(Exception):
    """The search reached its limit."""


def _individualized(colors: Words, node: int | NDArray[np.int64]) -> Words:
    colors = colors.copy()
    colors[node] = mix(colors[node], 1)
    return colors


def canonical_form(contents: Contents) -> bytes | None:
    """Return the same bytes for isomorphic graphs only; None: the search reached its limit.

    ``contents`` holds one graph, with words that are the same in all databases.
    """
    if not len(contents.nodes):
        return b""
    try:
        _, (_, form) = _SmallestForm(contents).run(told_apart(contents))
    except (_TooManyError, RecursionError):
        return None
    return form
