"""From options to objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from propkernels.cli.console import spinner
from propkernels.cli.options import Labels, Normalization

if TYPE_CHECKING:
    from propkernels.datasets import Dataset


def open_dataset(name: str, target_required: bool = True) -> Dataset:
    """Load a data set by its name, or from a path; with or without a target.

    Whatever has a slash, ends in ".zip" or is a folder here is a path; anything else is a name.
    """
    from propkernels.datasets import load, read_tu

    path = Path(name).expanduser()
    is_path = len(path.parts) > 1 or path.suffix == ".zip" or path.is_dir()
    if is_path:
        return read_tu(path, target_required=target_required)
    return load(name, target_required=target_required)


def build_scheme(scheme: str, laziness: float | None, normalization: Normalization | None) -> Any:
    """Name of a scheme, or a diffusion with its two options."""
    if laziness is None and normalization is None:
        return scheme
    if scheme not in ("auto", "diffusion"):
        raise typer.BadParameter("--laziness and --normalization are options of diffusion")
    from propkernels import Diffusion

    return Diffusion(laziness=laziness or 0.0, normalization=(normalization or Normalization.row).value)


def label_source(labels: Labels) -> str | None:
    """Return the parameter ``labels`` of the kernel."""
    return None if labels is Labels.none else labels.value


def compile_loops() -> None:
    """Meet the compiled loops once on small graphs, so that no kernel's time includes their compilation."""
    from propkernels import PropagationKernel
    from propkernels.datasets import make_molecules

    with spinner("Compiling (the first time only)"):
        PropagationKernel(t_max=1, random_state=0).fit_transform_cumulative(make_molecules(4, 0).graphs)
