"""Converter of knowledge graph triples: one graph per entity, its neighborhood."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import ranges
from propkernels._utils.checks import check_integer, kind_of, reason_of, shown
from propkernels.convert.build import Faults, FlatGraphs, build, integers, listed
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

MOST_NODES = 50_000_000


def from_triples(
    triples: Iterable[object],
    entities: Iterable[Hashable] | None = None,
    *,
    radius: int | None = 1,
    node_labels: Mapping[Hashable, Hashable] | str | None = None,
    directed: bool = True,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert the neighborhoods of entities in a knowledge graph to a GraphDatabase.

    Parameters
    ----------
    triples : sequence of (head, relation, tail), array of shape (n, 3), or DataFrame with three columns
        Facts; repeated facts count once.
    entities : sequence, optional
        Entities to convert, one graph each; by default all, in order of appearance.
    radius : int or None, default=1
        Maximum number of steps from the entity to a node of its graph, along relations in either direction.
        The graph has all facts between its nodes. None: one graph of all entities, in order of appearance
        (:func:`propkernels.convert.list_entities`), for models of nodes; ``entities`` is not given then.
    node_labels : mapping, "entity" or None, default=None
        Label of each entity, such as its type (those it does not have are unobserved); or the entity
        itself; None: no labels.
    directed : bool, default=True
        Whether edges are directed from head to tail.
    errors : {"raise", "skip"}, default="raise"
        Raise an error for an entity without triples, or leave it out (see ``graphs.skipped``).

    Returns
    -------
    GraphDatabase
        One graph per entity; its node 0 is the entity, ``ids`` are the entities, edge labels the relations.
        Two relations of the same two entities are parallel edges.

    Raises
    ------
    ValueError
        If an entity is unknown, a triple has not three parts, or the graphs have too many nodes together.

    See Also
    --------
    from_networkx : From multigraphs.

    Examples
    --------
    >>> import propkernels as pk
    >>> facts = [("Ada", "wrote", "Notes"), ("Ada", "knew", "Babbage"), ("Ada", "helped", "Babbage")]
    >>> graphs = pk.from_triples(facts, ["Ada", "Notes"], node_labels={"Ada": "person", "Babbage": "person"})
    >>> graphs
    GraphDatabase(2 graphs, 5 nodes, 4 directed edges, 1 node label, 2 unobserved, 3 edge labels)
    >>> graphs.ids.tolist()
    ['Ada', 'Notes']
    """
    if radius is not None:
        radius = check_integer(radius, "radius", 0)
    number, head, relation, tail = _numbered(triples)
    if radius is None:
        if entities is not None:
            raise ValueError("entities cannot be chosen with radius=None, one graph of all of them")
        return _whole(number, head, relation, tail, node_labels, directed)
    wanted = list(number) if entities is None else _hashable(listed(entities, "entities"))
    faults = Faults(errors, len(wanted), wanted, noun="entity")
    roots = np.full(len(wanted), -1)
    for i, entity in enumerate(wanted):
        with faults.reading(i):
            roots[i] = number.get(entity, -1)
            if roots[i] < 0:
                faults.add(i, "is in no triple", link=" ")
    graph, nodes = _within(head, tail, len(number), roots, radius)
    sizes = np.bincount(graph, minlength=len(wanted))
    counts, source, target, fact = _facts_between(head, tail, len(number), graph, nodes, sizes)
    names = list(number)
    flat = FlatGraphs(
        sizes,
        counts,
        source,
        target,
        directed,
        None,
        _labels(node_labels, names, nodes),
        edge_labels=LabelColumn.from_values(relation).take(fact),
    )
    return build(flat, faults)


def _whole(
    number: dict[Any, int],
    head: NDArray[np.int64],
    relation: list[Any],
    tail: NDArray[np.int64],
    node_labels: Any,
    directed: bool,
) -> GraphDatabase:
    """Return one graph of all entities and facts."""
    nodes = np.arange(len(number))
    labels = _labels(node_labels, list(number), nodes)
    sizes, counts = np.array([len(number)]), np.array([len(head)])
    edges = LabelColumn.from_values(relation)
    flat = FlatGraphs(sizes, counts, head, tail, directed, None, labels, edge_labels=edges)
    return build(flat, Faults("raise", 1))


def is_triples(facts: Any) -> bool:
    """Return whether these are triples: rows of three words or numbers, or columns head, relation and tail.

    Only the first row is looked at.
    """
    if hasattr(facts, "columns") and hasattr(facts, "iloc"):
        return list(facts.columns) == ["head", "relation", "tail"]
    if not isinstance(facts, (list, tuple)) or not facts or not isinstance(facts[0], (list, tuple)):
        return False
    return len(facts[0]) == 3 and all(isinstance(part, (str, bytes, int, np.integer)) for part in facts[0])


def list_entities(triples: Iterable[object]) -> list[Hashable]:
    """Return the entities of triples in order of appearance: the nodes of ``from_triples(..., radius=None)``.

    Examples
    --------
    >>> list_entities([("Ada", "wrote", "Notes"), ("Ada", "knew", "Babbage")])
    ['Ada', 'Notes', 'Babbage']
    """
    return list(_numbered(triples)[0])


