"""Measured pages: those in the repository are what their records say; each protocol in miniature."""

import importlib
import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from reproduction.__main__ import PAGES
from reproduction.experiments import worked_example
from reproduction.extra import (
    animation,
    defaults,
    fair,
    folds_of_defaults,
    nodes,
)
from reproduction.extra.folds_of_defaults import FoldResult, accuracies
from reproduction.molecules import scaffold_splits

ROOT = Path(__file__).parents[2]
DATA = pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)
RESULT = FoldResult(
    "MUTAG", 0, 0, 8, 10, "Kernel(); t_max=1, normalize=True, C=1", 0.9, 1.0, 0.5, 0.1, [[14, 10, 9.0, 8]]
)


@pytest.fixture(autouse=True)
def _empty_caches():
    for cached in (folds_of_defaults.load, fair.load, nodes.read):
        cached.cache_clear()
    yield
    for cached in (folds_of_defaults.load, fair.load, nodes.read):
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
