"""Compiled loops that list the connected subgraphs of each graph and tell them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from propkernels.hashing.multiset_compiled import mix_other, mix_word


class Subgraph(NamedTuple):
    """The subgraph that is held, node after node, and what may join it.

    Position p holds ``nodes[p]`` with ``keys[p]``; ``edges[p, q]`` is the word of what joins p to q, 0 for
    nothing. ``words[p]`` tells all about the first p nodes in their order. ``open[p, :n_open[p]]`` are the
    nodes that may become number p, and ``reached[p, :n_reached[p]]`` those that number p was the first to
    have as a neighbour. ``position`` is -1 for nodes outside.
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


class Scratch(NamedTuple):
    """Room for :func:`_canonical`."""

    colours: Any
    sorted: Any
    order: Any
    is_used: Any
    words: Any
    multiplicity: Any


@njit(nogil=True)
def _fold(word: Any, further: Any) -> Any:
    return mix_word(word ^ mix_other(further + np.uint64(1)))


@njit(nogil=True)
def _slot(word: Any, words: Any, classes: Any) -> Any:
    """Slot where a word is, or belongs; free slots have class -1."""
    mask = np.uint64(len(words) - 1)
    slot = word & mask
    while classes[slot] >= 0 and words[slot] != word:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(nogil=True)
def _grown_table(words: Any, classes: Any) -> Any:
    """Return the table with twice as many slots."""
    new_words, new_classes = np.empty(2 * len(words), np.uint64), np.full(2 * len(words), -1, np.int64)
    for old in range(len(words)):
        if classes[old] >= 0:
            slot = _slot(words[old], new_words, new_classes)
            new_words[slot], new_classes[slot] = words[old], classes[old]
    return new_words, new_classes


@njit(nogil=True)
def _longer(array: Any, needed: int) -> Any:
    """Return the array itself, or a longer copy."""
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, array.dtype)
    for n in range(len(array)):
        longer[n] = array[n]
    return longer


@njit(nogil=True)
def _are_twins(a: int, b: int, size: int, keys: Any, edges: Any) -> bool:
    """Whether exchanging two nodes changes nothing."""
    if keys[a] != keys[b] or edges[a, b] != edges[b, a]:
        return False
    same = True
    for c in range(size):
        same &= edges[a, c] == edges[b, c] or c in (a, b)
    return same


@njit(nogil=True)
def _colour(size: int, keys: Any, edges: Any, scratch: Any) -> None:
    """Colours that isomorphisms keep: labels, refined by neighbours; also sorted."""
    colours, refined = scratch.colours, scratch.sorted
    for a in range(size):
        colours[a] = keys[a]
    for _ in range(2):
        for a in range(size):
            refined[a] = np.uint64(0)
            for b in range(size):
                if b != a:
                    refined[a] += _fold(edges[a, b], colours[b])
        for a in range(size):
            colours[a] = _fold(colours[a], refined[a])
    for a in range(size):
        b = a
        while b > 0 and refined[b - 1] > colours[a]:
            refined[b] = refined[b - 1]
            b -= 1
        refined[b] = colours[a]


@njit(nogil=True)
def _next_choice(after: int, place: int, size: int, keys: Any, edges: Any, scratch: Any) -> int:
    """Next unused node of the colour that belongs to a place, one of several twins; -1: none is left."""
    for a in range(after + 1, size):
        if scratch.is_used[a] or scratch.colours[a] != scratch.sorted[place]:
            continue
        is_new = True
        for b in range(a):
            if not scratch.is_used[b] and _are_twins(a, b, size, keys, edges):
                is_new = False
                break
        if is_new:
            return a
    return -1


@njit(nogil=True)
def _place(a: int, place: int, size: int, keys: Any, edges: Any, scratch: Any) -> None:
    """Put a node at a place: the word of the order so far, and how many orders it stands for."""
    twins = 1
    for b in range(a + 1, size):
        twins += not scratch.is_used[b] and _are_twins(a, b, size, keys, edges)
    scratch.order[place], scratch.is_used[a] = a, True
    scratch.multiplicity[place + 1] = scratch.multiplicity[place] * twins
    word = _fold(scratch.words[place], keys[a])
    for earlier in range(place):
        word = _fold(word, edges[scratch.order[earlier], a])
    scratch.words[place + 1] = word


@njit(nogil=True)
def _canonical(size: int, keys: Any, edges: Any, scratch: Any) -> Any:
    """Return the smallest word of all orders of the nodes, and the number of symmetries (automorphisms).

    Isomorphic subgraphs have the same words. Only orders by colour are tried, and one of those that differ
    by an exchange of twins; as many orders reach the smallest word as there are symmetries.
    """
    _colour(size, keys, edges, scratch)
    for a in range(size):
        scratch.is_used[a] = False
    scratch.words[0], scratch.multiplicity[0] = np.uint64(0), 1
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


