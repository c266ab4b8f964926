"""Recipes: the kernels of the paper's comparison, with what is chosen on training parts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.kernels.subgraph_matching import SubgraphMatching
from propkernels.models.kernel_sources import compute_stack, has_steps, redrawn
from reproduction.engine.cells import plain_name, read_json, write_json
from reproduction.engine.jobs import Context

Matrix = NDArray[np.float64]
STEPS = (0, 1, 2, 4, 6, 10)
FEW = 3


@dataclass(frozen=True)
class Recipe:
    """Kernels among which the training part of each fold chooses.

    Attributes
    ----------
    kernels : mapping from a name to an estimator
        For example attributes standardized and raw; one kernel alone has the name "".
    steps : tuple of int
        Candidates for t_max, or for the iterations of WL.
    is_random : bool
        Whether each repeat draws it anew (hash functions).
    is_slow : bool
        Whether what is computed should be kept on disk between runs.
    """

    kernels: Mapping[str, Any]
    steps: tuple[int, ...] = STEPS
    is_random: bool = False
    is_slow: bool = False

    def describe(self) -> dict[str, Any]:
        """What the results depend on, for the key of a cell."""
        return {
            "kernels": {name: " ".join(repr(kernel).split()) for name, kernel in self.kernels.items()},
            "steps": list(self.steps),
        }

    def compute(
        self, graphs: Any, seed: int, context: Context, name: str = ""
    ) -> tuple[dict[str, Matrix], float]:
        """Return all candidate matrices, and the processor seconds that one kernel took.

        The compiled loops are warmed up on a few graphs first. Where there are several kernels, the time is
        that of the first.
        """
        matrices: dict[str, Matrix] = {}
        seconds: list[float] = []
        for variant, kernel in self.kernels.items():
            file = context.store.kernel_file(_file_name(name, variant, kernel)) if self.is_slow else None
            own = _prepared(redrawn(kernel, seed), context, file)
            _warm_up(own, graphs, self.steps)
            found, spent = _timed(own, graphs, self.steps, file)
            seconds.append(spent)
            matrices |= {_label(step, variant): matrix for step, matrix in found.items()}
        return matrices, round(seconds[0], 4)


def _file_name(name: str, variant: str, kernel: Any) -> str:
    """Name of the file of a slow kernel; other parameters have another file."""
    digest = hashlib.sha256(" ".join(repr(kernel).split()).encode()).hexdigest()[:8]
    return "--".join(map(plain_name, (name, variant, digest)))


def _timed(
    kernel: Any, graphs: Any, steps: tuple[int, ...], file: Path | None
) -> tuple[dict[Any, Matrix], float]:
    """Compute a kernel; one that lies on disk was timed when it was computed."""
    start = process_time()
    matrices = _stack(kernel, graphs, steps)
    spent = process_time() - start
    if file is None:
        return matrices, spent
    clock = file.with_suffix(".json")
    if not clock.is_file():
        write_json(clock, {"seconds": spent})
    return matrices, float(read_json(clock)["seconds"])


def _prepared(kernel: Any, context: Context, file: Path | None) -> Any:
    """Set threads, and the file that keeps a slow kernel."""
    parameters = kernel.get_params(deep=False)
    changes: dict[str, Any] = {"n_jobs": context.n_jobs} if "n_jobs" in parameters else {}
    if file is not None and "checkpoint" in parameters:
        changes["checkpoint"] = file
    return kernel.set_params(**changes)


def _warm_up(kernel: Any, graphs: Any, steps: tuple[int, ...]) -> None:
    few = clone(kernel)
    if "checkpoint" in few.get_params(deep=False):
        few.set_params(checkpoint=None)
    _stack(few, graphs[np.arange(min(FEW, len(graphs)))], steps)


def _stack(kernel: Any, graphs: Any, steps: tuple[int, ...]) -> dict[Any, Matrix]:
    if isinstance(kernel, SubgraphMatching):
        return dict(enumerate(kernel.fit_transform_cumulative(graphs), start=1))
    return dict(compute_stack(kernel, graphs, steps if has_steps(kernel) else None))


def _label(step: int | None, variant: str) -> str:
    """Name of a candidate.

    Examples
    --------
    >>> _label(3, "raw"), _label(None, "raw"), _label(2, "")
    ('3 raw', 'raw', '2')
    """
    return " ".join(filter(None, ("" if step is None else str(step), variant)))
