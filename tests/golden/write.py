"""Write the golden files: once per release, by its own code, never again.

    python -m tests.golden.write 0.3

Every public estimator that can be saved is fitted on fixed small graphs and written to ``VERSION/NAME.pk``;
what it answers on other graphs goes into ``VERSION/answers.json``. Later versions must read the files and
answer the same; see ``tests/storage/test_golden.py``.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk

FOLDER = Path(__file__).parent


def graphs(first: int, last: int) -> pk.GraphDatabase:
    """Small graphs with labels and attributes that no generator of the package had a hand in."""
    parts = []
    for i in range(first, last):
        n = 3 + i % 4
        matrix = np.zeros((n, n))
        for u in range(n):
            v = (u * (i + 1) + 1) % n
            if u != v:
                matrix[u, v] = matrix[v, u] = 1 + (u + v + i) % 2
        labels = [int((u * u + i) % 3) for u in range(n)]
        attributes = [[((3 * u + i) % 7) / 4, ((u + 2 * i) % 5) / 8] for u in range(n)]
        parts.append(pk.GraphDatabase(matrix, [0, n], labels, np.array(attributes)))
    return pk.GraphDatabase.concat(parts)


TRAIN, NEW = (0, 12), (12, 17)
TARGET = [i % 2 for i in range(12)]


def estimators() -> dict[str, Any]:
    """Name -> estimator, not fitted; the names are those of the files."""
    kernels = [pk.PropagationKernel(t_max=1, random_state=0), pk.WeisfeilerLehman(t_max=1)]
    return {
        "PropagationKernel": pk.PropagationKernel(t_max=2, random_state=0),
        "PropagationKernel-hellinger": pk.PropagationKernel(t_max=2, metric="hellinger", random_state=1),
        "PropagationKernel-product": pk.PropagationKernel(t_max=1, attributes="product", random_state=0),
        "PropagationKernel-rbf": pk.PropagationKernel(t_max=1, base_kernel="rbf", random_state=0),
        "PropagationKernel-propagated": pk.PropagationKernel(
            t_max=1,
            attributes=pk.propagation.PropagatedAttributes(),
            n_hashes=2,
            normalize=True,
            random_state=0,
        ),
        "PropagationKernel-schemes": pk.PropagationKernel(
            t_max=2,
            propagation=pk.propagation.LabelPropagation("before"),
            base_kernel="jaccard",
            random_state=0,
        ),
        "PropagationFeatures": pk.PropagationFeatures(t_max=2, random_state=0),
        "PropagationFeatures-hashed": pk.PropagationFeatures(t_max=1, n_features=64, random_state=0),
        "P2K": pk.P2K(t_max=1, random_state=0),
        "WeisfeilerLehman": pk.WeisfeilerLehman(t_max=2),
        "WeisfeilerLehmanFeatures": pk.WeisfeilerLehmanFeatures(t_max=2),
        "ShortestPath": pk.ShortestPath(),
        "ShortestPath-attributes": pk.ShortestPath(attributes="gaussian"),
        "ShortestPathFeatures": pk.kernels.ShortestPathFeatures(),
        "GraphHopper": pk.kernels.GraphHopper(),
        "GraphHopper-attributes": pk.kernels.GraphHopper(attributes="gaussian"),
        "SubgraphMatching": pk.kernels.SubgraphMatching(k=3),
        "SubgraphMatching-attributes": pk.kernels.SubgraphMatching(k=3, attributes="gaussian"),
        "LabelHistogram": pk.kernels.LabelHistogram(),
        "AttributeKernel": pk.kernels.AttributeKernel(),
        "LabelImputer": pk.propagation.LabelImputer(),
        "PropagationClassifier": pk.PropagationClassifier(t_max=1, C=1.0, cv=2, random_state=0),
        "PropagationRegressor": pk.PropagationRegressor(t_max=1, C=1.0, cv=2, random_state=0),
        "PropagationClassifier-gp": pk.PropagationClassifier(
            t_max=1, C=1.0, solver="gp", cv=2, random_state=0
        ),
        "PropagationKernel-grids": pk.PropagationKernel(t_max=2, random_state=0),
        "PropagationKernel-anisotropic": pk.PropagationKernel(
            t_max=1, propagation=pk.propagation.AnisotropicDiffusion(), random_state=0
        ),
        "GrayLevels": pk.images.GrayLevels(),
        "KMeansColors": pk.images.KMeansColors(2, random_state=0),
        "GraphIndex": pk.GraphIndex(random_state=0),
        "SumKernel": pk.SumKernel(kernels),
        "LabelHistogramFeatures": pk.kernels.LabelHistogramFeatures(),
        "DescriptorKernel": pk.kernels.DescriptorKernel(),
        "MoleculesToGraphs": pk.MoleculesToGraphs(node_labels=("symbol",)),
        "NoveltyDetector": pk.NoveltyDetector(random_state=0),
        "NoveltyDetector-WL": pk.NoveltyDetector(kernel=pk.WeisfeilerLehman(t_max=2), random_state=0),
        "SphereExclusion": pk.SphereExclusion(random_state=0),
        "MaxMinPicker": pk.sets.MaxMinPicker(n_graphs=3, random_state=0),
        "GraphIndex-jaccard": pk.GraphIndex(similarity="jaccard", random_state=0),
        "PropagationClassifier-ratio": pk.PropagationClassifier(
            kernel=pk.WeisfeilerLehman(base_kernel="jaccard"), t_max=1, C=1.0, cv=2, random_state=0
        ),
        "PropagationClassifier-edges": pk.PropagationClassifier(
            kernel=pk.PropagationKernel(base_kernel="intersection", random_state=0), t_max=1, C=1.0, cv=2
        ),
        "CoincidingWalkKernel": pk.nodes.CoincidingWalkKernel(t_max=2),
        "NodeFeatures": pk.nodes.NodeFeatures(t_max=1, random_state=0),
        "NodeClassifier": pk.NodeClassifier(C=[1.0], cv=2, random_state=0),
        "NodeRegressor": pk.NodeRegressor(C=[1.0], cv=2, random_state=0),
    }


NODES = ("CoincidingWalkKernel", "NodeFeatures", "NodeClassifier", "NodeRegressor")
MOLECULES = ["CCO", "c1ccccc1O", "CC(=O)N", "C1CC1", "NCC=O"]


def network() -> pk.GraphDatabase:
    """One graph of 30 nodes in two halves, with labels and attributes."""
    n = 30
    matrix = np.zeros((n, n))
    for u in range(n):
        for v in (u + 1, u + 2):
            if v < n and (u < 15) == (v < 15):
                matrix[u, v] = matrix[v, u] = 1
    matrix[14, 15] = matrix[15, 14] = 1
    attributes = [[float(u < 15) + (u % 5) / 4, (u % 7) / 8] for u in range(n)]
    return pk.GraphDatabase(matrix, [0, n], [u % 3 for u in range(n)], np.array(attributes))


def node_target(name: str) -> Any:
    """Targets of the nodes: classes or numbers; two of three nodes have one."""
    if name == "NodeRegressor":
        return np.array([u / 8 if u % 3 else np.nan for u in range(30)])
    return np.array([int(u < 15) if u % 3 else -1 for u in range(30)])


def pictures(first: int, last: int, color: bool = False) -> list[np.ndarray]:
    """Small pictures, gray or in color."""
    rows, columns = np.indices((4, 5))
    gray = [((rows * (i + 2) + columns * columns + i) % 7 * 36).astype(np.uint8) for i in range(first, last)]
    return [np.stack([image, image[::-1], 255 - image], axis=-1) for image in gray] if color else gray


def inputs(name: str, first: int, last: int) -> Any:
    """What an estimator of this name takes."""
    if name.startswith(("Gray", "KMeans")):
        return pictures(first, last, name.startswith("KMeans"))
    if name in NODES:
        return network()
    if name == "MoleculesToGraphs":
        return MOLECULES
    if name == "DescriptorKernel":
        numbers = np.array([[i % 5, (i * i) % 7 / 2] for i in range(first, last)], dtype=float)
        return graphs(first, last).with_descriptors(numbers, ["a", "b"])
    if name in ("PropagationKernel-grids", "PropagationKernel-anisotropic"):
        return pk.GridDatabase([image.astype(int) % 3 for image in pictures(first, last)])
    return graphs(first, last)


def answer(name: str, model: Any) -> Any:
    """What a fitted estimator says of inputs that it has not seen."""
    new = inputs(name, *NEW)
    if name in NODES:
        return answer_nodes(model, new)
    if isinstance(model, pk.sets.MaxMinPicker):
        return model.indices_.tolist()
    if isinstance(model, pk.GraphIndex):
        found = model.query(new, k=4)
        return [found.similarities.tolist(), found.ids.tolist()]
    if hasattr(model, "transform"):
        output = model.transform(new)
        if isinstance(output, (pk.GraphDatabase, pk.GridDatabase)):
            return output.node_labels.tolist()
        return (output.toarray() if hasattr(output, "toarray") else np.asarray(output)).tolist()
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    return np.asarray(getattr(model, name)(new)).tolist()


def answer_nodes(model: Any, graph: pk.GraphDatabase) -> Any:
    """What a fitted model of nodes says of the nodes of a graph."""
    if hasattr(model, "predict"):
        return np.asarray(getattr(model, "predict_proba", model.predict)()).tolist()
    known = node_target("CoincidingWalkKernel") if isinstance(model, pk.nodes.CoincidingWalkKernel) else None
    output = model.transform(graph, known)
    return (output.toarray() if hasattr(output, "toarray") else np.asarray(output)).tolist()


def fit(name: str, model: Any) -> Any:
    train = inputs(name, *TRAIN)
    if name in NODES:
        return model.fit(train, node_target(name))
    if name.startswith(("Novelty", "Sphere")):
        return model.fit(train)
    if isinstance(model, pk.GraphIndex):
        return model.fit(train[:8]).add(train[8:], ids=["a", "b", "c", "d"]).remove([0, "b"])
    if hasattr(model, "predict"):
        target = np.array(TARGET if "Regressor" not in type(model).__name__ else np.arange(12) / 4)
        return model.fit(train, target)
    return model.fit(train)


def codes() -> dict[str, list[list[int]]]:
    """Hash values of fixed graphs, which no later version and no platform may change."""
    found = {}
    for metric in ("tv", "hellinger", "l1", "l2"):
        kernel = pk.PropagationKernel(t_max=2, metric=metric, bin_width=0.1, random_state=7)
        found[metric] = _codes(kernel)
    found["refinement"] = _codes(pk.WeisfeilerLehman(t_max=2))
    return found


def _codes(kernel: Any) -> list[list[int]]:
    coder = kernel.fit(graphs(0, 3))._coder
    found = coder.codes(graphs(0, 3))
    blocks = [found] if hasattr(found, "codes") else list(found)
    return [row for block in blocks for row in block.codes.tolist()]


def code_lines() -> list[str]:
    """The codes as text: which hash, which iteration, and one number per node."""
    every = codes().items()
    return [f"{kind} {t} {' '.join(map(str, row))}" for kind, rows in every for t, row in enumerate(rows)]


def main(version: str) -> None:
    """Write all files of a version."""
    folder = FOLDER / version
    folder.mkdir(exist_ok=True)
    answers = {}
    for name, model in estimators().items():
        pk.save_model(fit(name, model), folder / f"{name}.pk")
        answers[name] = answer(name, model)
    text = json.dumps({"version": pk.__version__, "answers": answers}, indent=None)
    (folder / "answers.json").write_text(text + "\n", encoding="utf-8")
    (folder / "codes.txt").write_text("\n".join(code_lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
