"""Inputs that nobody should give: each must be taken rightly, or refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

import propkernels as pk
from fuzz.cases import Case, Wrong, dense, try_to
from fuzz.estimators import build, estimators, random_estimator
from fuzz.forging import pick
from fuzz.graphs import database, random_graphs

Generator = np.random.Generator
NUMBERS = (0, 1, -1, 2, 0.5, -0.0, 1e-5, 1e-300, 5e-324, 1e300, 1.7e308, -1e308, 2**31, 2**63, 2**64, 10**400)
NUMBERS += (float("nan"), float("inf"), -float("inf"), True, False, 1j, Fraction(1, 3), Decimal("0.1"))
NUMBERS += (np.float16(0.1), np.int8(-3), np.uint64(2**63), np.float32(2.5), np.longdouble("1e4000"))
THINGS: tuple[Any, ...] = (None, "", "a", "auto", b"x", (), [], {}, set(), object(), lambda: 0, int, range(3))
THINGS += (np.zeros(0), np.zeros((2, 3)), np.zeros((3, 3)), np.ma.masked, NotImplemented, ..., slice(3))
THINGS += (np.array(None), np.array([1, "a"], dtype=object), np.datetime64("NaT"), iter([]), "é\0\ud800")
EXTREMES = (1e308, 1.7e308, 1e154, 1e-310, 5e-324, -1.0, np.nan, np.inf, 1e-300, 1e200)


def thing(rng: Generator) -> Any:
    """Any value at all; sometimes one inside another."""
    value = pick(rng, THINGS if rng.random() < 0.5 else NUMBERS)
    wraps: tuple[Callable[[Any], Any], ...] = (
        lambda v: v,
        lambda v: v,
        lambda v: [v],
        lambda v: (v, v),
        lambda v: [v, [v]],
        lambda v: {0: v},
        lambda v: np.array([v, v], dtype=object),
    )
    return pick(rng, wraps)(value)


def broken_sparse(rng: Generator, n: int) -> Any:
    """A sparse matrix whose arrays were changed behind scipy's back."""
    matrix = sp.random_array(
        (n, n), density=0.5, rng=rng, format=pick(rng, ("csr", "csc", "coo", "bsr", "lil"))
    )
    wild = (-1, -n, n, n + 1, 2**31 - 1, -(2**31), 10**6)
    if matrix.format == "coo" and matrix.nnz:
        axis, at = int(rng.integers(2)), int(rng.integers(matrix.nnz))
        matrix.coords[axis][at] = pick(rng, wild)
    elif matrix.format == "lil":
        matrix.rows[int(rng.integers(n))] = [int(pick(rng, wild))]
    elif matrix.format in ("csr", "csc", "bsr") and len(matrix.indices):
        array = pick(rng, (matrix.indices, matrix.indices, matrix.indptr))
        array[int(rng.integers(len(array)))] = pick(rng, wild)
    return matrix


def adjacency(rng: Generator) -> Any:
    n = int(rng.integers(0, 5))
    matrix = (rng.random((n, n)) < 0.5).astype(float)
    style = int(rng.integers(8))
    if style == 0:
        return thing(rng)
    if style == 1 and n:
        return broken_sparse(rng, n)
    if style == 2 and n:
        matrix[tuple(rng.integers(n, size=2))] = pick(rng, EXTREMES)
    if style == 3:
        with np.errstate(all="ignore"):
            return matrix * pick(rng, EXTREMES)
    if style == 4:
        return matrix[:, : max(n - 1, 0)]
    if style == 5:
        return matrix.astype(pick(rng, ("i1", "u8", "f2", "c16", "?", "O", "U3", "M8[s]", "f4", ">f8")))
    if style == 6:
        return matrix.tolist()
    return sp.csr_array(matrix) if n else matrix


def labels(rng: Generator, n: int) -> Any:
    style = int(rng.integers(6))
    if style == 0:
        return thing(rng)
    if style == 1:
        return [thing(rng) for _ in range(n)]
    if style == 2:
        deep: Any = 0
        for _ in range(int(pick(rng, (3, 60, 3000)))):
            deep = (deep,)
        return [deep] * n
    if style == 3:
        with np.errstate(all="ignore"):
            return rng.random((n, 3)) * pick(rng, (1.0, *EXTREMES))
    if style == 4:
        return [pick(rng, NUMBERS) for _ in range(n)]
    return list(range(n + int(rng.integers(-1, 2))))


def attributes(rng: Generator, n: int) -> Any:
    style = int(rng.integers(5))
    if style == 0:
        return thing(rng)
    if style == 1:
        return [[pick(rng, NUMBERS)] for _ in range(n)]
    n_rows = max(n + int(rng.integers(-1, 2)) * (style == 2), 0)
    values = rng.normal(size=(n_rows, int(rng.integers(0, 3))))
    if style == 3 and values.size:
        values.flat[int(rng.integers(values.size))] = pick(rng, EXTREMES)
    with np.errstate(all="ignore"):
        return values * pick(rng, (1.0, 1.0, *EXTREMES)) if style == 4 else values