def _hashable(entities: list[Any]) -> list[Any]:
    """Return entities, all of which can be looked up.

    Raises
    ------
    TypeError
        If one is not hashable.
    """
    for i, entity in enumerate(entities):
        try:
            hash(entity)
        except Exception:
            raise TypeError(f"entity {i} is not hashable: {shown(entity)}") from None
    return entities


def _numbered(triples: Any) -> tuple[dict[Any, int], NDArray[np.int64], list[Any], NDArray[np.int64]]:
    """Return numbers of entities in order of appearance, and the parts of all distinct facts."""
    values = triples.to_numpy().tolist() if hasattr(triples, "to_numpy") else triples
    different: dict[tuple[Any, ...], None] = {}
    for i, item in enumerate(listed(values, "triples")):
        row = _row(item, i)
        try:
            missing = any(part is None or part != part for part in row)
            different.setdefault(row)
        except Exception as error:
            reason = "a part is not hashable" if isinstance(error, TypeError) else reason_of(error)
            raise TypeError(f"triple {i} cannot be read ({reason}): {shown(row)}") from None
        if missing:
            raise ValueError(f"triple {i} has a part that is missing: {shown(row)}")
    rows = list(different)
    number: dict[Any, int] = {}
    head = integers([0] * len(rows))
    tail = head.copy()
    for i, (first, _, last) in enumerate(rows):
        head[i] = number.setdefault(first, len(number))
        tail[i] = number.setdefault(last, len(number))
    return number, head, [row[1] for row in rows], tail


def _row(item: Any, i: int) -> tuple[Any, ...]:
    """Return head, relation and tail of a triple."""
    try:
        row = tuple(listed(item, f"three parts as triple {i}"))
    except TypeError:
        raise
    except Exception as error:
        raise ValueError(f"triple {i} cannot be read ({reason_of(error)})") from None
    if len(row) != 3:
        raise ValueError(f"triple {i} has {len(row)} parts instead of head, relation and tail: {shown(row)}")
    return row


def _within(
    head: NDArray[np.int64], tail: NDArray[np.int64], n: int, roots: NDArray[np.int64], radius: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return graph and entity of each node within the radius of the root, root first."""
    here = np.arange(n)
    ends = np.concatenate([head, tail, here]), np.concatenate([tail, head, here])
    step = csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(n, n))  # parallel facts are one step
    known = roots >= 0
    rows = np.flatnonzero(known)
    reached = csr_array((np.ones(len(rows), dtype=bool), (rows, roots[known])), shape=(len(roots), n))
    for _ in range(radius):
        _check_size(reached, step, radius)
        further = reached @ step
        if further.nnz == reached.nnz:  # no new nodes
            break
        reached = further
    reached.sort_indices()
    graph = np.repeat(np.arange(len(roots)), np.diff(reached.indptr))
    nodes = reached.indices.astype(np.int64)
    order = np.lexsort((nodes, nodes != roots[graph], graph))
    return graph[order], nodes[order]


def _check_size(reached: csr_array, step: csr_array, radius: int) -> None:
    """Raise ValueError if the next step could give too many nodes in total."""
    owner = np.repeat(np.arange(reached.shape[0]), np.diff(reached.indptr))
    most = np.bincount(owner, np.diff(step.indptr)[reached.indices])
    if np.minimum(most, step.shape[0]).sum() > MOST_NODES:
        raise ValueError(
            f"neighborhoods of radius {radius} would have more than {MOST_NODES} nodes together: "
            "choose fewer entities or a smaller radius"
        )


def _facts_between(
    head: NDArray[np.int64],
    tail: NDArray[np.int64],
    n: int,
    graph: NDArray[np.int64],
    nodes: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return facts with both ends in a graph: number per graph, local ends, and numbers of the facts."""
    by_head = np.argsort(head, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=n))])
    lengths = np.diff(ptr)[nodes]
    fact = by_head[ranges(ptr[nodes], lengths)]
    owner = np.repeat(graph, lengths)
    local = np.arange(len(nodes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    source = np.repeat(local, lengths)
    keys = graph * n + nodes
    order = np.argsort(keys)
    wanted = owner * n + tail[fact]
    at = np.searchsorted(keys[order], wanted)
    at = np.minimum(at, len(keys) - 1)
    inside = keys[order][at] == wanted if len(keys) else np.zeros(0, dtype=bool)
    target = local[order][at[inside]]
    return np.bincount(owner[inside], minlength=len(sizes)), source[inside], target, fact[inside]


def _labels(node_labels: Any, names: list[Any], nodes: NDArray[np.int64]) -> LabelColumn | None:
    if node_labels is None:
        return None
    if isinstance(node_labels, str):
        if node_labels != "entity":
            raise ValueError(f"node_labels must be a mapping, 'entity' or None, got {shown(node_labels)}")
        return LabelColumn.from_values(names).take(nodes)
    if not isinstance(node_labels, Mapping):
        raise TypeError(f"node_labels must be a mapping, 'entity' or None, got {kind_of(node_labels)}")
    return LabelColumn.from_values(
        [node_labels.get(name) for name in names],
        name="node_labels",
        place=lambda i: f"entity {shown(names[i])}",
    ).take(nodes)
