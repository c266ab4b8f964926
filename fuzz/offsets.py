"""Offsets, sizes and indices near powers of two, or wrapping, at every door that takes flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

import propkernels as pk
from fuzz.cases import Case, try_to
from fuzz.estimators import build, estimators
from fuzz.forging import pick
from fuzz.valid import check_database
from fuzz.values import (
    in_some_type,
    near_power,
    wild_array,
    wild_offsets,
    wild_sizes,
    wrapped,
)
from propkernels.graphs.packing import pack, unpack
from tests.test_contract_discovery import the_zoo

Generator = np.random.Generator
SLOW = (4, 2**22)  # parameters between these are right, and take long


def ring(n: int) -> Any:
    """The adjacency of a cycle."""
    at = np.arange(n)
    rows, columns = np.concatenate([at, (at + 1) % n]), np.concatenate([(at + 1) % n, at])
    return sp.csr_array((np.ones(2 * n), (rows, columns)), shape=(n, n)) if n > 2 else sp.csr_array((n, n))


def graph_ptr(rng: Generator) -> None:
    """GraphDatabase with offsets of graphs that lie."""
    n = int(rng.integers(0, 8))
    matrix = sp.csr_array((n, n)) if rng.random() < 0.7 else ring(n)
    given = in_some_type(rng, wild_offsets(rng, int(rng.integers(0, 7)), n))
    labels = None if rng.random() < 0.7 else list(range(n))
    check_database(try_to(lambda: pk.GraphDatabase(matrix, given, labels)))


def forged_sparse(rng: Generator, n: int, columns: int) -> Any:
    """A sparse matrix whose arrays were replaced behind scipy's back."""
    matrix = sp.random_array(
        (n, columns), density=0.5, rng=rng, format=pick(rng, ("csr", "csc", "coo", "bsr"))
    )
    if matrix.format == "coo":
        matrix.coords = tuple(wild_array(rng, axis.astype(pick(rng, ("i4", "i8")))) for axis in matrix.coords)
        return matrix
    name = pick(rng, ("indptr", "indptr", "indices"))
    array = getattr(matrix, name).astype(pick(rng, ("i4", "i8")))
    if name == "indptr" and rng.random() < 0.5 and len(array) > 1:
        given = wild_offsets(rng, len(array) - 1, int(array[-1]))
        array = np.array(given + [0] * len(array), dtype=np.int64)[: len(array)]
    else:
        array = wild_array(rng, array)
    setattr(matrix, name, array)
    return matrix


def adjacency(rng: Generator) -> None:
    """GraphDatabase of a sparse matrix whose arrays lie."""
    n = int(rng.integers(1, 7))
    matrix = forged_sparse(rng, n, n)
    check_database(try_to(lambda: pk.GraphDatabase(matrix, [0, n])))


def distributions(rng: Generator) -> None:
    """Label distributions in a sparse matrix whose arrays lie."""
    n = int(rng.integers(1, 7))
    rows = forged_sparse(rng, n, 3)
    check_database(try_to(lambda: pk.GraphDatabase(ring(n), [0, n], rows)))


@cache
def packed() -> list[dict[str, Any]]:
    """Databases of all kinds as plain arrays."""
    zoo = the_zoo()
    data = pk.datasets.make_molecules(4, random_state=0, mean_nodes=6).graphs
    probabilities = pk.GraphDatabase(sp.csr_array((4, 4)), [0, 1, 2, 4], np.full((4, 3), 1 / 3))
    return [pack(graphs) for graphs in (zoo[:6], data, probabilities)]


def unpacked(rng: Generator) -> None:
    """A database from parts of unknown origin, as a model file has them."""
    parts = dict(pick(rng, packed()))
    for _ in range(int(rng.integers(1, 3))):
        name = pick(rng, ("indptr", "indices", "graph_ptr", "data", "node_labels", "edge_labels"))
        value = parts[name]
        if isinstance(value, tuple):
            at = int(rng.integers(len(value)))
            if isinstance(value[at], np.ndarray):
                parts[name] = (*value[:at], wild_array(rng, value[at]), *value[at + 1 :])
        elif value is not None and len(value) > 1 and rng.random() < 0.5 and name != "data":
            parts[name] = in_some_type(rng, wild_offsets(rng, len(value) - 1, int(value[-1])))
        elif value is not None:
            parts[name] = wild_array(rng, np.asarray(value))
    try:
        found = unpack(parts)
    except (MemoryError, SystemError):
        raise
    except Exception:  # of any kind, it says; load_model makes a sentence of it
        return
    check_database(found)


def is_costly(size: int) -> bool:
    """Whether so many nodes are possible, and would only take memory."""
    return 2**16 < size < 2**36


