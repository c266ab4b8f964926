"""Which estimators are held to the contract: all public ones of the package and its modules.

A class with ``fit_transform`` and ``transform`` is tested as soon as it is public. It must take graphs with
integer labels and attributes, with its default parameters, and give either one row per graph (kernels,
features) or one graph per graph (imputers); ``NOT_UNDER_CONTRACT`` names others.
"""

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse

import propkernels as pk
from propkernels.propagation import (
    Convolution,
    Diffusion,
    GaussianMixtures,
    LabelPropagation,
    PropagatedAttributes,
)
from tests.public_names import public
from tests.zoo import labelled_zoo

# Estimators outside this contract, each with the reason and where it is tested instead.
NOT_UNDER_CONTRACT: dict[str, str] = {
    "CoincidingWalkKernel": "has one row per node: tests/nodes/test_coinciding_walks.py",
    "NodeFeatures": "has one row per node: tests/nodes/test_features.py",
    "GrayLevels": "takes images: tests/images",
    "KMeansColors": "takes images: tests/images",
    "MoleculesToGraphs": "takes molecules, which not every graph is: tests/molecules/test_transformer.py",
}
# Estimators that rightly refuse training graphs without a single node, each with the reason.
NEEDS_NODES = {"P2K": "sample points are drawn from the attributes of the training nodes"}

# Estimators whose base kernel must be a dot product: features, and shortest paths.
DOT_PRODUCTS_ONLY = (
    "LabelHistogramFeatures",
    "PropagationFeatures",
    "ShortestPath",
    "ShortestPathFeatures",
    "WeisfeilerLehmanFeatures",
)

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
    {"propagation": Diffusion(laziness=0.5)},
    {"propagation": Diffusion(normalization="none")},
    {"propagation": Diffusion(normalization="none"), "metric": "hellinger"},
    {"propagation": Diffusion(normalization="symmetric")},
    {"propagation": Diffusion(isolated="vanish", direction="both")},
    {"propagation": LabelPropagation(clamp="before"), "metric": "hellinger"},
    {"attributes": "sum", "attribute_bin_width": 1.0},
    {"attributes": "sum", "standardize": False, "attribute_bin_width": 0.5, "n_hashes": 2},
    {"attributes": "product", "metric": "hellinger"},
    {"attributes": "joint", "attribute_metric": "l2"},
    {"edge_labels": True},
    {"attributes": "gaussian", "gamma": 0.7},
    {"attributes": "linear", "gamma": None, "labels": None},
    {"k": 2, "connected": False},
    {"attributes": "sum", "attribute_bin_width": (0.5, 2.0)},
    {"attributes": PropagatedAttributes(laziness=0.2, combine="product"), "attribute_metric": "l2"},
    {"attributes": GaussianMixtures(n_sample_points=7), "attribute_bin_width": 0.5},
    {
        "attributes": GaussianMixtures(scale="initial", refit_every=2, combine="joint"),
        "attribute_metric": "l1",
    },
    {"normalize_parts": False},
    {"device": "auto"},
    {"device": "auto", "output": "device", "n_features": 64},
    {"weights": (0.5, 2.0), "normalize": True},
]
# Parameters that are not varied here, each with the reason.
NOT_VARIED = {"time": "needs graphs in time: test_the_contract_of_kernels_holds_in_time"}
FEW: list[dict[str, Any]] = [{}, {"metric": "hellinger"}, {"normalize": True}, {"n_hashes": 2}]


def attributed(graphs: Any) -> Any:
    """The same graphs, with attributes where they have none: a number of the label's, and one of its own."""
    if graphs.node_attributes is not None:
        return graphs
    rng = np.random.default_rng(graphs.n_nodes)
    column = graphs.label_column
    first = np.zeros(graphs.n_nodes) if column is None else column.ids * 0.5
    return graphs.with_attributes(np.column_stack([first, rng.integers(-3, 4, graphs.n_nodes) / 4]))


@cache
def the_zoo() -> Any:
    """The labelled zoo, with attributes."""
    return attributed(labelled_zoo())


def public_classes(*methods: str) -> dict[str, type]:
    """Public classes that have all these methods."""
    return {
        name.rpartition(".")[2]: thing
        for name, thing in public().items()
        if inspect.isclass(thing) and all(hasattr(thing, method) for method in methods)
    }


