"""Grid graphs: the paper's table on textures and plant diseases (Table "Grid Graphs"), beside ours.

Run with the data folder named by PROPKERNELS_DATA:

    python experiments/grids.py [--runs 10] [--data brodatz-o-r brodatz-o-r-s-rs plants]

Accuracies are means over runs of 10-fold cross-validation. Folds keep all versions of a Brodatz patch
together. What is to be chosen (the SVM's cost for all methods, t_max for PK, the width of the RBF kernel on
the co-occurrence features, GLCM, of which the paper says no more) is chosen by 5-fold cross-validation:
on BRODATZ once, on a random fifth of the patches, as the paper does; on the small PLANTS excerpt inside
each training part.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import propkernels as pk
from propkernels.images import GrayCooccurrence, KMeansColors, LabelCooccurrence

PAPER = {
    "brodatz-o-r": {"PK": 89.6, "LABELS": 5.0, "GLCM-gray": 87.2, "GLCM-quant": 78.6},
    "brodatz-o-r-s-rs": {"PK": 85.7, "LABELS": 4.9, "GLCM-gray": 79.4, "GLCM-quant": 68.6},
    "plants": {"PK": 82.5, "LABELS": 59.5, "GLCM-gray": 76.6, "GLCM-quant": 37.5},
}
T_MAX = 10
T_CHOICES = (0, 1, 2, 3, 5, 8, 10)
COSTS = (1.0, 10.0, 100.0, 1000.0)
WIDTHS = (0.3, 1.0, 3.0)
LARGE = 500
Array = NDArray[Any]
Choice = tuple[Array, float]


@dataclass(frozen=True)
class Task:
    """Grids to classify, with what the baselines need."""

    grids: Any
    images: list[Array]
    target: Array
    groups: Array
    scheme: Any
    gray: GrayCooccurrence


def brodatz(versions: tuple[str, ...]) -> Task:
    """3 levels, N_{1,8}; intensities are equalised for GLCM-gray as well, as those of Brodatz32 were."""
    data = pk.datasets.load_brodatz(versions)
    gray = GrayCooccurrence(8, scale="equalize")
    return Task(
        data.graphs, data.extras["images"], data.target, data.extras["groups"], pk.Convolution((1, 8)), gray
    )


def plants(random_state: int = 0) -> Task:
    """5 colours by k-means, black among them, N_{1,4}."""
    data = pk.datasets.load_plants()
    grids = KMeansColors(5, random_state=random_state).fit_transform(data.extras["images"])
    target = data.target
    scheme, gray = pk.Convolution((1, 4)), GrayCooccurrence(8)
    return Task(grids, data.extras["images"], target, np.arange(len(target)), scheme, gray)


TASKS = {
    "brodatz-o-r": lambda: brodatz(("original", "rotated")),
    "brodatz-o-r-s-rs": lambda: brodatz(("original", "rotated", "scaled", "rotated_scaled")),
    "plants": plants,
}


def folds(target: Array, groups: Array, n_splits: int, seed: int) -> list[tuple[Array, Array]]:
    """Stratified folds that keep groups together."""
    splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    return list(splitter.split(target, target, groups))


def accuracy_of_kernel(kernel: Array, target: Array, train: Array, test: Array, cost: float) -> float:
    """Accuracy of an SVM on a kernel matrix."""
    machine = SVC(kernel="precomputed", C=cost, cache_size=500)
    machine.fit(kernel[np.ix_(train, train)], target[train])
    return float(machine.score(kernel[np.ix_(test, train)], target[test]))


def choose(choices: list[Choice], task: Task, part: Array, seed: int) -> Choice:
    """Return the kernel and cost that do best in cross-validation on a part of the data."""
    inner = folds(task.target[part], task.groups[part], 5, seed)
    means = [
        np.mean([accuracy_of_kernel(k, task.target, part[a], part[b], c) for a, b in inner])
        for k, c in choices
    ]
    return choices[int(np.argmax(means))]


def evaluate_kernels(kernels: list[Array], task: Task, seed: int) -> float:
    """Mean accuracy in percent, with the kernel and the cost chosen on training data."""
    choices = [(kernel, cost) for kernel in kernels for cost in COSTS]
    chosen = choose(choices, task, a_fifth(task, seed), seed) if len(task.target) > LARGE else None
    scores = []
    for train, test in folds(task.target, task.groups, 10, seed):
        kernel, cost = chosen or choose(choices, task, train, seed)
        scores.append(accuracy_of_kernel(kernel, task.target, train, test, cost))
    return 100 * float(np.mean(scores))


def a_fifth(task: Task, seed: int) -> Array:
    """Positions of all versions of a random fifth of the patches, the same share of each class."""
    return folds(task.target, task.groups, 5, 1000 + seed)[0][1]


def rbf_kernels(features: Array) -> list[Array]:
    """RBF kernels of a few widths on standardised features."""
    scaled = StandardScaler().fit_transform(features)
    squares = (scaled**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0) / scaled.shape[1]
    return [np.exp(-width * distances) for width in WIDTHS]


def propagation_kernels(task: Task, seed: int) -> tuple[list[Array], float]:
    """Return normalised kernels for t_max = 0 .. 10, and how long one pass for t_max = 10 took."""
    start = time.perf_counter()
    kernel = pk.PropagationKernel(
        propagation=task.scheme, t_max=T_MAX, normalize=True, random_state=seed, n_jobs=-1
    )
    kernels = kernel.fit_transform_cumulative(task.grids)
    return list(kernels), time.perf_counter() - start


def run(name: str, n_runs: int) -> dict[str, list[float]]:
    """Accuracies of all methods, one a run."""
    task = TASKS[name]()
    print(f"\n{name}: {task.grids}")
    baselines = {
        "GLCM-gray": rbf_kernels(task.gray.fit_transform(task.images)),
        "GLCM-quant": rbf_kernels(LabelCooccurrence().fit_transform(task.grids)),
    }
    results: dict[str, list[float]] = {method: [] for method in PAPER[name]}
    for seed in range(n_runs):
        kernels, seconds = propagation_kernels(task, seed)
        results["PK"].append(evaluate_kernels([kernels[t] for t in T_CHOICES], task, seed))
        results["LABELS"].append(evaluate_kernels(kernels[:1], task, seed))
        for method, choices in baselines.items():
            results[method].append(evaluate_kernels(choices, task, seed))
        line = ", ".join(f"{method} {values[-1]:.1f}" for method, values in results.items())
        print(f"  run {seed}: {line} (kernels for t = 0 .. {T_MAX}: {seconds:.1f} s)", flush=True)
    return results


def table(all_results: dict[str, dict[str, list[float]]]) -> str:
    """Return ours beside the paper's, as Markdown."""
    lines = ["| data | method | here | paper |", "|---|---|---|---|"]
    for name, results in all_results.items():
        for method, values in results.items():
            spread = f" ± {np.std(values) / np.sqrt(len(values)):.1f}" if len(values) > 1 else ""
            lines.append(f"| {name} | {method} | {np.mean(values):.1f}{spread} | {PAPER[name][method]} |")
    return "\n".join(lines)


def main() -> None:
    """Run the experiments that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--runs", type=int, default=10, help="runs of 10-fold cross-validation")
    arguments = parser.parse_args()
    print("\n" + table({name: run(name, arguments.runs) for name in arguments.data}))


if __name__ == "__main__":
    main()