def pyg_list(rng: Generator) -> None:
    """Data of PyTorch Geometric that lie about their numbers of nodes and edges."""
    n = int(rng.integers(1, 6))
    sizes = [size if not is_costly(size) else 3 for size in wild_sizes(rng, n, 5)]
    graphs = []
    for size in sizes:
        ends = np.array([[0, 1], [1, 0]], dtype=pick(rng, ("i8", "i4", "u8", "f8")))
        if rng.random() < 0.3:
            ends = wild_array(rng, ends)
        ends = ends if rng.random() < 0.4 else np.empty((2, 0), dtype=np.int64)
        rows = {} if rng.random() < 0.7 else {"x": np.zeros((int(rng.integers(0, 4)), 1))}
        graphs.append(SimpleNamespace(edge_index=ends, num_nodes=size, **rows))
    errors = pick(rng, ("raise", "skip"))
    check_database(_quiet(lambda: pk.from_pyg(graphs, errors=errors)))


def pyg_batch(rng: Generator) -> None:
    """A Batch whose offsets lie."""
    total = int(rng.integers(0, 7))
    given = [0 if is_costly(at) else at for at in wild_offsets(rng, int(rng.integers(1, 6)), total)]
    ptr = in_some_type(rng, given)
    ends = rng.integers(0, max(total, 1), size=(2, int(rng.integers(0, 5))))
    batch = SimpleNamespace(edge_index=ends, ptr=np.asarray(ptr), num_nodes=total)
    check_database(_quiet(lambda: pk.from_pyg(batch, errors=pick(rng, ("raise", "skip")))))


def _quiet(run: Callable[[], Any]) -> Any:
    """Call something that may warn of what it leaves out."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return try_to(run, MemoryError)


@cache
def some_graphs() -> pk.GraphDatabase:
    return the_zoo()[:7]


def selection(rng: Generator) -> None:
    """Graphs chosen by numbers far outside."""
    graphs = some_graphs()
    numbers = [near_power(rng) if rng.random() < 0.3 else int(rng.integers(-7, 7)) for _ in range(3)]
    chosen = pick(
        rng,
        (
            numbers,
            numbers[0],
            slice(*numbers),
            slice(numbers[0], numbers[1]),
            np.array([wrapped(v) for v in numbers]),
            np.array([v % 2**64 for v in numbers], dtype=np.uint64),
            np.array(numbers, dtype=object),
        ),
    )
    found = try_to(lambda: graphs[chosen], IndexError)
    if isinstance(found, pk.GraphDatabase):
        check_database(found)


@cache
def whole_parameters() -> list[tuple[str, str]]:
    """Parameters of estimators whose defaults are whole numbers."""
    return [
        (name, parameter)
        for name, cls in sorted(estimators().items())
        for parameter, value in sorted(cls().get_params(deep=False).items())
        if type(value) is int or parameter in ("n_features", "random_state")
    ]


def parameter(rng: Generator) -> None:
    """A number of iterations, hashes or columns near a power of two."""
    name, which = pick(rng, whole_parameters())
    value = near_power(rng)
    if SLOW[0] < abs(value) < SLOW[1] and which not in ("n_features", "random_state"):
        value = int(rng.integers(-3, 4))
    try_to(lambda: build(name, {}, **{which: value}).fit_transform(some_graphs()[:3]), MemoryError)


def points(rng: Generator) -> None:
    """Clouds of points and numbers of neighbors near powers of two."""
    clouds = [rng.normal(size=(int(rng.integers(0, 5)), 2)) for _ in range(int(rng.integers(1, 4)))]
    if rng.random() < 0.5:
        clouds = [wild_array(rng, cloud) for cloud in clouds]
    k = near_power(rng) if rng.random() < 0.5 else 2
    check_database(_quiet(lambda: pk.from_points(clouds, k=k, errors=pick(rng, ("raise", "skip")))))


def tables(rng: Generator) -> None:
    """Tables of edges whose keys are near powers of two."""
    import pandas as pd

    n = int(rng.integers(1, 6))
    keys = [
        [near_power(rng) if rng.random() < 0.3 else int(rng.integers(3)) for _ in range(n)] for _ in "abc"
    ]
    edges = pd.DataFrame(dict(zip(("graph", "source", "target"), keys, strict=True)))
    edges["weight"] = [float(near_power(rng)) if rng.random() < 0.2 else 1.0 for _ in range(n)]
    weight = pick(rng, (None, "weight"))
    check_database(_quiet(lambda: pk.from_pandas(edges, weight=weight, errors=pick(rng, ("raise", "skip")))))


CHECKS: dict[str, tuple[Callable[[Generator], None], float]] = {
    "graph_ptr": (graph_ptr, 0.24),
    "adjacency": (adjacency, 0.14),
    "distributions": (distributions, 0.08),
    "unpacked": (unpacked, 0.14),
    "pyg_list": (pyg_list, 0.12),
    "pyg_batch": (pyg_batch, 0.12),
    "selection": (selection, 0.08),
    "parameter": (parameter, 0.04),
    "points": (points, 0.02),
    "tables": (tables, 0.02),
}
EDGES = np.cumsum([share for _, share in CHECKS.values()])
NAMES = list(CHECKS)


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 20])
    at = int(np.searchsorted(EDGES, rng.random() * EDGES[-1], side="right"))
    return Case("offsets", seed, NAMES[at])


def run(case: Case) -> None:
    CHECKS[case.check][0](np.random.default_rng([case.seed, 21]))
