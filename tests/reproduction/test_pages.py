"""Measured pages: those in the repository are what their records say; each protocol in miniature."""

import importlib
import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.datasets import Dataset
from reproduction.__main__ import PAGES
from reproduction.experiments import worked_example
from reproduction.extra import (
    animation,
    choices,
    defaults,
    edge_labels,
    fair,
    folds_of_defaults,
    nodes,
    novelty,
    temporal,
)
from reproduction.extra.folds_of_defaults import FoldResult, accuracies
from reproduction.molecules import activity_cliffs, coverage, many_draws, scaffold_splits, sets

ROOT = Path(__file__).parents[2]
DATA = pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)
RESULT = FoldResult(
    "MUTAG", 0, 0, 8, 10, "Kernel(); t_max=1, normalize=True, C=1", 0.9, 1.0, 0.5, 0.1, [[14, 10, 9.0, 8]]
)


@pytest.fixture(autouse=True)
def _empty_caches():
    caches = (folds_of_defaults.load, fair.load, temporal.load, novelty.load, nodes.read, edge_labels.load)
    caches += (coverage.load,)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def quick(monkeypatch):
    """Small graphs in place of the data sets, and a model with one setting; counts its fits."""
    fits = []

    class Quick(pk.PropagationClassifier):
        def fit(self, X, y):
            fits.append(len(X))
            return self.set_params(kernel=pk.PropagationKernel(), t_max=1, C=10) and super().fit(X, y)

    monkeypatch.setattr(folds_of_defaults.pk, "PropagationClassifier", Quick)
    monkeypatch.setattr(pk.datasets, "load", lambda name: DATA)
    return fits


def test_accuracies_and_errors():
    results = [replace(RESULT, fold=f, correct=c) for f, c in enumerate((8, 10))]
    assert accuracies(results) == [90.0]
    both = [*results, *(replace(result, repeat=1, correct=10) for result in results)]
    assert accuracies(both) == [90.0, 100.0]
    cells = defaults.row("MUTAG", both, results)
    assert cells[1:3] == ["95.0 ± 7.1", "+0.0 ± 0.0"]  # the difference is that of common folds
    chances, truth = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [0.55, 0.45]]), np.array([0, 1, 1, 0])
    loss, sure = folds_of_defaults.judged(chances, truth)
    assert loss == pytest.approx(-np.mean(np.log([0.9, 0.7, 0.4, 0.55])), abs=1e-4)
    one = replace(RESULT, log_loss=loss, sure=sure)
    expected = (0.1 + 0.3 + 0.6 + 0.45) / 4  # each graph in a bin of its own
    assert folds_of_defaults.calibration_error([one]) == pytest.approx(expected, abs=1e-3)
    assert defaults.row("MUTAG", [one], [])[5:7] == [f"{loss:.3f}", f"{expected:.3f}"]
    whole = [replace(RESULT, fold=fold) for fold in range(10)]
    assert defaults.complete([*whole, replace(RESULT, repeat=1)]) == whole


@pytest.mark.slow
def test_defaults(quick, tmp_path):
    table = defaults.run(["MUTAG"], tmp_path, tmp_path / "page.md", repeats=1, jobs=1)
    assert quick == [54] * 10
    assert "| MUTAG | " in table
    assert table in (tmp_path / "page.md").read_text()
    assert defaults.run(["MUTAG"], tmp_path, tmp_path / "page.md", repeats=1, jobs=1) == table
    assert len(quick) == 10  # what is kept is not measured again
    with pytest.raises(ValueError, match="'X' is not here: choose among"):
        defaults.run(["X"], tmp_path, tmp_path / "page.md")


