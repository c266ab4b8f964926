"""Targets in other units: numbers times a factor give predictions times that factor."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Wrong, try_to
from fuzz.forging import pick
from fuzz.models import DATA, rows

Generator = np.random.Generator
FACTORS = tuple(10.0**k for k in range(-12, 13)) + tuple(2.0**k for k in (-40, -20, 20, 40))


def regressor(solver: str) -> Any:
    return pk.PropagationRegressor(kernel=pk.LabelHistogram(), solver=solver, C=1.0, cv=2, random_state=0)


@cache
def learners() -> dict[str, tuple[Callable[[], Any], Any]]:
    """How regressors are made, and what they are fitted on."""
    graphs = DATA.graphs
    found = {f"regressor {s}": (lambda s=s: regressor(s), graphs) for s in ("kernel", "linear", "gp")}
    found["LinearModel"] = (lambda: pk.LinearModel(loss="squared"), rows())
    return found


def units(rng: Generator) -> None:
    """Another unit of the target is another unit of the predictions, and nothing else.

    Powers of two change no digit. Other factors round targets, and libsvm, which stops at a tolerance of
    1e-3, may stop elsewhere.
    """
    name = pick(rng, sorted(learners()))
    make, given = learners()[name]
    target = rng.normal(size=len(DATA.graphs)) + pick(rng, (0.0, 3.0))
    factor = pick(rng, FACTORS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = try_to(lambda: make().fit(given, target).predict(given))
        other = try_to(lambda: make().fit(given, target * factor).predict(given))
    scale = float(np.abs(target).max())
    tolerance = 1e-9 if np.frexp(factor)[0] == 0.5 else 5e-3
    if not np.allclose(other / factor, one, rtol=tolerance, atol=tolerance * scale):
        raise Wrong(f"{name}: targets times {factor:g}: {other / factor} instead of {one}"[:300])


def extremes(rng: Generator) -> None:
    """Targets beyond what can be squared are refused, or predictions are finite."""
    name = pick(rng, sorted(learners()))
    make, given = learners()[name]
    target = rng.normal(size=len(DATA.graphs))
    at = rng.integers(len(target), size=int(rng.integers(1, 3)))
    target[at] = pick(rng, (1e155, -1e200, 1e308, 5e-324, np.inf, -np.inf, 1e100, np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = try_to(lambda: make().fit(given, target).predict(given))
    if not np.isfinite(found).all():
        raise Wrong(f"{name}: predictions {found} of targets such as {target[at]}"[:300])


CHECKS: dict[str, Callable[[Generator], None]] = {"units": units, "extremes": extremes}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 32])
    return Case("targets", seed, pick(rng, sorted(CHECKS)))


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 33]))
