"""Whether source trees compute the same bits: ``python -m benchmarks.same_bits TREE [TREE ...]``.

In each tree (a folder that contains ``src/propkernels``; this one is always the last), in a separate process,
every kernel of ``KERNELS`` is fitted on the graphs with even numbers of some data sets, with its default
parameters and with each of ``settings`` that it has; and every model of ``models`` is fitted, predicts and
explains. Results for these graphs and for the others are compared by their SHA-256.

Names are looked up at the top of the package and in all of its public packages, so a name may have moved; one
that a tree does not have is an error. ``changed.txt`` lists the cases that were changed on purpose.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUMMARY = "Compare kernels, predictions and explanations of source trees by their SHA-256."
CHANGED = Path(__file__).with_name("changed.txt")  # "pattern: reason" per line, patterns as in fnmatch
KERNELS = (
    "AttributeKernel",
    "DescriptorKernel",
    "GraphHopper",
    "LabelHistogram",
    "LabelHistogramFeatures",
    "P2K",
    "PropagationFeatures",
    "PropagationKernel",
    "ShortestPath",
    "ShortestPathFeatures",
    "SubgraphMatching",
    "WeisfeilerLehman",
    "WeisfeilerLehmanFeatures",
)
DATA = ("MUTAG", "ENZYMES", "BZR", "PROTEINS_full", "DIGITS")
N_GRAPHS = 300  # per data set
SMALL = 40  # graphs per data set for kernels that compare pairs of graphs
PAIRWISE = ("GraphHopper", "SubgraphMatching", "AttributeKernel", "ShortestPath")
MOST_NODES = 40  # per graph of these kernels


@cache
def find(name: str) -> Any:
    """Return the public class or function of that name, from the top or a package of propkernels."""
    import propkernels as pk

    folders = sorted(path.parent.name for path in Path(pk.__file__).parent.glob("[a-z]*/__init__.py"))
    for place in ("", *(f".{folder}" for folder in folders)):
        module = importlib.import_module(f"propkernels{place}")
        if name in getattr(module, "__all__", ()):
            return getattr(module, name)
    raise LookupError(f"{pk.__file__} has no public name {name}")


def settings() -> dict[str, dict[str, Any]]:
    """Return parameters by name; a kernel is tried with those that it has."""
    return {
        "default": {},
        "l1": {"metric": "l1"},
        "l2, wide bins": {"metric": "l2", "bin_width": 0.01},
        "hellinger": {"metric": "hellinger"},
        "three hashes": {"n_hashes": 3},
        "degrees": {"labels": "degree"},
        "no labels": {"labels": None},
        "edge labels": {"edge_labels": True},
        "normalized": {"normalize": True},
        "intersection": {"base_kernel": "intersection"},
        "jaccard": {"base_kernel": "jaccard"},
        "tanimoto": {"base_kernel": "tanimoto"},
        "rbf": {"base_kernel": "rbf"},
        "hashed columns": {"n_features": 2**12},
        "sums": {"propagation": find("Diffusion")(0.5, "none")},
        "symmetric": {"propagation": find("Diffusion")(normalization="symmetric"), "bin_width": 1e-3},
        "label propagation": {"propagation": find("LabelPropagation")()},
        "label spreading": {"propagation": find("LabelSpreading")(0.7)},
        "partial absorption": {"propagation": find("PartialAbsorption")(0.3)},
        "belief propagation": {"propagation": find("BeliefPropagation")()},
        "eight neighbors": {"propagation": find("Convolution")((1, 8))},
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
    parts = [
        find("PropagationKernel")(t_max=2, random_state=0),
        find("LabelHistogram")(base_kernel="jaccard"),
    ]
    yield "SumKernel", "default", find("SumKernel")(parts, weights=[1.0, 0.5])
    for name in KERNELS:
        cls = find(name)
        parameters = inspect.signature(cls).parameters
        fixed = {"random_state": 0} if "random_state" in parameters else {}
        for setting, values in settings().items():
            if all(value in parameters for value in values):
                yield name, setting, cls(**fixed | values)


def models() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a name and a function that fits a model and returns its results."""
    import networkx as nx
    import numpy as np

    import propkernels as pk

    def learn(model: Any, graphs: Any, target: Any, *methods: str) -> list[Any]:
        model.fit(graphs[::2], target[::2])
        found = [getattr(model, method)(graphs[1::2]) for method in methods]
        explanation = model.explain(graphs[1:9])
        return [*found, explanation.contributions, explanation.decisions, explanation.intercept]

    mutag, enzymes, families = (pk.datasets.load(name) for name in ("MUTAG", "ENZYMES", "FAMILIES"))
    sizes = families.graphs.graph_sizes.astype(float)
    classes = "predict", "decision_function", "predict_proba"
    some = np.arange(0, 600, 3)
    karate = nx.karate_club_graph()
    clubs = np.array([0 if karate.nodes[v]["club"] == "Mr. Hi" else 1 for v in karate])
    known = np.where(np.arange(34) % 2, clubs, -1)
    for solver in ("auto", "linear", "gp"):
        model = find("PropagationClassifier")(solver=solver, random_state=0)
        yield f"classifier, {solver} | MUTAG", partial(learn, model, mutag.graphs, mutag.target, *classes)
    model = find("PropagationClassifier")(random_state=0)
    yield "classifier | FAMILIES", partial(learn, model, families.graphs, families.target, *classes)
    model = find("PropagationClassifier")(kernel=find("WeisfeilerLehman")(), t_max=3, C=10, random_state=0)
    yield "classifier | ENZYMES", partial(learn, model, enzymes.graphs[some], enzymes.target[some], *classes)
    yield (
        "regressor | FAMILIES",
        partial(learn, find("PropagationRegressor")(random_state=0), families.graphs, sizes, "predict"),
    )
    nodes = find("NodeClassifier")(random_state=0)
    yield "nodes | karate club", lambda: [nodes.fit(karate, known).predict(), nodes.predict_proba()]
    novelty = find("NoveltyDetector")(random_state=0)
    yield (
        "novelty | MUTAG",
        lambda: [
            novelty.fit(mutag.graphs[::2]).score_samples(mutag.graphs[1::2]),
            novelty.predict_p(mutag.graphs),
        ],
    )
    index = find("GraphIndex")(kernel=find("WeisfeilerLehman")(t_max=3), similarity="jaccard")
    yield "index | MUTAG", lambda: list(index.fit(mutag.graphs[::2]).query(mutag.graphs[1::2], k=5))
    spheres = find("SphereExclusion")(threshold=0.6, kernel=find("WeisfeilerLehman")(t_max=3))
    yield "clusters | MUTAG", lambda: [spheres.fit(mutag.graphs).labels_]
    yield (
        "hashes and alignment | MUTAG",
        lambda: [
            [int(find("graph_hash")(graph), 16) % 2**52 for graph in mutag.graphs[:20]],
            [find("align")(mutag.graphs[0], graph).cost for graph in mutag.graphs[1:20]],
        ],
    )
    kernel = find("WeisfeilerLehman")().fit(mutag.graphs)
    first, *rest = mutag.graphs[:6]
    shared = [find("similar_because")(kernel=kernel, g=first, h=other) for other in rest]
    yield "shared parts | MUTAG", lambda: [[bin.contribution for bin in each.bins] for each in shared]