@pytest.mark.slow
def test_fair_folds_are_those_of_the_file(quick, tmp_path, monkeypatch):
    folds = []
    for test in np.array_split(np.random.default_rng(0).permutation(60), 10):
        rest = [int(i) for i in range(60) if i not in test]
        parts = {"train": rest[4:], "validation": rest[:4]}
        folds.append({"test": test.tolist(), "model_selection": [parts]})
    with zipfile.ZipFile(tmp_path / "fair_splits.zip", "w") as archive:
        archive.writestr("ENZYMES.json", json.dumps(folds))
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    table = fair.run(["ENZYMES"], tmp_path, tmp_path / "page.md", jobs=1)
    assert quick == [54] * 10
    assert "| ENZYMES | 65.2 (a baseline without edges) |" in table
    assert fair.split(None, ("ENZYMES", 0, 3))[1].tolist() == folds[3]["test"]


@pytest.mark.slow
def test_temporal_measures_both_views(tmp_path, monkeypatch):
    """In class 1, vertex 1 meets 2 before 2 meets 3: only a model in time sees it."""
    pytest.importorskip("pandas")
    lines = {"A": "", "edge_attributes": "", "graph_indicator": "", "graph_labels": "", "node_labels": ""}
    for number in range(24):
        base, order = 3 * number, (1, 2) if number % 2 else (2, 1)
        lines["A"] += f"{base + 1}, {base + 2}\n{base + 2}, {base + 3}\n"
        lines["edge_attributes"] += f"{order[0]}\n{order[1]}\n"
        lines["graph_indicator"] += f"{number + 1}\n" * 3
        lines["graph_labels"] += f"{number % 2}\n"
        lines["node_labels"] += "0, 1\n0, 0\n0, 0\n"
    with zipfile.ZipFile(tmp_path / "temporal.zip", "w") as archive:
        for kind, text in lines.items():
            archive.writestr(f"dblp_ct1/dblp_ct1_{kind}.txt", text)
    monkeypatch.setattr(temporal, "FOLDS", 2)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    cells = temporal.run(["dblp_ct1"], tmp_path, tmp_path / "page.md", jobs=1).splitlines()[2].split(" | ")
    assert cells[2:4] == ["100.0 ± 0.0", "2 of 2"]
    assert float(cells[1].split(" ")[0]) < 70


