"""Offsets, sizes and indices near powers of two, or wrapping, at every door that takes flat arrays.

The first four checks compare with Python's own integers: accepted if, and only if, they are right.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import propkernels as pk
from propkernels._utils.arrays import MOST_THINGS, check_indices, check_offsets, check_sizes
from propkernels.graphs.database import pack, unpack
from tests.fuzz.cases import Wrong, pick, run_cases, try_to
from tests.fuzz.valid import check_database
from tests.fuzz.values import in_some_type, near_power, wild_array, wild_offsets, wild_sizes, wrapped
from tests.test_contract_discovery import discover, make, the_zoo

SLOW = (4, 2**22)  # parameters between these are right, and take long


def as_integers(given):
    """The numbers of an array or list, or None where they are not whole numbers of at most 64 bits."""
    array = np.asarray(given)
    if array.dtype.kind in "iu":
        return [int(value) for value in array.tolist()]
    return [] if array.size == 0 and array.dtype.kind == "f" else None


def is_partition(values, total):
    return (
        bool(values) and values[0] == 0 and values[-1] == total and all(a <= b for a, b in pairwise(values))
    )


def judge(take, is_right, given):
    """What is right is taken, as it is; all else is refused in one sentence."""
    try:
        take()
    except (ValueError, TypeError):
        if is_right:
            raise Wrong(f"{given!r} is right, and was refused") from None
        try_to(take)  # a sentence makes a refusal of it
    if not is_right:
        raise Wrong(f"{given!r} was taken")


def database(rng):
    n = int(rng.integers(0, 6))
    given = in_some_type(rng, wild_offsets(rng, int(rng.integers(0, 6)), n))
    judge(lambda: pk.GraphDatabase(sp.csr_array((n, n)), given), is_partition(as_integers(given), n), given)


def offsets(rng):
    total = int(rng.integers(0, 6))
    given = in_some_type(rng, wild_offsets(rng, int(rng.integers(0, 6)), total))
    judge(lambda: check_offsets(given, total, "ptr"), is_partition(as_integers(given), total), given)


def sizes(rng):
    total = int(rng.integers(0, 6))
    given = in_some_type(rng, wild_sizes(rng, int(rng.integers(0, 6)), total))
    values = as_integers(given)
    is_right = values is not None and all(size >= 0 for size in values) and sum(values) == total
    judge(lambda: check_sizes(given, "sizes", total=total), is_right and total < MOST_THINGS, given)


def indices(rng):
    length, least = int(rng.integers(0, 6)), int(rng.integers(-1, 1))
    several = [near_power(rng) if rng.random() < 0.2 else int(rng.integers(-1, 7)) for _ in range(3)]
    given = in_some_type(rng, several[: int(rng.integers(0, 4))])
    values = as_integers(given)
    is_right = values is not None and all(least <= value < length for value in values)
    judge(lambda: check_indices(given, length, "places", least=least), is_right, given)


def ring(n):
    """The adjacency of a cycle."""
    at = np.arange(n)
    rows, columns = np.concatenate([at, (at + 1) % n]), np.concatenate([(at + 1) % n, at])
    return sp.csr_array((np.ones(2 * n), (rows, columns)), shape=(n, n)) if n > 2 else sp.csr_array((n, n))


def forged_sparse(rng, n, columns):
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


def adjacency(rng):
    """GraphDatabase of a sparse matrix whose arrays lie."""
    n = int(rng.integers(1, 7))
    matrix = forged_sparse(rng, n, n)
    check_database(try_to(lambda: pk.GraphDatabase(matrix, [0, n])))


def distributions(rng):
    """Label distributions in a sparse matrix whose arrays lie."""
    n = int(rng.integers(1, 7))
    rows = forged_sparse(rng, n, 3)
    check_database(try_to(lambda: pk.GraphDatabase(ring(n), [0, n], rows)))


@cache
def packed():
    """Databases of all kinds as plain arrays."""
    zoo = the_zoo()
    data = pk.datasets.make_molecules(4, random_state=0, mean_nodes=6).graphs
    probabilities = pk.GraphDatabase(sp.csr_array((4, 4)), [0, 1, 2, 4], np.full((4, 3), 1 / 3))
    return [pack(graphs) for graphs in (zoo[:6], data, probabilities)]


def unpacked(rng):
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


@cache
def some_graphs():
    return the_zoo()[:7]


def selection(rng):
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
def whole_parameters():
    """Parameters of estimators of graphs whose defaults are whole numbers."""
    no_graphs = "MoleculesToGraphs", "GrayLevels", "KMeansColors"
    return [
        (cls, parameter)
        for cls in (cls for name, cls in discover().items() if name not in no_graphs)
        for parameter, value in sorted(cls().get_params(deep=False).items())
        if type(value) is int or parameter in ("n_features", "random_state")
    ]


def parameter(rng):
    """A number of iterations, hashes or columns near a power of two."""
    cls, which = pick(rng, whole_parameters())
    value = near_power(rng)
    if SLOW[0] < abs(value) < SLOW[1] and which not in ("n_features", "random_state"):
        value = int(rng.integers(-3, 4))
    try_to(lambda: make(cls, **{which: value}).fit_transform(some_graphs()[:3]), MemoryError)


CHECKS = (database, offsets, sizes, indices, adjacency, distributions, unpacked, selection, parameter)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_numbers_that_lie_are_refused_or_give_valid_graphs(check):
    run_cases(check, 20)