def digests() -> dict[str, str]:
    """Return the SHA-256 of each result, or the error's class if a kernel refuses the graphs."""
    warnings.simplefilter("ignore")
    found = {}
    databases = {(name, n): data_set(name, n) for name in DATA for n in (SMALL, N_GRAPHS)}
    for kind, setting, kernel in kernels():
        for name in DATA:
            graphs = databases[name, SMALL if kind in PAIRWISE else N_GRAPHS]
            try:
                matrices = kernel.fit_transform(graphs[::2]), kernel.transform(graphs[1::2])
                found[f"{kind} | {setting} | {name}"] = digest(*matrices)
            except (ValueError, TypeError) as error:
                found[f"{kind} | {setting} | {name}"] = type(error).__name__
            print(kind, setting, name, file=sys.stderr)
    for name, results in models():
        found[name] = digest(*results())
        print(name, file=sys.stderr)
    return found


def digest(*arrays: Any) -> str:
    """Return the SHA-256 of arrays, dense or sparse, as float64."""
    import numpy as np

    code = hashlib.sha256()
    for array in arrays:
        dense = array.toarray() if hasattr(array, "toarray") else array
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


def changed_on_purpose(cases: Sequence[str]) -> list[str]:
    """Return the cases that a pattern of ``changed.txt`` names."""
    lines = [line for line in CHANGED.read_text().splitlines() if line and not line.startswith("#")]
    patterns = [line.split(":")[0].strip() for line in lines]
    return [case for case in cases if any(fnmatch(case, pattern) for pattern in patterns)]


def show(trees: Sequence[Path]) -> bool:
    """Print a line per case; return whether all digests are the same, but for changes on purpose."""
    found = [of_tree(tree) for tree in trees]
    same, other = compare(found)
    meant = changed_on_purpose(other)
    for case in sorted(set().union(*found)):
        word = "same" if case in same else "changed on purpose" if case in meant else "DIFFERENT"
        print(f"{case} | {found[-1].get(case, 'missing')[:16]} | {word}")
    refused = sum(len(found[-1][case]) < 64 for case in same)
    print(f"{len(same) - refused} results have the same bits, {refused} are refused alike,")
    print(f"{len(meant)} were changed on purpose, {len(other) - len(meant)} differ or are missing")
    return len(meant) == len(other)


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
