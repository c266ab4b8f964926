"""Kernels and models by the names that options give them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer


class KernelName(StrEnum):
    """Kernels that can be asked for."""

    auto = "auto"
    propagation = "propagation"
    p2k = "p2k"
    weisfeiler_lehman = "weisfeiler-lehman"
    shortest_path = "shortest-path"
    graph_hopper = "graph-hopper"
    labels = "labels"


class Task(StrEnum):
    """What is predicted."""

    auto = "auto"
    classes = "classes"
    numbers = "numbers"


class Solver(StrEnum):
    """How a machine is learned."""

    auto = "auto"
    kernel = "kernel"
    linear = "linear"
    gp = "gp"


KernelOption = Annotated[KernelName, typer.Option("--kernel", help="Kernel; auto: by what the graphs carry.")]


CLASSES = {
    KernelName.propagation: "PropagationKernel",
    KernelName.p2k: "P2K",
    KernelName.weisfeiler_lehman: "WeisfeilerLehman",
    KernelName.shortest_path: "ShortestPath",
    KernelName.graph_hopper: "GraphHopper",
    KernelName.labels: "LabelHistogram",
}


def build_kernel(name: KernelName, t_max: int | None, seed: int | None, jobs: int) -> Any:
    """Return the kernel of a name, with those of the settings that it has; None for "auto"."""
    if name is KernelName.auto:
        return None
    from propkernels import kernels

    kernel = getattr(kernels, CLASSES[name])()
    settings = {"t_max": t_max, "n_iter": t_max, "random_state": seed, "n_jobs": jobs}
    known = kernel.get_params(deep=False)
    return kernel.set_params(**{k: v for k, v in settings.items() if k in known and v is not None})


def describe_kernel(kernel: Any, without: tuple[str, ...] = ()) -> str:
    """Return the name of a kernel, and the parameters that are not its defaults, but for some.

    Examples
    --------
    >>> import propkernels as pk
    >>> describe_kernel(pk.PropagationKernel(t_max=3, random_state=7, n_jobs=2))
    'PropagationKernel(t_max=3)'
    """
    defaults = type(kernel)().get_params(deep=False)
    changed = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if name not in ("random_state", "n_jobs", *without) and repr(value) != repr(defaults[name])
    }
    return f"{type(kernel).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
