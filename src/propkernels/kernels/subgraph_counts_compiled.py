"""Compiled loops that list the connected subgraphs of each graph and tell them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_other, mix_word


class Subgraph(NamedTuple):
    """The subgraph that is held, node after node, and what may join it.

    Position p holds ``nodes[p]`` with ``keys[p]``; ``edges[p, q]`` is the word of what joins p to q, 0 for
    nothing. ``words[p]`` tells all about the first p nodes in their order. ``open[p, :n_open[p]]`` are the
    nodes that may become number p, and ``reached[p, :n_reached[p]]`` those that number p was the first to
    have as a neighbor. ``position`` is -1 for nodes outside.
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
        """Room for at most k nodes of graphs with at most n."""
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
    """Kinds of subgraphs that were met: their codes, numbers of nodes, and of symmetries.

    ``words`` and ``classes`` are a hash table: which kind the word of a subgraph, its nodes in some order,
    stands for; free slots have class -1.
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
        """No kind is known yet."""
        words, classes = np.zeros(1024, np.uint64), np.full(1024, -1, np.int64)
        sizes, symmetries = np.zeros((2, 256), np.int64)
        return cls(words, classes, 0, np.zeros(256, np.uint64), sizes, symmetries, 0)


class Scratch(NamedTuple):
    """Room for :func:`_canonical`."""

    colors: Any
    sorted: Any
    order: Any
    is_used: Any
    words: Any
    multiplicity: Any

    @classmethod
    def room(cls, k: int) -> Scratch:
        """Room for at most k nodes."""
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
    return mix_word(word ^ mix_other(further + np.uint64(1)))


@compiled(cache=False)
def _slot(word: Any, words: Any, classes: Any) -> Any:
    """Slot where a word is, or belongs; free slots have class -1."""
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
    """Return the array itself, or a longer copy."""
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, array.dtype)
    for n in range(len(array)):
        longer[n] = array[n]
    return longer


@compiled(cache=False)
def _are_twins(a: int, b: int, size: int, keys: Any, edges: Any) -> bool:
    """Whether exchanging two nodes changes nothing."""
    if keys[a] != keys[b] or edges[a, b] != edges[b, a]:
        return False
    same = True
    for c in range(size):
        same &= edges[a, c] == edges[b, c] or c in (a, b)
    return same


@compiled(cache=False)
def _color(size: int, keys: Any, edges: Any, scratch: Any) -> None:
    """Colors that isomorphisms keep: labels, refined by neighbors; also sorted."""
    # Two rounds of refinement suffice to tell apart most nodes of subgraphs this small; those that stay equal
    # though no symmetry exchanges them only cost time, since _canonical tries all orders within a color.
    # ``sorted`` first serves as scratch for the sums, then takes the colors by insertion.
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
    """Next unused node of the color that belongs to a place, one of several twins; -1: none is left."""
    # Twins lead to the same words, so only the first unused one of them is tried; _place counts the others.
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
    """Put a node at a place: the word of the order so far, and how many orders it stands for."""
    # The word so far, the node's label and its edges to all earlier places: equal words of whole orders mean
    # equal adjacency matrices in these orders, that is, an isomorphism.
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

    Isomorphic subgraphs have the same words. Only orders by color are tried, and one of those that differ
    by an exchange of twins; as many orders reach the smallest word as there are symmetries.
    """
    _color(size, keys, edges, scratch)
    for a in range(size):
        scratch.is_used[a] = False
    scratch.words[0], scratch.multiplicity[0] = np.uint64(0), 1
    # Depth-first through the orders: order[:place] is held, and order[place] is the choice that was tried
    # last at this place, -1 before the first.
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
    """Let a node join as number p, and those of its neighbors that may join after it.

    These come after the first node in the graph, and are not neighbors of an earlier one: so each connected
    set of nodes is met once (Wernicke 2006, algorithm ESU).
    """
    held.nodes[p], held.keys[p], held.position[node] = node, keys[node], p
    for q in range(p):
        held.edges[q, p] = held.edges[p, q] = np.uint64(0)
    # open[p + 1] is open[p] and the neighbors that are reached for the first time; ``reached`` lists the
    # latter, so that _leave can take them back. position[v] is the number under which v is held, or -1.
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
    """Let number p, the last one, leave."""
    held.position[held.nodes[p]] = -1
    for n in range(held.n_reached[p]):
        held.is_reached[held.reached[p, n]] = False


@compiled(cache=False)
def _advance(p: int, held: Any) -> int:
    """After p nodes: let nodes leave until another may join; return its number, 0 if there is none."""
    # The first node leaves as well: with p = 0 nothing is held, and the next source begins.
    while p > 0 and held.n_open[p] == 0:
        p -= 1
        _leave(p, held)
    return p


@compiled(cache=False)
def _enter(word: Any, kind: int, kinds: Any) -> Any:
    """Note which kind a word stands for, unless it is known."""
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
    """Find out the kind of a subgraph whose word is new; it may be a new kind."""
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
    """Count the connected induced subgraphs with 1..k nodes of some graphs, up to isomorphism.

    ``indices`` number the nodes of a graph from 0; ``there`` and ``back`` are words of each edge, as seen
    from either end; ``keys`` tell the nodes' labels. Writes ``lengths``, how many kinds each graph has, and
    returns which they are and how often they occur, one graph after the other; and the kinds known by now.

    A subgraph is looked up by its word in the order in which it was met; a word that was not met before is
    told by :func:`_canonical` which kind it is.
    """
    # Depth-first: p nodes are held, open[p] are those that may become number p, the last one is taken next.
    # A path 0 - 1 - 2 with k = 2 is met as {0}, {0, 1}, {1}, {1, 2}, {2}: only later nodes join the first.
    # ``numbers[kind]`` counts within the graph; ``met[start:n_met]`` are the kinds that are not 0.
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
