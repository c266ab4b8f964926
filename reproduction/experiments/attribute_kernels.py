"""Attribute kernels: the three functions of two attributes, computed by our kernels on single nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from propkernels.graphs import GraphDatabase
from propkernels.kernels import AttributeKernel, PropagationKernel
from reproduction.drawings import new_figure
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State

NAME = "attribute_kernels"
POINTS = 201
SEED = 5


def jobs(scope: Scope) -> list[Job]:
    """Nothing has to be kept: the figure takes a moment."""
    return []


def sections(state: State) -> list[Section]:
    """Return the figure."""
    return [Section("Attribute Kernels", figures={"attribute_kernels": draw})]


def surfaces(points: int = POINTS) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Values of the attribute between -2 and 2, and k(x_u, x_v) of the three kernels.

    Every node is a graph of its own, so that the kernel of graphs is the kernel of nodes.

    Examples
    --------
    >>> x, kernels = surfaces(5)
    >>> kernels["Gaussian kernel"][0, 1] == np.exp(-1.0)
    np.True_
    """
    x = np.linspace(-2, 2, points)
    nodes = GraphDatabase(
        sparse.csr_array((points, points)), np.arange(points + 1), node_attributes=x[:, None]
    )
    hashed = PropagationKernel(
        t_max=0, labels=None, attributes="sum", attribute_bin_width=1.0, standardize=False, random_state=SEED
    )
    return x, {
        "$k_a(u, v)$, one hash": hashed.fit_transform(nodes),
        "thresholded Gaussian": _gaussian("truncated").fit_transform(nodes),
        "Gaussian kernel": _gaussian("gaussian").fit_transform(nodes),
    }


def _gaussian(kind: str) -> AttributeKernel:
    return AttributeKernel(attributes=kind, standardize=False)


def draw() -> Any:
    """Draw the three kernels as surfaces seen from above."""
    x, kernels = surfaces()
    figure = new_figure(8.2, 2.7)
    axes = figure.subplots(1, 3)
    for ax, (title, values) in zip(axes, kernels.items(), strict=True):
        image = ax.imshow(
            values, origin="lower", extent=(x[0], x[-1], x[0], x[-1]), vmin=0, vmax=1, cmap="viridis"
        )
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("$x_u$")
        ax.set_ylabel("$x_v$")
    figure.colorbar(image, ax=list(axes), shrink=0.9)
    return figure
