"""What default models of few graphs gain by a mean of decisions over the choice of one kernel.

Nested 10-fold cross-validation of ``PropagationClassifier()``, and of the same model with its kernels named
as a list, which is a choice of one::

    python -m reproduction.extra.means MUTAG MSRC_9 BZR COX2

The folds are drawn with other seeds than those of the measured pages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import propkernels as pk
from propkernels.models.defaults import default_kernels
from reproduction.extra.defaults import AIMS, FOLDS
from reproduction.extra.folds_of_defaults import load


def compare(name: str, seed: int) -> tuple[list[float], list[float], list[int]]:
    """Accuracies of the choice and of the mean on each fold, in percent, and how many kernels it has."""
    graphs, target = load(name)
    found: tuple[list[float], list[float], list[int]] = [], [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(target, target):
        one = pk.PropagationClassifier(
            kernel=default_kernels(graphs[train]), random_state=seed, progress=False
        )
        several = pk.PropagationClassifier(random_state=seed, progress=False)
        for model, scores in zip((one, several), found[:2], strict=True):
            model.fit(graphs[train], target[train])
            scores.append(_accuracy(model, graphs[test], target[test]))
        found[2].append(len(getattr(several.kernel_, "kernels", "1")))
    return found


def _accuracy(model: Any, graphs: Any, target: NDArray[np.int64]) -> float:
    return 100 * float(np.mean(model.predict(graphs) == target))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per data set and seed."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.extra.means")
    parser.add_argument("datasets", nargs="+", choices=list(AIMS), metavar="NAME", help=", ".join(AIMS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[101])
    options = parser.parse_args(arguments)
    for name in options.datasets:
        for seed in options.seeds:
            one, several, sizes = (float(np.mean(values)) for values in compare(name, seed))
            gain = several - one
            print(f"{name:22s} {one:5.1f} {several:5.1f} {gain:+5.1f}  {sizes:.1f} kernels", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
