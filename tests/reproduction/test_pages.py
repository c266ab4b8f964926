"""Measured pages: those in the repository are what their records say; each protocol in miniature."""

import importlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from reproduction.__main__ import PAGES
from reproduction.experiments import worked_example
from reproduction.extra import animation, fair, folds_of_defaults, nodes
from reproduction.molecules import scaffold_splits

ROOT = Path(__file__).parents[2]
DATA = pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)


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


@pytest.mark.parametrize(
    "name", ["defaults", "fair", "novelty", "nodes", "scaffolds", "coverage", "temporal"]
)
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


def test_results_of_nodes_are_means_over_seeds(tmp_path):
    ours = [(split, seed, nodes.OURS, 0.6 + 0.2 * split + 0.02 * seed) for split in (0, 1) for seed in (1, 2)]
    results = [
        nodes.NodeResult("texas", split, seed, 0, method, score, 1.0, "")
        for split, seed, method, score in [*ours, (1, 0, nodes.SPREADING, 0.3)]
    ]
    nodes.write_page(results, tmp_path / "page.md", "today")
    page = (tmp_path / "page.md").read_text()
    assert "| texas | 1 | 83.0 | 30.0 | - | - |" in page
    assert "| 73.0 ± 1.4 | 14.1 | 4 | 1.0 |" in page  # 72 and 74 by seed, 62 and 82 by split of the first