@pytest.mark.slow
def test_edge_labels_are_compared_on_the_same_folds(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(40):  # the class is the label of most edges: no kernel without them can see it
        graph = nx.cycle_graph(int(rng.integers(5, 9)))
        nx.set_node_attributes(graph, "C", "label")
        nx.set_edge_attributes(graph, "single" if number % 2 else "double", "label")
        graphs.append(graph)
    database = pk.from_networkx(graphs, edge_label="label")
    monkeypatch.setattr(pk.datasets, "load", lambda name: Dataset("rings", database, np.arange(40) % 2))
    edge_labels.main(["--dataset", "MUTAG", "-o", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.count("| 100.0 |") == 4
    assert "| MUTAG | 40 | Weisfeiler-Lehman |" in printed


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A graph of two classes under the name of a published one."""
    rng, n, buffer = np.random.default_rng(0), 160, BytesIO()
    labels, edges = np.repeat([0, 1], n // 2), rng.integers(0, n, (2, 400))
    parts = {"n_nodes": n, "edges": edges[:, edges[0] != edges[1]], "labels": labels, "x_shape": [n, 2]}
    parts |= {"x_data": (np.eye(2)[labels] + rng.random((n, 2))).ravel(), "x_indices": np.tile([0, 1], n)}
    np.savez(buffer, x_indptr=np.arange(n + 1) * 2, **parts)
    with zipfile.ZipFile(tmp_path / "nodes.zip", "w") as file:
        file.writestr("amazon_photo.npz", buffer.getvalue())
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    return tmp_path


def test_random_splits_of_nodes(archive):
    train, validation, test = nodes.split_of("amazon_photo", 0)
    labels = nodes.read("amazon_photo").labels
    assert np.bincount(labels[train]).tolist() == [20, 20]
    assert np.bincount(labels[validation]).tolist() == [30, 30]
    assert sorted([*train, *validation, *test]) == list(range(len(labels)))
    few, none, rest = nodes.few_of("amazon_photo", 0, 5)
    assert (len(few), len(none), len(rest)) == (10, 0, len(labels) - 10)
    joined = csr_array(np.kron(np.eye(2), np.ones((3, 3))) + np.eye(6, k=3) + np.eye(6, k=-3))
    apart = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    for adjacency, size in ((joined, 6), (apart, 2)):
        n_nodes = adjacency.shape[0]
        found = nodes.largest_component(
            nodes.Nodes(adjacency, csr_array(np.eye(n_nodes)), np.arange(n_nodes), None)
        )
        assert found.labels.tolist() == list(range(size))


@pytest.mark.slow
def test_nodes(archive, monkeypatch):
    monkeypatch.setattr(nodes, "CURVE", (2,))
    table = nodes.run(["amazon_photo"], archive / "results", archive / "page.md", repeats=1)
    assert "| amazon_photo |" in table
    assert "coinciding walks" in (archive / "page.md").read_text()
    lines = (archive / "results" / "nodes.jsonl").read_text().splitlines()
    assert len(lines) == 6  # four methods, two curves


def test_methods_are_compared_on_the_splits_that_all_have(tmp_path):
    measured = [(0, nodes.OURS, 0.8), (1, nodes.OURS, 0.6), (0, nodes.SPREADING, 0.3)]
    results = [
        nodes.NodeResult("texas", split, 0, method, score, 1.0, "") for split, method, score in measured
    ]
    fits = [nodes.LargeFit("planted", 10**6, 10**7, 100, took, 80.0, 2000, 3500, 0.99) for took in (99, 77)]
    nodes.write_page(results, tmp_path / "page.md", fits)
    page = (tmp_path / "page.md").read_text()
    assert "| texas | 1 | 80.0 | 30.0 | - | - |" in page
    assert "| planted | 1,000,000 | 10,000,000 | 100 | 77.0 | 80.0 | 2,000 | 3,500 | 99.0 |" in page


@pytest.mark.slow
def test_novelty(quick, tmp_path):
    train, test, is_normal = novelty.split(DATA.graphs[:40], DATA.graphs[40:], 0)
    assert (len(train), len(test), int(is_normal.sum())) == (36, 8, 4)
    novelty.run(["BZR", "class BZR"], tmp_path, tmp_path / "page.md", repeats=2, jobs=1)
    page = (tmp_path / "page.md").read_text()
    assert "| BZR/COX2 | 95.0 |" in page
    assert "| BZR (class) |" in page


RINGS = ["c1ccccc1", "C1CCCC1", "C1CCCCC1", "c1ccncc1", "C1CCOC1"]
SMILES = [RINGS[n % 5] + "C" * n + end for n in range(1, 16) for end in ("O", "N", "Cl", "F")]


@pytest.fixture
def molecules(tmp_path, monkeypatch):
    """Sets of classes and of numbers; a row cannot be read."""
    pytest.importorskip("rdkit")
    rows = [f"{text},{text[-1] in 'ON':d},{len(text) + i % 2}" for i, text in enumerate(SMILES)]
    parts = [f",{i % 3 == 0:d},{'test' if i % 4 == 0 else 'train'}" for i in range(len(SMILES))]
    published = "dataset,algorithm,descriptor,rmse,cliff_rmse\nA_Ki,SVM,ECFP,0.5,0.6\nA_Ki,RF,ECFP,0.4,0.9\n"
    with zipfile.ZipFile(tmp_path / "moleculenet.zip", "w") as file:
        file.writestr("bace.csv", "\n".join(["smiles,Class,pIC50", *rows, "C(C,1,2"]) + "\n")
        file.writestr("FreeSolv_SAMPL.csv", "\n".join(["smiles,other,expt", *rows]))
    with zipfile.ZipFile(tmp_path / "moleculeace.zip", "w") as file:
        table = [row + part for row, part in zip(rows, parts, strict=True)]
        file.writestr("data/A_Ki.csv", "\n".join(["smiles,other,y,cliff_mol,split", *table]))
        file.writestr("results/MoleculeACE_results.csv", published)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))


@pytest.mark.parametrize("split", sets.SPLITS)
def test_folds_cover_all_molecules_once(molecules, split):
    data = sets.load("BACE")
    assert (len(data.mols), data.n_unread) == (len(SMILES), 1)
    parts = sets.folds(data, split)
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(len(SMILES)))
    groups = pk.molecules.scaffolds(data.mols)
    apart = [not set(groups[train]) & set(groups[test]) for train, test in parts]
    assert all(apart) == (split == sets.SCAFFOLD)


@pytest.mark.slow
def test_activity_cliffs(molecules, tmp_path):
    found = activity_cliffs.run(["A_Ki"], tmp_path, tmp_path / "page.md", repeats=1)
    assert "| RF on ECFP | 0.400 | " in (tmp_path / "page.md").read_text()
    assert "the best of 2 published methods, RF on ECFP: 0.400" in found


@pytest.mark.slow
@pytest.mark.parametrize("method", coverage.METHODS)
def test_every_method_has_intervals(method, molecules):
    if method == coverage.FOREST:
        pytest.importorskip("mapie")
    fold = coverage.measure("FreeSolv", sets.RANDOM, 0, method)
    assert fold.tested == [12]
    assert fold.covered[0] >= 8
    assert np.isfinite(fold.width)


@pytest.mark.slow
@pytest.mark.parametrize("is_class", [False, True])
def test_draws_count_covered_molecules(is_class, monkeypatch):
    monkeypatch.setattr(many_draws, "TRAINING", 60)
    made = pk.datasets.make_molecules(200, random_state=0)
    noisy = np.diff(made.graphs.graph_ptr) + np.random.default_rng(0).normal(size=200)
    target = np.asarray(made.target if is_class else noisy, dtype=float)[:, None]
    data = sets.Molecules("ESOL", [None] * 200, target, is_class, 0)
    draws = [many_draws.measure("ESOL", draw, lambda name: (data, made.graphs), 0.8) for draw in range(2)]
    assert all(0.5 * 140 < one.covered <= one.tested == 140 for one in draws)
    assert "| ESOL | 2 |" in many_draws.section(draws)


@pytest.mark.parametrize("seed", range(5))
def test_scaffolds_are_split_by_the_rule_of_ogb(seed):
    groups = np.random.default_rng(seed).zipf(1.6, size=200) % 60
    members = [np.flatnonzero(groups == group).tolist() for group in np.unique(groups)]
    train, valid, test = [], [], []
    for one in sorted(members, key=lambda some: (len(some), some[0]), reverse=True):
        if len(train) + len(one) <= 160:
            train += one
        elif len(train) + len(valid) + len(one) <= 180:
            valid += one
        else:
            test += one
    found = scaffold_splits.scaffold_split(groups)
    assert [part.tolist() for part in found] == [sorted(part) for part in (train, valid, test)]


@pytest.mark.parametrize("name", ["defaults", "fair", "novelty", "scaffolds", "coverage"])
def test_the_page_is_what_its_records_say(name, tmp_path, monkeypatch):
    """Records are complete: nothing is measured. After a change of a page's text, write it again."""
    page = importlib.import_module(f"reproduction.{PAGES[name][0]}")
    monkeypatch.setattr("reproduction.extra.records.keep_records", None)
    page.run([], ROOT / "reproduction" / "records", tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text() == (ROOT / "docs" / "measured" / f"{name}.md").read_text()


def test_the_animation_is_that_of_the_computation():
    assert animation.PICTURE.read_text(encoding="utf-8") == animation.animation()
    first, second = (step.contribution for step in worked_example.compute())
    assert f"K = {first} + {second} = {first + second}" in animation.animation()


@pytest.mark.slow
def test_each_difference_is_seen_by_one_kernel_and_missed_by_another():
    _, columns, values = choices.table()
    assert values.shape[1] == len(columns)
    assert (np.isclose(values, 1) | np.isnan(values)).any(axis=0)[1:].all()
    assert (values < 0.99).any(axis=0).all()
