"""Whether source trees compute the same bits: ``python -m benchmarks.same_bits TREE [TREE ...]``.

Every public kernel is fitted on the graphs with even numbers of some data sets, in each tree (a folder that
contains ``src/propkernels``; this one is always the last) and in a process of its own, with its default
parameters and with each setting of ``SETTINGS`` that it has. Kernel matrices of these graphs, and of the
others against them, are compared by their SHA-256.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUMMARY = "Compare kernel matrices of source trees by their SHA-256."
DATA = ("MUTAG", "ENZYMES", "BZR", "PROTEINS_full", "DIGITS")
N_GRAPHS = 300  # per data set
SMALL = 40  # graphs per data set for kernels that compare pairs of graphs
PAIRWISE = ("GraphHopper", "SubgraphMatching", "AttributeKernel", "ShortestPath")
MOST_NODES = 40  # per graph of these kernels


def settings() -> dict[str, dict[str, Any]]:
    """Return parameters by name; a kernel is tried with those that it has."""
    import propkernels as pk

    return {
        "default": {},
        "l1": {"metric": "l1"},
        "l2, wide bins": {"metric": "l2", "bin_width": 0.01},
        "hellinger": {"metric": "hellinger"},
        "three hashes": {"n_hashes": 3},
        "degrees": {"labels": "degree"},
        "no labels": {"labels": None},
        "edge labels": {"edge_labels": True},
        "exact": {"exact": True},
        "normalized": {"normalize": True},
        "intersection": {"base_kernel": "intersection"},
        "jaccard": {"base_kernel": "jaccard"},
        "tanimoto": {"base_kernel": "tanimoto"},
        "rbf": {"base_kernel": "rbf"},
        "hashed columns": {"n_features": 2**12},
        "sums": {"propagation": pk.Diffusion(0.5, "none")},
        "symmetric": {"propagation": pk.Diffusion(normalization="symmetric"), "bin_width": 1e-3},
        "label propagation": {"propagation": pk.LabelPropagation()},
        "label spreading": {"propagation": pk.LabelSpreading(0.7)},
        "partial absorption": {"propagation": pk.PartialAbsorption(0.3)},
        "belief propagation": {"propagation": pk.BeliefPropagation()},
        "eight neighbors": {"propagation": pk.Convolution((1, 8))},
        "attributes, sum": {"attributes": "sum"},
        "attributes, product": {"attributes": "product", "normalize": True},
        "attributes, joint": {"attributes": "joint", "attribute_metric": "l2"},
        "gaussian attributes": {"attributes": "gaussian", "gamma": 0.7},
    }


def data_set(name: str, n_graphs: int) -> Any:
    """Return some graphs of a data set; DIGITS are grids of gray levels."""
    import numpy as np

    import propkernels as pk

    if name == "DIGITS":
        from sklearn.datasets import load_digits

        return pk.GridDatabase([image.astype(int) // 4 for image in load_digits().images[:n_graphs]])
    graphs = pk.datasets.load(name).graphs
    if n_graphs == SMALL:
        graphs = graphs[np.flatnonzero(np.diff(graphs.graph_ptr) <= MOST_NODES)]
    return graphs[np.linspace(0, len(graphs) - 1, min(n_graphs, len(graphs))).astype(int)]


def kernels() -> Iterator[tuple[str, str, Any]]:
    """Yield class, name of the setting and kernel."""
    import propkernels as pk

    parts = [pk.PropagationKernel(t_max=2, random_state=0), pk.LabelHistogram(base_kernel="jaccard")]
    yield "SumKernel", "default", pk.SumKernel(parts, weights=[1.0, 0.5])
    for name in sorted(pk.__all__):
        cls = getattr(pk, name)
        parameters = inspect.signature(cls).parameters if hasattr(cls, "fit_transform") else {}
        if "normalize" not in parameters or name == "SumKernel":
            continue
        fixed = {"random_state": 0} if "random_state" in parameters else {}
        for setting, values in settings().items():
            if all(value in parameters for value in values):
                yield name, setting, cls(**fixed | values)


def digests() -> dict[str, str]:
    """Return the SHA-256 of each kernel on each data set, or the error's class if it refuses the graphs."""
    import warnings

    warnings.simplefilter("ignore")
    found = {}
    databases = {(name, n): data_set(name, n) for name in DATA for n in (SMALL, N_GRAPHS)}
    for kind, setting, kernel in kernels():
        for name in DATA:
            graphs = databases[name, SMALL if kind in PAIRWISE else N_GRAPHS]
            found[f"{kind} | {setting} | {name}"] = _digest(kernel, graphs[::2], graphs[1::2])
            print(kind, setting, name, file=sys.stderr)
    return found


def _digest(kernel: Any, known: Any, new: Any) -> str:
    import numpy as np

    try:
        matrices = kernel.fit_transform(known), kernel.transform(new)
    except (ValueError, TypeError) as error:
        return type(error).__name__
    code = hashlib.sha256()
    for matrix in matrices:
        dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        code.update(np.ascontiguousarray(dense, dtype=np.float64).tobytes())
    return code.hexdigest()


def of_tree(tree: Path) -> dict[str, str]:
    """Return the digests that another source tree computes, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)])}
    command = [sys.executable, "-P", str(Path(__file__)), "--digests"]
    done = subprocess.run(
        command, env=environment, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    return dict(json.loads(done.stdout))


def compare(found: Sequence[dict[str, str]]) -> tuple[list[str], list[str]]:
    """Return the cases whose digests are the same in all trees, and those that differ or are missing."""
    cases = sorted(set().union(*found))
    same = [case for case in cases if len({each.get(case) for each in found}) == 1]
    return same, [case for case in cases if case not in set(same)]


def show(trees: Sequence[Path]) -> bool:
    """Print a line per kernel and data set; return whether all digests are the same."""
    found = [of_tree(tree) for tree in trees]
    same, other = compare(found)
    for case in sorted(found[-1]):
        print(f"{case} | {found[-1][case][:16]} | {'same' if case in set(same) else 'DIFFERENT'}")
    refused = sum(len(found[-1].get(case, "")) < 64 for case in same)
    n_same = len(same) - refused
    print(f"{n_same} matrices have the same bits, {refused} are refused alike, {len(other)} differ")
    return not other


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_bits", description=SUMMARY)
    parser.add_argument("trees", nargs="*", type=Path, help="folders that contain src/propkernels")
    parser.add_argument("--digests", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.digests:
        print(json.dumps(digests()))
    elif not show([tree.resolve() for tree in (*options.trees, ROOT)]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
