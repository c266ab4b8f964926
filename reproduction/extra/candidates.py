"""Single kernels that the default model might try, compared on one set of folds.

Cross-validated accuracy of normalized kernels with the best t_max and C of a few: optimistic, so that only
differences between kernels count, and nothing here is a result::

    python -m reproduction.extra.candidates ENZYMES --kind labels
    python -m reproduction.extra.candidates ENZYMES --kind partial     # 20 % of the node labels hidden
    python -m reproduction.extra.candidates REDDIT-BINARY --kind degrees
    python -m reproduction.extra.candidates NCI109 --kind labels --graphs 1500 --only intersection

The folds are drawn with other seeds than those of the measured pages, three times each.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import propkernels as pk
from propkernels.counts.products import normalized
from propkernels.models.kernel_sources import redrawn
from propkernels.models.targets import check_target

COSTS, SEEDS, STEPS = (1.0, 10.0, 100.0), (101, 102, 103), 50_000
HIDDEN = 0.2
PAIRS = {
    "labels": [
        ("summed, intersection", "WL, intersection"),
        ("walk, intersection", "WL, intersection"),
        ("walk", "summed, intersection"),
        ("walk, intersection", "summed, intersection"),
        ("shortest paths", "WL, intersection"),
        ("shortest paths", "summed, intersection"),
    ],
    "degrees": [
        ("degrees, intersection", "WL, intersection"),
        ("degrees, intersection", "log degrees, wide bins"),
        ("log degrees, wide bins", "WL, intersection"),
    ],
    "attributes": [
        ("sum, intersection", "WL, intersection"),
        ("product, intersection, four widths", "WL, intersection"),
        ("sum, intersection", "product, intersection, four widths"),
    ],
}
Folds = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]


def kernels(kind: str, n_dimensions: int, has_edge_labels: bool = False) -> dict[str, Any]:
    """Kernels by name, and sums of them."""
    found = single_kernels(kind, n_dimensions)
    if has_edge_labels:
        labeled = {name: clone(kernel).set_params(edge_labels=True) for name, kernel in found.items()}
        found |= {f"{name}, edge labels": kernel for name, kernel in labeled.items()}
    sums = {" + ".join(pair): pk.SumKernel([found[name] for name in pair]) for pair in PAIRS.get(kind, ())}
    return found | sums


def single_kernels(kind: str, n_dimensions: int) -> dict[str, Any]:
    """Kernels that are not sums, by name."""
    summed, assigned = pk.Diffusion(0.5, "none"), {"base_kernel": "intersection"}
    make: Any = pk.PropagationKernel
    refine: Any = pk.WeisfeilerLehman
    wide = {"bin_width": 1.0, "n_hashes": 4, **assigned}
    if kind == "labels":
        return {
            "walk": make(),
            "walk, intersection": make(**assigned),
            "summed": make(propagation=summed),
            "summed, intersection": make(propagation=summed, **assigned),
            "WL": refine(t_max=6),
            "WL, intersection": refine(t_max=6, **assigned),
            "shortest paths": pk.ShortestPath(base_kernel="intersection"),
        }
    if kind == "degrees":
        logarithmic = {"labels": "log_degree", "propagation": pk.Diffusion(0.0, "none")}
        return {
            "degrees": make(t_max=5),
            "degrees, intersection": make(t_max=5, **assigned),
            "log degrees, wide bins": make(t_max=5, **logarithmic, **wide),
            "WL, intersection": refine(t_max=4, **assigned),
        }
    if kind == "partial":
        uncertain = {"propagation": summed, "prior": "frequency", "t_max": 4}
        return {
            "label propagation": make(t_max=4),
            "summed frequencies, intersection": make(**uncertain, **assigned),
            "summed frequencies, wide bins": make(**uncertain, **wide),
            "imputed, summed, intersection": make(propagation=summed, t_max=4, **assigned),
        }
    single = {"attributes": "sum", "t_max": 5, "n_hashes": max(1, 20 // n_dimensions)}
    together = {"attributes": "product", "n_hashes": 20, "t_max": 4}
    return {
        "sum": make(**single),
        "sum, intersection": make(**single, **assigned),
        "product": make(**together),
        **{
            f"product, intersection, width {width}": make(**together, **assigned, attribute_bin_width=width)
            for width in (1.0, 2.0, 4.0)
        },
        "product, intersection, four widths": make(
            **together, **assigned, attribute_bin_width=(1.0, 2.0, 4.0, 8.0)
        ),
        "sum, intersection, three widths": make(**single, **assigned, attribute_bin_width=(0.5, 1.0, 2.0)),
        "WL, intersection": refine(t_max=4, **assigned),
    }


def compare(
    name: str, kind: str, most: int | None = None, only: str = ""
) -> Iterator[tuple[str, float, int, float]]:
    """Best accuracy of each kernel with a word in its name, in percent, with its t_max and C."""
    data = pk.datasets.load(name)
    some = np.random.default_rng(0).permutation(len(data.graphs))[:most]
    graphs: Any = data.graphs[some]
    if kind in ("labels", "partial"):
        graphs = graphs.with_attributes(None)
    if kind == "partial":
        graphs = pk.datasets.hide_labels(graphs, HIDDEN, random_state=0)
    target = check_target(np.asarray(data.target)[some], len(graphs))
    n_folds = 5 if len(target) > 1000 else 10
    folds = [
        fold
        for seed in SEEDS
        for fold in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(target, target)
    ]
    has_edge_labels = graphs.edge_label_column is not None
    n_dimensions = 1 if graphs.node_attributes is None else graphs.node_attributes.shape[1]
    for title, kernel in kernels(kind, n_dimensions, has_edge_labels).items():
        if only not in title:
            continue
        known = pk.LabelImputer().fit_transform(graphs) if title.startswith("imputed") else graphs
        stack = matrices(redrawn(kernel, 0), known)
        steps = range(0, len(stack), 1 if len(stack) < 7 else 2)
        yield title, *max((accuracy(stack[t], target, folds, C), t, C) for t in steps for C in COSTS)


def matrices(kernel: Any, graphs: Any) -> NDArray[np.float64]:
    """Kernel matrices of all numbers of iterations; parts of a sum that have none are repeated."""
    if not isinstance(kernel, pk.SumKernel):
        if not hasattr(kernel, "fit_transform_cumulative"):
            return np.asarray([kernel.fit_transform(graphs)])
        return np.asarray(kernel.fit_transform_cumulative(graphs))
    stacks = [matrices(part.set_params(normalize=True), graphs) for part in kernel.kernels or ()]
    last = range(max(len(stack) for stack in stacks))
    return np.stack([sum(stack[min(t, len(stack) - 1)] for stack in stacks) for t in last])


def accuracy(kernel: NDArray[np.float64], target: NDArray[np.int64], folds: Folds, cost: float) -> float:
    """Mean accuracy over the folds, in percent."""
    diagonal = kernel.diagonal().copy()
    gram = normalized(kernel.copy(), diagonal, diagonal)
    found = []
    for train, test in folds:
        machine = SVC(kernel="precomputed", C=cost, max_iter=STEPS)
        machine.fit(gram[np.ix_(train, train)], target[train])
        found.append(np.mean(machine.predict(gram[np.ix_(test, train)]) == target[test]))
    return 100 * float(np.mean(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per kernel."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.extra.candidates")
    parser.add_argument("dataset")
    parser.add_argument("--kind", choices=["labels", "degrees", "partial", "attributes"], required=True)
    parser.add_argument("--graphs", type=int, help="Only so many graphs, drawn at random.")
    parser.add_argument("--only", default="", help="Only kernels with this in their names.")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # such kernels lose anyway
        for title, best, t, cost in compare(options.dataset, options.kind, options.graphs, options.only):
            print(f"{options.dataset}  {title:40s} {best:5.1f}  t_max={t}  C={cost:g}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
