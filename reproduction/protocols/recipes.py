"""Recipes: the kernels of the paper's comparison, with what is chosen on training parts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone

from propkernels.kernels import SubgraphMatching
from reproduction.engine.cells import plain_name
from reproduction.engine.jobs import Context
from reproduction.protocols.nested import Matrix

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
            own = redrawn(kernel, seed, n_jobs=context.n_jobs)
            matrices_of(clone(own), graphs[np.arange(min(FEW, len(graphs)))], self.steps)
            found, spent = _timed(own, graphs, self.steps, file)
            seconds.append(spent)
            matrices |= {" ".join(filter(None, (step, variant))): matrix for step, matrix in found.items()}
        return matrices, round(seconds[0], 4)


def redrawn(kernel: Any, seed: int, **settings: Any) -> Any:
    """Return an unfitted copy with every random_state set to the seed, and settings that it has."""
    names = kernel.get_params()
    seeds = {name: seed for name in sorted(names) if f"__{name}".endswith("__random_state")}
    return clone(kernel).set_params(**seeds, **{k: v for k, v in settings.items() if k in names})


def matrices_of(kernel: Any, graphs: Any, steps: tuple[int, ...]) -> dict[str, Matrix]:
    """Return kernel matrices by t_max, or by the size of subgraphs, from one pass; by "" where there is none.

    Examples
    --------
    >>> from propkernels.kernels import ShortestPath, WeisfeilerLehman
    >>> path = [([[0, 1], [1, 0]], ["a", "b"])]
    >>> matrices_of(WeisfeilerLehman(), path, (0, 2)), matrices_of(ShortestPath(), path, (0, 2))
    ({'0': array([[2.]]), '2': array([[6.]])}, {'': array([[2.]])})
    """
    if isinstance(kernel, SubgraphMatching):
        return {str(k): matrix for k, matrix in enumerate(kernel.fit_transform_cumulative(graphs), start=1)}
    if "t_max" not in kernel.get_params(deep=False):
        return {"": kernel.fit_transform(graphs)}
    stack = kernel.set_params(t_max=steps[-1]).fit_transform_cumulative(graphs)
    return {str(t): stack[t] for t in steps}


def _file_name(name: str, variant: str, kernel: Any) -> str:
    """Name of the file of a slow kernel; other parameters have another file."""
    digest = hashlib.sha256(" ".join(repr(kernel).split()).encode()).hexdigest()[:8]
    return "--".join(map(plain_name, (name, variant, digest)))


def _timed(
    kernel: Any, graphs: Any, steps: tuple[int, ...], file: Path | None
) -> tuple[dict[str, Matrix], float]:
    """Compute a kernel, and its processor seconds; one that is on disk is read with those that it took."""
    if file is not None and file.is_file():
        with np.load(file, allow_pickle=False) as stored:
            kept = dict(zip(stored["steps"].tolist(), stored["matrices"], strict=True))
            return kept, float(stored["seconds"])
    start = process_time()
    matrices = matrices_of(kernel, graphs, steps)
    spent = process_time() - start
    if file is not None:
        part = file.with_suffix(".part.npz")
        np.savez(part, steps=list(matrices), matrices=np.stack(list(matrices.values())), seconds=spent)
        part.replace(file)
    return matrices, spent
