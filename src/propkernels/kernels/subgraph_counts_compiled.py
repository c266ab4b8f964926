"""Compiled loops that count the connected subgraphs of each graph up to isomorphism."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_other, mix_word


class Subgraph(NamedTuple):
    """Current subgraph as a stack of nodes, and the candidates that may join it.

    Position p holds ``nodes[p]`` with label ``keys[p]``; ``edges[p, q]`` is the word of the edges between p
    and q, 0 without edges. ``words[p]`` is a hash of the first p nodes in order. ``open[p, :n_open[p]]`` are
    the candidates for position p, and ``reached[p, :n_reached[p]]`` the nodes first reached from position p.
    ``position`` is -1 for nodes outside the subgraph.
    """

    nodes: Any
    keys: Any
    edges: Any
    words: Any
    open: Any
    n_open: Any
    reached: Any
    n_reached: Any
    position: Any
    is_reached: Any

    @classmethod
    def room(cls, k: int, n: int) -> Subgraph:
        """Return arrays for subgraphs with at most k nodes of graphs with at most n nodes."""
        return cls(
            nodes=np.empty(k, np.int64),
            keys=np.empty(k, np.uint64),
            edges=np.zeros((k, k), np.uint64),
            words=np.zeros(k + 1, np.uint64),
            open=np.empty((k + 1, n), np.int64),
            n_open=np.zeros(k + 1, np.int64),
            reached=np.empty((k, n), np.int64),
            n_reached=np.zeros(k, np.int64),
            position=np.full(n, -1, np.int64),
            is_reached=np.zeros(n, np.bool_),
        )


class Kinds(NamedTuple):
    """Table of kinds of subgraphs: their codes, numbers of nodes, and numbers of symmetries.

    ``words`` and ``classes`` are a hash table from the word of a subgraph, for its nodes in some order, to
    its kind; free slots have class -1.
    """

    words: Any
    classes: Any
    n_words: int
    codes: Any
    sizes: Any
    symmetries: Any
    n_kinds: int

    @classmethod
    def none(cls) -> Kinds:
        """Return an empty table."""
        words, classes = np.zeros(1024, np.uint64), np.full(1024, -1, np.int64)
        sizes, symmetries = np.zeros((2, 256), np.int64)
        return cls(words, classes, 0, np.zeros(256, np.uint64), sizes, symmetries, 0)


class Scratch(NamedTuple):
    """Work arrays of :func:`_canonical`."""

    colors: Any
    sorted: Any
    order: Any
    is_used: Any
    words: Any
    multiplicity: Any

    @classmethod
    def room(cls, k: int) -> Scratch:
        """Return work arrays for at most k nodes."""
        return cls(
            colors=np.empty(k, np.uint64),
            sorted=np.empty(k, np.uint64),
            order=np.empty(k, np.int64),
            is_used=np.empty(k, np.bool_),
            words=np.empty(k + 1, np.uint64),
            multiplicity=np.empty(k + 1, np.int64),
        )


@compiled(cache=False)
def _fold(word: Any, further: Any) -> Any:
    """Return the hash of a word and a further word."""
    return mix_word(word ^ mix_other(further + np.uint64(1)))


@compiled(cache=False)
def _slot(word: Any, words: Any, classes: Any) -> Any:
    """Return the slot of a word, or the free slot for it (class -1)."""
    mask = np.uint64(len(words) - 1)
    slot = word & mask
    while classes[slot] >= 0 and words[slot] != word:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled(cache=False)
def _grown_table(words: Any, classes: Any) -> Any:
    """Return the table with twice as many slots."""
    new_words, new_classes = np.empty(2 * len(words), np.uint64), np.full(2 * len(words), -1, np.int64)
    for old in range(len(words)):
        if classes[old] >= 0:
            slot = _slot(words[old], new_words, new_classes)
            new_words[slot], new_classes[slot] = words[old], classes[old]
    return new_words, new_classes


@compiled(cache=False)
def _longer(array: Any, needed: int) -> Any:
    """Return the array, or a copy of twice the needed length if it is too short."""
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, array.dtype)
    for n in range(len(array)):
        longer[n] = array[n]
    return longer


@compiled(cache=False)
def _are_twins(a: int, b: int, size: int, keys: Any, edges: Any) -> bool:
    """Return whether an exchange of two nodes leaves the subgraph unchanged."""
    if keys[a] != keys[b] or edges[a, b] != edges[b, a]:
        return False
    same = True
    for c in range(size):
        same &= edges[a, c] == edges[b, c] or c in (a, b)
    return same


@compiled(cache=False)
def _color(size: int, keys: Any, edges: Any, scratch: Any) -> None:
    """Write colors that isomorphisms preserve (labels, refined by neighbors), and the sorted colors."""
    # Two rounds of refinement distinguish most nodes of such small subgraphs; equal colors without a symmetry
    # only cost time, since _canonical tries all orders within a color. ``sorted`` is scratch for the sums
    # first, then receives the colors by insertion sort.
    colors, refined = scratch.colors, scratch.sorted
    for a in range(size):
        colors[a] = keys[a]
    for _ in range(2):
        for a in range(size):
            refined[a] = np.uint64(0)
            for b in range(size):
                if b != a:
                    refined[a] += _fold(edges[a, b], colors[b])
        for a in range(size):
            colors[a] = _fold(colors[a], refined[a])
    for a in range(size):
        b = a
        while b > 0 and refined[b - 1] > colors[a]:
            refined[b] = refined[b - 1]
            b -= 1
        refined[b] = colors[a]


@compiled(cache=False)
def _next_choice(after: int, place: int, size: int, keys: Any, edges: Any, scratch: Any) -> int:
    """Return the next unused node with the color of a place, one per class of twins; -1 if there is none."""
    # Twins give the same words, so only the first unused twin is tried; _place counts the others.
    for a in range(after + 1, size):
        if scratch.is_used[a] or scratch.colors[a] != scratch.sorted[place]:
            continue
        is_new = True
        for b in range(a):
            if not scratch.is_used[b] and _are_twins(a, b, size, keys, edges):
                is_new = False
                break
        if is_new:
            return a
    return -1


@compiled(cache=False)
def _place(a: int, place: int, size: int, keys: Any, edges: Any, scratch: Any) -> None:
    """Put a node at a place; update the word of the order and the number of orders that it represents."""
    # The word hashes the previous word, the label of the node and its edges to all earlier places: equal
    # words of complete orders mean equal adjacency matrices, that is, an isomorphism.
    twins = 1
    for b in range(a + 1, size):
        twins += not scratch.is_used[b] and _are_twins(a, b, size, keys, edges)
    scratch.order[place], scratch.is_used[a] = a, True
    scratch.multiplicity[place + 1] = scratch.multiplicity[place] * twins
    word = _fold(scratch.words[place], keys[a])
    for earlier in range(place):
        word = _fold(word, edges[scratch.order[earlier], a])
    scratch.words[place + 1] = word


@compiled(cache=False)
def _canonical(size: int, keys: Any, edges: Any, scratch: Any) -> Any:
    """Return the smallest word of all orders of the nodes, and the number of symmetries (automorphisms).

    Isomorphic subgraphs have the same words. Only orders by color are tried, and only one of several orders
    that differ by an exchange of twins; the number of orders with the smallest word is the number of
    symmetries.
    """
    _color(size, keys, edges, scratch)
    for a in range(size):
        scratch.is_used[a] = False
    scratch.words[0], scratch.multiplicity[0] = np.uint64(0), 1
    # Depth-first search through the orders: order[:place] is fixed, and order[place] is the last choice tried
    # at this place, -1 before the first.
    best, symmetries = ~np.uint64(0), 0
    place = 0
    scratch.order[0] = -1
    while place >= 0:
        if place == size:
            if scratch.words[size] < best:
                best, symmetries = scratch.words[size], 0
            if scratch.words[size] == best:
                symmetries += scratch.multiplicity[size]
            place -= 1
            continue
        last = scratch.order[place]
        if last >= 0:
            scratch.is_used[last] = False
        choice = _next_choice(last, place, size, keys, edges, scratch)
        if choice < 0:
            place -= 1
            continue
        _place(choice, place, size, keys, edges, scratch)
        place += 1
        if place < size:
            scratch.order[place] = -1
    return best, symmetries


@compiled(cache=False)
def _join(
    node: int, p: int, k: int, indptr: Any, indices: Any, there: Any, back: Any, keys: Any, held: Any
) -> None:
    """Add a node at position p, and its new neighbors to the candidates.

    New neighbors come after the first node in the graph, and are not neighbors of an earlier position, so
    that each connected set of nodes is met once (Wernicke 2006, algorithm ESU).
    """
    held.nodes[p], held.keys[p], held.position[node] = node, keys[node], p
    for q in range(p):
        held.edges[q, p] = held.edges[p, q] = np.uint64(0)
    # open[p + 1] is open[p] and the neighbors reached for the first time; ``reached`` lists the latter, so
    # that _leave can undo them. position[v] is the position of v in the subgraph, or -1.
    n_open, n_reached = 0, 0
    if 0 < p < k - 1:
        n_open = held.n_open[p]
        for n in range(n_open):
            held.open[p + 1, n] = held.open[p, n]
    for entry in range(indptr[node], indptr[node + 1]):
        other = indices[entry]
        q = held.position[other]
        if q >= 0:
            held.edges[p, q], held.edges[q, p] = there[entry], back[entry]
        elif p < k - 1 and other > held.nodes[0] and not held.is_reached[other]:
            held.is_reached[other] = True
            held.reached[p, n_reached] = other
            held.open[p + 1, n_open] = other
            n_reached += 1
            n_open += 1
    held.n_open[p + 1], held.n_reached[p] = n_open, n_reached
    word = _fold(held.words[p], held.keys[p])
    for q in range(p):
        word = _fold(word, held.edges[q, p])
    held.words[p + 1] = word


@compiled(cache=False)
def _leave(p: int, held: Any) -> None:
    """Remove the last node, at position p."""
    held.position[held.nodes[p]] = -1
    for n in range(held.n_reached[p]):
        held.is_reached[held.reached[p, n]] = False


@compiled(cache=False)
def _advance(p: int, held: Any) -> int:
    """Remove nodes from p nodes until there is a candidate; return its position, 0 if there is none."""
    # The first node is removed as well: p = 0 is the empty subgraph, and the next source follows.
    while p > 0 and held.n_open[p] == 0:
        p -= 1
        _leave(p, held)
    return p


@compiled(cache=False)
def _enter(word: Any, kind: int, kinds: Any) -> Any:
    """Return the table with the kind of a word added, if the word is new."""
    slot = _slot(word, kinds.words, kinds.classes)
    if kinds.classes[slot] >= 0:
        return kinds
    kinds.words[slot], kinds.classes[slot] = word, kind
    words, classes, n_words = kinds.words, kinds.classes, kinds.n_words + 1
    if 2 * n_words > len(words):
        words, classes = _grown_table(words, classes)
    return Kinds(words, classes, n_words, kinds.codes, kinds.sizes, kinds.symmetries, kinds.n_kinds)


@compiled(cache=False)
def _learn_kind(p: int, held: Any, scratch: Any, kinds: Any) -> Any:
    """Return the table with the kind of a subgraph whose word is new, which may be a new kind."""
    code, symmetries = _canonical(p, held.keys, held.edges, scratch)
    kind = kinds.classes[_slot(code, kinds.words, kinds.classes)]
    if kind < 0:
        kind = kinds.n_kinds
        codes, sizes = _longer(kinds.codes, kind + 1), _longer(kinds.sizes, kind + 1)
        numbers = _longer(kinds.symmetries, kind + 1)
        codes[kind], sizes[kind], numbers[kind] = code, p, symmetries
        kinds = Kinds(kinds.words, kinds.classes, kinds.n_words, codes, sizes, numbers, kind + 1)
        kinds = _enter(code, kind, kinds)
    return _enter(held.words[p], kind, kinds)


@compiled
def count_subgraphs(
    indptr: Any,
    indices: Any,
    there: Any,
    back: Any,
    keys: Any,
    graph_ptr: Any,
    k: int,
    held: Any,
    scratch: Any,
    kinds: Any,
    lengths: Any,
) -> Any:
    """Return the kinds of connected induced subgraphs with 1..k nodes of each graph, and their counts.

    Parameters
    ----------
    indptr : ndarray of int64, (nodes + 1,)
        Offsets of the neighbors of each node, over all graphs.
    indices : ndarray of int64, (entries,)
        Neighbors, numbered from 0 in each graph.
    there, back : ndarray of uint64, (entries,)
        Words of the edges between a node and its neighbor, as seen from the node and from the neighbor.
    keys : ndarray of uint64, (nodes,)
        Labels of the nodes.
    graph_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the nodes of each graph.
    k : int
        Largest number of nodes of a subgraph.
    held : Subgraph
        Work arrays.
    scratch : Scratch
        Work arrays.
    kinds : Kinds
        Table of kinds of earlier calls.
    lengths : ndarray of int64, (graphs,)
        Receives the number of kinds of each graph.

    Returns
    -------
    kinds of the graphs, their counts, and the extended table
        Kinds and counts of one graph after the other.

    Notes
    -----
    A subgraph is looked up by the word of its nodes in search order; :func:`_canonical` finds the kind of a
    new word.
    """
    # Depth-first search: the subgraph has p nodes, open[p] are the candidates, the last candidate is next.
    # A path 0 - 1 - 2 with k = 2 gives {0}, {0, 1}, {1}, {1, 2}, {2}: only later nodes join the first.
    # ``numbers[kind]`` counts within the graph; ``met[start:n_met]`` are its kinds with nonzero counts.
    words, classes, numbers = kinds.words, kinds.classes, np.zeros(len(kinds.codes), np.int64)
    met, counts, n_met = np.empty(1024, np.int64), np.empty(1024, np.float64), 0
    for graph in range(len(lengths)):
        first, start = graph_ptr[graph], n_met
        pointers, labels = indptr[first:], keys[first:]
        for source in range(graph_ptr[graph + 1] - first):
            node, p = source, 0
            while True:
                _join(node, p, k, pointers, indices, there, back, labels, held)
                p += 1
                kind = classes[_slot(held.words[p], words, classes)]
                if kind < 0:
                    kinds = _learn_kind(p, held, scratch, kinds)
                    words, classes = kinds.words, kinds.classes
                    kind = classes[_slot(held.words[p], words, classes)]
                    numbers = _longer(numbers, kinds.n_kinds)
                if numbers[kind] == 0:
                    met, counts = _longer(met, n_met + 1), _longer(counts, n_met + 1)
                    met[n_met] = kind
                    n_met += 1
                numbers[kind] += 1
                if p == k:
                    p -= 1
                    _leave(p, held)
                p = _advance(p, held)
                if p == 0:
                    break
                held.n_open[p] -= 1
                node = held.open[p, held.n_open[p]]
        for n in range(start, n_met):
            counts[n] = numbers[met[n]]
            numbers[met[n]] = 0
        lengths[graph] = n_met - start
    return met[:n_met], counts[:n_met], kinds
