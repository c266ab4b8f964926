"""Every public estimator, and parameters to try it with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from propkernels.propagation import Diffusion, LabelPropagation, PartialAbsorption
from tests.test_contract_discovery import discover, has, make, schemes

POOLS: dict[str, tuple[Any, ...]] = {
    "metric": ("tv", "hellinger", "l1", "l2"),
    "bin_width": (1e-5, 1e-3, 0.3, 1.0, 10.0),
    "n_hashes": (1, 2, 3),
    "labels": ("auto", "node", "degree", "log_degree", None),
    "prior": ("uniform", "frequency"),
    "normalize": (True, False),
    "n_features": (None, 1, 16, 2**12, 2**20),
    "sparse_output": (True, False),
    "base_kernel": ("linear", "rbf", "intersection", "tanimoto", "jaccard"),
    "attributes": (None, "sum", "product", "joint", "gaussian", "linear", "truncated"),
    "attribute_metric": ("l1", "l2", "tv", "hellinger"),
    "attribute_bin_width": (1.0, 0.3, 5.0),
    "standardize": (True, False),
    "weighted": (True, False),
    "edge_weights": (True, False),
    "gamma": (None, 0.7, 3.0),
    "k": (1, 2, 3, 4),
    "connected": (True, False),
}
PROPAGATIONS = (
    "auto",
    Diffusion(laziness=0.5),
    Diffusion(normalization="none"),
    Diffusion(0.2, "symmetric", direction="both"),
    Diffusion(isolated="vanish", direction="reverse"),
    LabelPropagation(clamp="before"),
    PartialAbsorption(rate=2.0),
)


@cache
def estimators() -> dict[str, type]:
    """Public estimators that turn graphs into rows or graphs, not those that read molecules or images."""
    other = "MoleculesToGraphs", "GrayLevels", "KMeansColors"
    return {name: cls for name, cls in discover().items() if name not in other}


@cache
def _propagations() -> tuple[Any, ...]:
    return (*PROPAGATIONS, *schemes())


def random_estimator(rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """The name of an estimator of graphs, and some of its parameters."""
    names = sorted(name for name, cls in estimators().items() if ".nodes." not in cls.__module__)
    name = names[rng.integers(len(names))]
    cls, parameters = estimators()[name], {}
    pools = {key: pool for key, pool in POOLS.items() if has(cls, key)}
    if has(cls, "propagation"):
        pools["propagation"] = _propagations()
    number = min(int(rng.choice([0, 1, 2, 3])), len(pools))
    for key in rng.choice(sorted(pools), size=number, replace=False) if number else ():
        parameters[str(key)] = pools[key][rng.integers(len(pools[key]))]
    return name, parameters


def build(name: str, parameters: dict[str, Any], **others: Any) -> Any:
    """An estimator with fixed randomness and few iterations."""
    return make(estimators()[name], **{**parameters, **others})
