"""Recipes: the kernels of the paper's comparison, every setting by name, and what is chosen among."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from propkernels import kernels as kernel_classes
from propkernels import propagation as propagation_classes
from reproduction.protocols.nested import Matrix

STEPS = tuple(range(11))
FEW = 3
Settings = Mapping[str, Any]
DIFFUSION = {
    "is": "Diffusion", "laziness": 0.0, "normalization": "row", "isolated": "stay", "direction": "follow",
}  # fmt: skip
EQUATION_3 = {"is": "LabelPropagation", "clamp": "after", "direction": "follow"}
EQUATION_14 = {"is": "LabelPropagation", "clamp": "before", "direction": "follow"}
ALGORITHM_4 = {
    "is": "GaussianMixtures", "n_sample_points": 100, "combine": "sum", "scale": None, "ridge": 0.0,
    "refit_every": None, "laziness": 0.0,
}  # fmt: skip


def pk(labels: str | None = "node", attributes: Any = None, propagation: Settings = DIFFUSION) -> Settings:
    """PK with the paper's settings: w = 1e-5 and TV for labels, w = 1 and L1 for standardized attributes."""
    return {
        "is": "PropagationKernel", "propagation": propagation, "labels": labels, "prior": "uniform",
        "attributes": attributes, "edge_labels": False, "metric": "tv", "bin_width": 1e-5, "n_hashes": 1,
        "attribute_metric": "l1", "attribute_bin_width": 1.0, "standardize": True, "base_kernel": "linear",
        "normalize": False,
    }  # fmt: skip


def p2k(labels: str | None = "node") -> Settings:
    """P2K: Algorithm 4."""
    return {**pk(labels, ALGORITHM_4), "is": "P2K"}


def wl(labels: str | None = "node") -> Settings:
    """Weisfeiler-Lehman subtrees."""
    return {
        "is": "WeisfeilerLehman", "labels": labels, "edge_labels": False, "edge_weights": False,
        "base_kernel": "linear", "normalize": False,
    }  # fmt: skip


def histogram() -> Settings:
    """LABELS."""
    return {"is": "LabelHistogram", "labels": "node", "base_kernel": "linear", "normalize": False}


def sp(labels: str | None = "node", attributes: str | None = None) -> Settings:
    """Shortest paths."""
    return {
        "is": "ShortestPath", "labels": labels, "attributes": attributes, "weighted": True,
        "edge_labels": False, "base_kernel": "linear", "gamma": None, "standardize": True, "normalize": False,
    }  # fmt: skip


def gh(labels: str | None = "node", attributes: str | None = None) -> Settings:
    """GraphHopper."""
    return {
        "is": "GraphHopper", "labels": labels, "attributes": attributes, "weighted": True, "gamma": None,
        "standardize": True, "normalize": False,
    }  # fmt: skip


def csm(labels: str | None, attributes: str | None, k: int) -> Settings:
    """Common subgraph matching, with subgraphs of up to k nodes."""
    return {
        "is": "SubgraphMatching", "k": k, "labels": labels, "attributes": attributes, "edge_labels": False,
        "edge_weights": False, "connected": True, "lambdas": None, "gamma": None, "standardize": True,
        "normalize": False,
    }  # fmt: skip


def attribute_kernel() -> Settings:
    """A: mean of a Gaussian over all pairs of nodes."""
    return {
        "is": "AttributeKernel", "attributes": "gaussian", "labels": None, "gamma": None, "standardize": True,
        "normalize": False,
    }  # fmt: skip


def build(settings: Any, **more: Any) -> Any:
    """Make the object that settings describe: its class under "is", and all parameters.

    Examples
    --------
    >>> build(DIFFUSION)
    Diffusion()
    """
    if not isinstance(settings, Mapping):
        return settings
    parameters = {name: build(value) for name, value in settings.items() if name != "is"}
    home: Any = kernel_classes if hasattr(kernel_classes, settings["is"]) else propagation_classes
    return getattr(home, settings["is"])(**parameters, **more)


@dataclass(frozen=True)
class Recipe:
    """Kernels among which the training part of each fold chooses.

    Attributes
    ----------
    settings : mapping
        What :func:`build` takes.
    steps : tuple of int
        Candidates for t_max, or for the iterations of WL; none: there is no such parameter.
    is_random : bool
        Whether each repeat draws it anew (hash functions).
    is_slow : bool
        Whether what is computed should be kept on disk between runs.
    """

    settings: Settings
    steps: tuple[int, ...] = STEPS
    is_random: bool = False
    is_slow: bool = False

    def describe(self) -> dict[str, Any]:
        """What the results depend on, for the key of a cell."""
        return {"kernel": dict(self.settings), "steps": list(self.steps)}

    def compute(
        self, graphs: Any, seed: int, n_jobs: int | None, folder: Path, name: str
    ) -> tuple[dict[str, Matrix], float]:
        """Return all candidate matrices, and the processor seconds of one pass, warmed up on a few graphs."""
        digest = hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()[:8]
        file = folder / f"{name}--{digest}.npz"
        if self.is_slow and file.is_file():
            with np.load(file, allow_pickle=False) as kept:
                return dict(zip(kept["steps"].tolist(), kept["matrices"], strict=True)), float(
                    kept["seconds"]
                )
        self._matrices(graphs[np.arange(min(FEW, len(graphs)))], seed, n_jobs)
        start = process_time()
        matrices = self._matrices(graphs, seed, n_jobs)
        seconds = process_time() - start
        if self.is_slow:
            folder.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part.npz")
            np.savez(part, steps=list(matrices), matrices=np.stack(list(matrices.values())), seconds=seconds)
            part.replace(file)
        return matrices, seconds

    def _matrices(self, graphs: Any, seed: int, n_jobs: int | None) -> dict[str, Matrix]:
        more: dict[str, Any] = {"n_jobs": n_jobs} | ({"random_state": seed} if self.is_random else {})
        if self.settings["is"] == "SubgraphMatching":
            stack = build(self.settings, **more).fit_transform_cumulative(graphs)
            return {str(k): matrix for k, matrix in enumerate(stack, start=1)}
        if not self.steps:
            return {"": build(self.settings, **more).fit_transform(graphs)}
        stack = build(self.settings, t_max=self.steps[-1], **more).fit_transform_cumulative(graphs)
        return {str(t): stack[t] for t in self.steps}