@njit(nogil=True)
def _join(
    node: int, p: int, k: int, indptr: Any, indices: Any, there: Any, back: Any, keys: Any, held: Any
) -> None:
    """Let a node join as number p, and those of its neighbours that may join after it.

    These come after the first node in the graph, and are not neighbours of an earlier one: so each connected
    set of nodes is met once (Wernicke 2006, algorithm ESU).
    """
    held.nodes[p], held.keys[p], held.position[node] = node, keys[node], p
    for q in range(p):
        held.edges[q, p] = held.edges[p, q] = np.uint64(0)
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


@njit(nogil=True)
def _leave(p: int, held: Any) -> None:
    """Let number p, the last one, leave."""
    held.position[held.nodes[p]] = -1
    for n in range(held.n_reached[p]):
        held.is_reached[held.reached[p, n]] = False


@njit(nogil=True)
def _advance(p: int, held: Any) -> int:
    """After p nodes: let nodes leave until another may join; return its number, 0 if there is none."""
    while p > 0 and held.n_open[p] == 0:
        p -= 1
        _leave(p, held)
    return p


@njit(nogil=True)
def _make_subgraph(k: int, n: int) -> Any:
    """Room for a subgraph of at most k nodes in graphs of at most n."""
    return Subgraph(
        np.empty(k, np.int64),
        np.empty(k, np.uint64),
        np.zeros((k, k), np.uint64),
        np.zeros(k + 1, np.uint64),
        np.empty((k + 1, n), np.int64),
        np.zeros(k + 1, np.int64),
        np.empty((k, n), np.int64),
        np.zeros(k, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n, np.bool_),
    )


@njit(nogil=True)
def _make_scratch(k: int) -> Any:
    return Scratch(
        np.empty(k, np.uint64),
        np.empty(k, np.uint64),
        np.empty(k, np.int64),
        np.empty(k, np.bool_),
        np.empty(k + 1, np.uint64),
        np.empty(k + 1, np.int64),
    )


@njit(cache=True, nogil=True)
def count_subgraphs(
    indptr: Any, indices: Any, there: Any, back: Any, keys: Any, graph_ptr: Any, k: int
) -> Any:
    """Count the connected induced subgraphs with 1..k nodes of each graph, up to isomorphism.

    ``indices`` number the nodes of a graph from 0; ``there`` and ``back`` are words of each edge, as seen
    from either end; ``keys`` tell the nodes' labels. Returns how many kinds each graph has, which they are
    and how often they occur, one graph after the other; and of each kind a code, its number of nodes, and
    that of its symmetries.

    A subgraph is looked up by its word in the order in which it was met; a word that was not met before is
    told by :func:`_canonical` which kind it is.
    """
    n_graphs = len(graph_ptr) - 1
    largest = 1
    for graph in range(n_graphs):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    held, scratch = _make_subgraph(k, largest), _make_scratch(k)
    words, classes, n_words = np.empty(1024, np.uint64), np.full(1024, -1, np.int64), 0
    codes, sizes, symmetries = np.empty(256, np.uint64), np.empty(256, np.int64), np.empty(256, np.int64)
    numbers, n_classes = np.zeros(256, np.int64), 0
    met, counts, n_met = np.empty(1024, np.int64), np.empty(1024, np.float64), 0
    lengths = np.zeros(n_graphs, np.int64)
    for graph in range(n_graphs):
        first, start = graph_ptr[graph], n_met
        pointers, labels = indptr[first:], keys[first:]
        for source in range(graph_ptr[graph + 1] - first):
            node, p = source, 0
            while True:
                _join(node, p, k, pointers, indices, there, back, labels, held)
                p += 1
                slot = _slot(held.words[p], words, classes)
                if classes[slot] < 0:
                    code, n_symmetries = _canonical(p, held.keys, held.edges, scratch)
                    own = _slot(code, words, classes)
                    if classes[own] < 0:
                        codes, sizes = _longer(codes, n_classes + 1), _longer(sizes, n_classes + 1)
                        symmetries = _longer(symmetries, n_classes + 1)
                        numbers = _longer(numbers, n_classes + 1)
                        codes[n_classes], sizes[n_classes] = code, p
                        symmetries[n_classes], numbers[n_classes] = n_symmetries, 0
                        words[own], classes[own] = code, n_classes
                        n_classes += 1
                        n_words += 1
                    kind = classes[own]
                    slot = _slot(held.words[p], words, classes)
                    if classes[slot] < 0:
                        words[slot], classes[slot] = held.words[p], kind
                        n_words += 1
                    if 2 * n_words > len(words):
                        words, classes = _grown_table(words, classes)
                else:
                    kind = classes[slot]
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
    return lengths, met[:n_met], counts[:n_met], codes, sizes, symmetries