def discover() -> dict[str, type]:
    """Public estimators: classes that fit and transform."""
    return public_classes("fit_transform", "transform")


def schemes() -> list[Any]:
    """Every public propagation scheme for general graphs that needs no parameters."""
    return [
        cls()
        for cls in public_classes("prepare", "step").values()
        if not inspect.isabstract(cls)
        and not getattr(cls, "grids_only", False)  # see grid_schemes
        and all(p.default is not p.empty for p in inspect.signature(cls).parameters.values())
    ]


def grid_schemes() -> list[Any]:
    """Every public propagation scheme for grids, and those that push labels back."""
    found = [cls() for cls in public_classes("prepare", "step").values() if getattr(cls, "grids_only", False)]
    return [*found, Convolution((1, 8), clamp="after"), Convolution("nearest", "wrap", clamp="before")]


def is_derived(cls: type) -> bool:
    """Whether an estimator is a subclass of another public one, which most variations are tested on."""
    return any(issubclass(cls, other) and cls is not other for other in discover().values())


def takes(cls: type, graphs: Any) -> bool:
    """Whether an estimator can be fitted on these graphs: nearly all can, on any."""
    return graphs.n_nodes > 0 or cls.__name__ not in NEEDS_NODES


def variations(cls: type) -> list[dict[str, Any]]:
    """Parameters to try; of an estimator derived from another public one, only those of ``FEW``."""
    several = FEW if is_derived(cls) else [*VARIATIONS, *({"propagation": scheme} for scheme in schemes())]
    return [one for one in several if has(cls, *one) and not refuses(cls, one)]


def refuses(cls: type, parameters: dict[str, Any]) -> bool:
    """Whether an estimator needs a base kernel that is a dot product, and these parameters have another."""
    return cls.__name__ in DOT_PRODUCTS_ONLY and parameters.get("base_kernel") in (
        "rbf",
        "tanimoto",
        "jaccard",
    )


def has(cls: type, *names: str) -> bool:
    """Whether an estimator has all these parameters."""
    return set(names) <= set(inspect.signature(cls).parameters)


def make(cls: type, **parameters: Any) -> Any:
    """An estimator with fixed randomness and few iterations (``t_max``), where it has such parameters."""
    usual = {"random_state": 3} if has(cls, "random_state") else {}
    steps = parameters.pop("t_max", 3)
    return cls(**{**usual, **({"t_max": steps} if has(cls, "t_max") else {}), **parameters})


@cache
def kind(cls: type) -> str:
    """What one graph becomes: "kernel" values with the training graphs, a row of "features", or a "graph"."""
    graphs = the_zoo()[:7]
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
            for variation in variations(cls)
        ],
    )


def fitted(cls: type, parameters: dict[str, Any], graphs: Any) -> tuple[Any, Any]:
    """An estimator fitted on these graphs, and what fit_transform returned."""
    estimator = make(cls, **parameters)
    return estimator, estimator.fit_transform(graphs)


_ON_THE_ZOO: dict[Any, tuple[Any, Any]] = {}


def fitted_on_the_zoo(cls: type, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """As ``fitted``, once for all tests, which must not change it."""
    key = cls, describe(parameters)
    if key not in _ON_THE_ZOO:
        _ON_THE_ZOO[key] = fitted(cls, parameters, the_zoo())
    return _ON_THE_ZOO[key]


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


def test_estimators_of_registries_and_the_founding_ones_are_found():
    assert set(NOT_UNDER_CONTRACT) | set(NEEDS_NODES) <= set(discover())
    assert "PropagationKernel" in under_contract("kernel")
    assert "PropagationFeatures" in under_contract("features")
    assert {type(scheme).__name__ for scheme in schemes()} >= {"Diffusion", "LabelPropagation"}


@pytest.mark.parametrize("cls", [pk.PropagationKernel, pk.PropagationFeatures])
def test_every_parameter_is_varied(cls):
    varied = {name for variation in VARIATIONS for name in variation} | {"t_max", "random_state", "n_jobs"}
    missing = set(inspect.signature(cls).parameters) - varied - set(NOT_VARIED)
    assert missing == set(), f"add variations of {missing} to VARIATIONS in {__name__}"
