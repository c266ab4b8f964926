"""Collections of graphs: hashes, copies, comparisons, clusters, picks, folds and alignments by definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Wrong, same, try_to
from fuzz.forging import pick
from fuzz.graphs import Plain, database, random_graphs
from fuzz.hostile import graphs as hostile_graphs
from fuzz.hostile import thing
from tests.strategies import permute_nodes

Generator = np.random.Generator
KERNEL = pk.WeisfeilerLehman(t_max=2)
NEAR = (
    1e-9  # thresholds keep this distance from similarities, which the two computations may round differently
)
TINY = 5  # nodes of graphs whose isomorphisms are tried one by one


def hashes_of_permuted_nodes(case: Case, rng: Generator) -> None:
    """Hashes do not depend on the order of nodes, and exact ones differ where graphs do."""
    graphs = database(case.graphs)
    exact = bool(rng.random() < 0.5)
    found = try_to(lambda: pk.graph_hash(graphs, exact=exact))
    again = pk.graph_hash(permute_nodes(graphs, rng), exact=exact)
    if found != again:
        raise Wrong(f"hashes of permuted nodes: {again} instead of {found}")
    for i, one in enumerate(case.graphs):
        for j, other in enumerate(case.graphs[:i]):
            alike = max(one.n, other.n) <= TINY and is_isomorphic(one, other)
            if alike and found[i] != found[j]:
                raise Wrong("isomorphic graphs with different hashes")
            if exact and found[i] == found[j] and max(one.n, other.n) <= TINY and not alike:
                raise Wrong("different graphs with one exact hash")


def is_isomorphic(one: Plain, other: Plain) -> bool:
    """Whether some order of the nodes makes two graphs equal: all orders are tried."""
    if one.n != other.n or len(one.edges) != len(other.edges):
        return False
    matrix, second = one.dense(), other.dense()
    return any(
        np.array_equal(matrix[np.ix_(order, order)], second) and _equal_nodes(one, other, order)
        for order in map(list, permutations(range(one.n)))
    )


def _equal_nodes(one: Plain, other: Plain, order: list[int]) -> bool:
    labels = [None] * one.n if one.labels is None else [one.labels[i] for i in order]
    others = [None] * other.n if other.labels is None else list(other.labels)
    if any(type(a) is not type(b) or a != b for a, b in zip(labels, others, strict=True)):
        return False
    rows = [] if one.attributes is None else [one.attributes[i] for i in order]
    return bool(np.array_equal(np.array(rows), np.array(other.attributes or []), equal_nan=True))


def unique_graphs(case: Case, rng: Generator) -> None:
    """Every graph is a copy of the one that stands for it, which is the first of its kind."""
    graphs = database([case.graphs[i] for i in rng.integers(len(case.graphs), size=6)])
    kept, first, inverse = try_to(lambda: pk.unique(graphs, return_inverse=True))
    if kept != graphs[first] or not np.array_equal(inverse[first], np.arange(len(first))):
        raise Wrong("unique graphs are not those at their positions")
    if pk.graph_hash(kept[inverse]) != pk.graph_hash(graphs):
        raise Wrong("a graph is no copy of the one that stands for it")


def similarities(graphs: pk.GraphDatabase, others: pk.GraphDatabase) -> np.ndarray:
    """Jaccard similarity of counts, from the definition."""
    both = pk.WeisfeilerLehmanFeatures(t_max=2).fit_transform(pk.GraphDatabase.concat([graphs, others]))
    counts = both.toarray()
    a, b = counts[: len(graphs)], counts[len(graphs) :]
    smaller = np.minimum(a[:, None], b[None]).sum(axis=2)
    larger = np.maximum(a[:, None], b[None]).sum(axis=2)
    return np.asarray(np.divide(smaller, larger, out=np.zeros_like(smaller), where=larger > 0))


def threshold_for(matrix: np.ndarray, rng: Generator) -> float:
    """A threshold that no similarity is so near to that rounding would decide."""
    value = float(rng.random())
    while np.abs(matrix - value).min(initial=1.0) < NEAR:
        value = float(rng.random())
    return value


def search(case: Case, rng: Generator) -> None:
    """Answers of an index by similarity, nearest and above a threshold, are those of all pairs."""
    graphs, new = database(case.graphs), database(case.graphs[::-1])
    matrix = similarities(new, graphs)
    index = try_to(lambda: pk.GraphIndex(kernel=KERNEL, similarity="jaccard").fit(graphs))
    k = int(rng.integers(1, len(graphs) + 1))
    same(index.query(new, k=k)[0], -np.sort(-matrix, axis=1)[:, :k], "nearest by Jaccard")
    least = threshold_for(matrix, rng)
    for row, ids in zip(matrix, index.query(new, at_least=least).ids, strict=True):
        if sorted(ids.tolist()) != np.flatnonzero(row >= least).tolist():
            raise Wrong(f"graphs of at least {least}: {sorted(ids.tolist())}")


def clusters(case: Case, rng: Generator) -> None:
    """Every graph is in the cluster of the first center that may take it."""
    graphs = database(case.graphs * 2)
    matrix = similarities(graphs, graphs)
    least = threshold_for(matrix, rng)
    found = try_to(lambda: pk.SphereExclusion(threshold=least, kernel=KERNEL).fit(graphs))
    counts, labels = (matrix >= least).sum(axis=1), np.full(len(graphs), -1)
    for center in sorted(range(len(graphs)), key=lambda i: (-counts[i], i)):
        if labels[center] < 0:
            number = int(labels.max()) + 1
            labels[(matrix[center] >= least) & (labels < 0)] = number
            labels[center] = number
    same(found.labels_, labels, "clusters", exact=True)


def folds(case: Case, rng: Generator) -> None:
    """No test graph is as similar to a training graph as the threshold; every graph is tested once."""
    graphs = database(case.graphs * 2)
    matrix = similarities(graphs, graphs)
    least = threshold_for(matrix, rng)
    splitter = pk.SimilarityGroupKFold(n_splits=2, threshold=least, kernel=KERNEL)
    parts = try_to(lambda: list(splitter.split(graphs)))
    for train, test in parts:
        if matrix[np.ix_(train, test)].max(initial=0.0) >= least:
            raise Wrong("a test graph is similar to a training graph")
    if sorted(np.concatenate([test for _, test in parts])) != list(range(len(graphs))):
        raise Wrong("folds do not test every graph once")


def compared(case: Case, rng: Generator) -> None:
    """Two collections differ as much in either order, and by the sum of what their surroundings add."""
    first, second = database(case.graphs), database(case.graphs[::-1][:3])
    options: dict[str, Any] = {"kernel": KERNEL, "n_permutations": 9, "random_state": int(case.seed % 2**31)}
    one = try_to(lambda: pk.compare(first, second, **options))
    same(pk.compare(second, first, **options).statistic, one.statistic, "collections in the other order")
    if not 0 < one.p_value <= 1:
        raise Wrong(f"a p-value of {one.p_value}")


def aligned(case: Case, rng: Generator) -> None:
    """Pairs of nodes are one to one, and permuted nodes cost as much as the graph itself."""
    graphs = database(case.graphs)
    found = try_to(lambda: pk.align(graphs[0], graphs[1]))
    for side, graph in zip(found.pairs.T, (graphs[0], graphs[1]), strict=True):
        if len(set(side.tolist())) != len(side) or not set(side.tolist()) <= set(range(graph.n_nodes)):
            raise Wrong("pairs of nodes are not one to one")
    if try_to(lambda: pk.align(graphs[0], graphs[0])).cost:
        raise Wrong("a graph costs something to become itself")


def hostile(case: Case, rng: Generator) -> None:
    """Hostile graphs and parameters are taken, or refused in one sentence."""
    given: Any = hostile_graphs(rng) if rng.random() < 0.5 else database(case.graphs)
    number = thing(rng) if rng.random() < 0.7 else 0.5
    calls: tuple[Callable[[], Any], ...] = (
        lambda: pk.graph_hash(given, exact=bool(rng.random() < 0.5)),
        lambda: pk.unique(given),
        lambda: pk.compare(given, database(case.graphs), n_permutations=number),
        lambda: pk.align(given, database(case.graphs)[0], t_max=number),
        lambda: pk.SphereExclusion(threshold=number, kernel=KERNEL).fit(given).predict(given),
        lambda: pk.MaxMinPicker(n_graphs=number, kernel=KERNEL).fit(given),
        lambda: list(pk.SimilaritySplit(test_size=number, kernel=KERNEL).split(given)),
        lambda: list(pk.SimilarityGroupKFold(number, kernel=KERNEL).split(given)),
        lambda: pk.GraphIndex(kernel=KERNEL, similarity="jaccard").fit(given).query(given, at_least=number),
        lambda: pk.GraphIndex(kernel=KERNEL, similarity=number).fit(given),
    )
    try_to(pick(rng, calls), OverflowError)


CHECKS: dict[str, Callable[[Case, Generator], None]] = {
    check.__name__: check
    for check in (
        hashes_of_permuted_nodes,
        unique_graphs,
        search,
        clusters,
        folds,
        compared,
        aligned,
        hostile,
    )
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 30])
    names = sorted(CHECKS)
    graphs = random_graphs(rng, int(rng.integers(2, 5)))
    return Case("sets", seed, names[rng.integers(len(names))], graphs=graphs)


def run(case: Case) -> None:
    CHECKS[case.check](case, np.random.default_rng([case.seed, 31]))
