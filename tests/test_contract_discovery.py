"""Which estimators are held to the contract: all public ones, found by walking ``propkernels.__all__``.

A class with ``fit_transform`` and ``transform`` is tested as soon as it is public. It must take graphs with
integer labels, with its default parameters, and give either one row a graph (kernels, features) or one graph
a graph (imputers); one that needs other input says so in ``OTHER_INPUT``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse

import propkernels as pk
from tests.zoo import labelled_zoo

# Estimators that do not take labelled graphs: name -> function that makes their input of labelled graphs.
OTHER_INPUT: dict[str, Callable[[Any], Any]] = {}
# Estimators outside this contract, each with the reason and where it is tested instead.
NOT_UNDER_CONTRACT: dict[str, str] = {}

# Parameters other than the default ones, tried wherever an estimator has them all.
VARIATIONS: list[dict[str, Any]] = [
    {},
    {"metric": "hellinger"},
    {"metric": "l1"},
    {"metric": "l2"},
    {"bin_width": 0.3},
    {"n_hashes": 3},
    {"labels": "degree"},
    {"labels": None},
    {"prior": "frequency"},
    {"normalize": True},
    {"n_features": 2**12},
    {"n_features": 64, "normalize": True},
    {"sparse_output": False},
    {"base_kernel": "rbf"},
    {"base_kernel": "intersection"},
    {"base_kernel": "tanimoto"},
    {"base_kernel": "jaccard"},
    {"base_kernel": "rbf", "normalize": True, "n_hashes": 2},
    {"base_kernel": "intersection", "normalize": True},
    {"propagation": pk.Diffusion(laziness=0.5)},
    {"propagation": pk.Diffusion(normalization="none")},
    {"propagation": pk.Diffusion(normalization="none"), "metric": "hellinger"},
    {"propagation": pk.Diffusion(normalization="symmetric")},
    {"propagation": pk.Diffusion(isolated="vanish", direction="both")},
    {"propagation": pk.LabelPropagation(clamp="before"), "metric": "hellinger"},
]


def public_classes(*methods: str) -> dict[str, type]:
    """Public classes that have all these methods."""
    things = {name: getattr(pk, name) for name in pk.__all__}
    return {
        name: thing
        for name, thing in things.items()
        if inspect.isclass(thing) and all(hasattr(thing, method) for method in methods)
    }


def discover() -> dict[str, type]:
    """Public estimators: classes that fit and transform."""
    return public_classes("fit_transform", "transform")


def schemes() -> list[Any]:
    """Every public propagation scheme that needs no parameters."""
    return [
        cls()
        for cls in public_classes("prepare", "step").values()
        if not inspect.isabstract(cls)
        and all(p.default is not p.empty for p in inspect.signature(cls).parameters.values())
    ]


def variations() -> list[dict[str, Any]]:
    return [*VARIATIONS, *({"propagation": scheme} for scheme in schemes())]


def has(cls: type, *names: str) -> bool:
    """Whether an estimator has all these parameters."""
    return set(names) <= set(inspect.signature(cls).parameters)


def make(cls: type, **parameters: Any) -> Any:
    """An estimator with fixed randomness and few iterations, where it has such parameters."""
    usual = {name: value for name, value in {"random_state": 3, "t_max": 3}.items() if has(cls, name)}
    return cls(**{**usual, **parameters})


def input_of(cls: type, graphs: Any) -> Any:
    return OTHER_INPUT.get(cls.__name__, lambda unchanged: unchanged)(graphs)


@cache
def kind(cls: type) -> str:
    """What one graph becomes: "kernel" values with the training graphs, a row of "features", or a "graph"."""
    graphs = input_of(cls, labelled_zoo()[:7])
    try:
        output = make(cls).fit_transform(graphs)
        if isinstance(output, pk.GraphDatabase):
            return "graph"
        if getattr(output, "ndim", None) != 2 or output.shape[0] != 7:
            return "unknown"
        return "kernel" if make(cls).fit(graphs).transform(graphs[:2]).shape == (2, 7) else "features"
    except (TypeError, ValueError):
        return "unknown"


def under_contract(*kinds: str) -> dict[str, type]:
    """Discovered estimators of the given kinds (all that are known, if none is given)."""
    wanted = kinds or ("kernel", "features", "graph")
    listed = {name: cls for name, cls in discover().items() if name not in NOT_UNDER_CONTRACT}
    return {name: cls for name, cls in listed.items() if kind(cls) in wanted}


def describe(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{k}={v}" for k, v in parameters.items()) or "default"


def classes(*kinds: str) -> Any:
    """Parametrize a test over estimators."""
    return pytest.mark.parametrize(
        "cls", [pytest.param(cls, id=name) for name, cls in under_contract(*kinds).items()]
    )


def cases(*kinds: str) -> Any:
    """Parametrize a test over estimators and all variations of their parameters."""
    return pytest.mark.parametrize(
        ("cls", "parameters"),
        [
            pytest.param(cls, variation, id=f"{name}({describe(variation)})")
            for name, cls in under_contract(*kinds).items()
            for variation in variations()
            if has(cls, *variation)
        ],
    )


def dense(output: Any) -> np.ndarray:
    return output.toarray() if issparse(output) else np.asarray(output)


def gram(cls: type, output: Any) -> np.ndarray:
    """The kernel matrix that an estimator's training output amounts to."""
    matrix = dense(output)
    return matrix if kind(cls) == "kernel" else matrix @ matrix.T


def assert_same(computed: Any, reference: Any) -> None:
    """Equal; counts are whole numbers, so the tolerance is only for base kernels and normalisation."""
    if isinstance(reference, pk.GraphDatabase):
        assert computed == reference
    else:
        np.testing.assert_allclose(dense(computed), dense(reference), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", discover())
def test_every_discovered_estimator_is_testable_or_listed(name):
    if name in NOT_UNDER_CONTRACT:
        assert len(NOT_UNDER_CONTRACT[name]) > 10, "say why"
        return
    advice = (
        f"{name} does not make one row or graph of each labelled graph: add it to a registry in {__name__}"
    )
    assert kind(discover()[name]) != "unknown", advice


def test_registries_name_estimators_that_exist():
    assert set(OTHER_INPUT) | set(NOT_UNDER_CONTRACT) <= set(discover())


def test_the_founding_estimators_are_found():
    assert "PropagationKernel" in under_contract("kernel")
    assert "PropagationFeatures" in under_contract("features")
    assert {type(scheme).__name__ for scheme in schemes()} >= {"Diffusion", "LabelPropagation"}


@pytest.mark.parametrize("cls", [pk.PropagationKernel, pk.PropagationFeatures])
def test_every_parameter_is_varied(cls):
    varied = {name for variation in VARIATIONS for name in variation} | {"t_max", "random_state", "n_jobs"}
    missing = set(inspect.signature(cls).parameters) - varied
    assert missing == set(), f"add variations of {missing} to VARIATIONS in {__name__}"