def n_rows(matrix: Any) -> int:
    """How many nodes an adjacency seems to have; 2 for what is not a matrix."""
    is_matrix = sp.issparse(matrix) or (isinstance(matrix, np.ndarray) and matrix.ndim == 2)
    return int(matrix.shape[0]) if is_matrix else len(matrix) if isinstance(matrix, list) else 2


def graph(rng: Generator) -> Any:
    matrix = adjacency(rng)
    n = n_rows(matrix)
    parts = [matrix]
    parts += [labels(rng, n)] if rng.random() < 0.6 else [None]
    parts += [attributes(rng, n)] if rng.random() < 0.5 else []
    return pick(rng, (tuple(parts), tuple(parts), matrix, parts))


def graphs(rng: Generator) -> Any:
    """A container of graphs, one of which, or which itself, is hostile."""
    style = rng.random()
    if style < 0.1:
        return thing(rng)
    several = [graph(rng) for _ in range(int(rng.integers(1, 3)))]
    if style < 0.4:
        several.append((np.array([[0, 1.0], [1, 0]]), [0, 1]))
    return several


def finite(output: Any, what: str) -> None:
    """What was taken must have been computed: no NaN and no infinity."""
    if not isinstance(output, (pk.GraphDatabase, pk.GridDatabase)) and not np.isfinite(dense(output)).all():
        raise Wrong(f"{what}: a result that is not finite")


def fit_hostile_graphs(case: Case, rng: Generator) -> None:
    given, estimator = graphs(rng), build(case.estimator, case.parameters)
    with np.errstate(over="warn"):
        finite(try_to(lambda: estimator.fit_transform(given), OverflowError), "hostile graphs")


def transform_hostile_graphs(case: Case, rng: Generator) -> None:
    estimator = build(case.estimator, case.parameters)
    try_to(lambda: estimator.fit(database(case.graphs)))
    given = graphs(rng)
    finite(try_to(lambda: estimator.transform(given)), "hostile new graphs")


def make_hostile_database(case: Case, rng: Generator) -> None:
    matrix = adjacency(rng)
    n = n_rows(matrix)
    ptr = pick(
        rng,
        ([0, n], [0, n, n], [0, n + 1], [n, 0], [0, -1, n], [0.0, n], [], 3, None, [0, 2**70], thing(rng)),
    )
    edge_labels = labels(rng, n) if rng.random() < 0.3 else None
    parts = (
        labels(rng, n) if rng.random() < 0.5 else None,
        attributes(rng, n) if rng.random() < 0.3 else None,
    )
    made = try_to(lambda: pk.GraphDatabase(matrix, ptr, *parts, edge_labels))
    repr(made), made[:1], made.is_directed, made.n_edges


def hostile_parameters(case: Case, rng: Generator) -> None:
    cls = estimators()[case.estimator]
    names = [name for name in cls._get_param_names() if name not in ("checkpoint", "n_jobs")]
    estimator = build(case.estimator, case.parameters)
    for name in rng.choice(names, size=min(2, len(names)), replace=False):
        estimator.set_params(**{str(name): thing(rng)})
    given = database(case.graphs)
    try_to(lambda: estimator.fit_transform(given))


def hostile_images(case: Case, rng: Generator) -> None:
    def image() -> Any:
        shape = tuple(rng.integers(0, 4, size=int(rng.integers(1, 4))))
        values = rng.integers(-3, 4, size=shape)
        return pick(
            rng,
            (values, values * 1.5, values.astype("u1"), thing(rng), rng.random((*shape, 2)), values - 2**40),
        )

    images = pick(rng, ([image() for _ in range(int(rng.integers(0, 3)))], image(), thing(rng)))
    masks = pick(rng, (None, None, None, thing(rng), [rng.random((2, 2)) < 0.5]))
    grids = try_to(lambda: pk.GridDatabase(images, masks))
    estimator = build(case.estimator, case.parameters)
    finite(try_to(lambda: estimator.fit_transform(grids)), "images")


CHECKS: dict[str, Callable[[Case, Generator], None]] = {
    function.__name__: function
    for function in (
        fit_hostile_graphs,
        transform_hostile_graphs,
        make_hostile_database,
        hostile_parameters,
        hostile_images,
    )
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 4])
    name, parameters = random_estimator(rng)
    names = sorted(CHECKS)
    return Case("hostile", seed, names[rng.integers(len(names))], name, parameters, random_graphs(rng, 2))


def run(case: Case) -> None:
    CHECKS[case.check](case, np.random.default_rng([case.seed, 5]))
