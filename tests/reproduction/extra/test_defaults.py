"""The default model by command: folds are kept, pages are written, nothing is computed twice."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from reproduction.extra import defaults, fair, folds_of_defaults
from reproduction.extra.folds_of_defaults import FoldResult, Kept, accuracies, standard_error

DATA = pk.datasets.make_molecules(40, random_state=0)
RESULT = FoldResult("MUTAG", 0, 0, 8, 10, "Kernel(); t_max=1, normalize=True, C=1", 0.9, 1.0, 0.5)


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
    assert standard_error(results) == pytest.approx(10.0)
    both = [*results, *(replace(result, repeat=1, correct=10) for result in results)]
    assert accuracies(both) == [90.0, 100.0]
    assert standard_error(both) == pytest.approx(5.0)


@pytest.mark.slow
def test_what_is_kept_is_not_computed_again(quick, tmp_path):
    table = defaults.run(["MUTAG"], 1, tmp_path, tmp_path / "page.md", 1)
    assert len(quick) == 10
    assert set(quick) == {36}
    assert "| MUTAG | 87.0 |" in table
    assert table in (tmp_path / "page.md").read_text()
    assert defaults.run(["MUTAG"], 1, tmp_path, tmp_path / "page.md", 1) == table
    assert len(quick) == 10


def test_unfinished_sets_say_so(tmp_path):
    kept = Kept(tmp_path / "defaults.jsonl")
    kept.add(RESULT)
    assert "1 folds of 10" in defaults.write_page(kept, tmp_path / "page.md")
    assert Kept(tmp_path / "defaults.jsonl").results == [RESULT]


def test_repeats_without_all_their_folds_are_left_out_where_one_is_complete(tmp_path):
    kept = Kept(tmp_path / "defaults.jsonl")
    for fold in range(10):
        kept.add(replace(RESULT, fold=fold))
    kept.add(replace(RESULT, repeat=1, correct=0))
    assert "| 80.0 ± 0.0 | no (-7.00) | 84.5 | 1 |" in defaults.write_page(kept, tmp_path / "page.md")


@pytest.mark.parametrize(
    "run", [lambda p: defaults.run(["X"], 1, p, p, 1), lambda p: fair.run(["X"], p, p, 1)]
)
def test_unknown_sets(run, tmp_path):
    with pytest.raises(ValueError, match="the data set 'X' is not here"):
        run(tmp_path)


@pytest.mark.slow
def test_fair_folds_are_those_of_the_file(quick, tmp_path, monkeypatch):
    parts = np.array_split(np.random.default_rng(0).permutation(40), 10)
    folds = []
    for test in parts:
        rest = [int(i) for i in range(40) if i not in test]
        split = {"train": rest[4:], "validation": rest[:4]}
        folds.append({"test": test.tolist(), "model_selection": [split]})
    with zipfile.ZipFile(tmp_path / "fair_splits.zip", "w") as archive:
        archive.writestr("ENZYMES.json", json.dumps(folds))
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    table = fair.run(["ENZYMES"], tmp_path, tmp_path / "page.md", 1)
    assert quick == [36] * 10
    assert "| ENZYMES | 65.2 (a baseline without edges) |" in table
    assert [split[3].tolist() for split in fair.read_splits("ENZYMES")] == [fold["test"] for fold in folds]


def test_splits_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="set PROPKERNELS_DATA"):
        fair.read_splits("DD")


def test_rows_that_are_not_computed_again_stay(tmp_path):
    page, rest = tmp_path / "page.md", "\n## What edge labels do\n\nText.\n\n| MUTAG | 188 |\n"
    page.write_text("| data set | aim |\n|---|---|\n| MUTAG | 87.0 |\n| NCI1 | 86.5 |\n" + rest)
    kept = Kept(tmp_path / "defaults.jsonl")
    kept.add(RESULT)
    table = defaults.write_page(kept, page)
    assert "| NCI1 | 86.5 |" in table
    assert "| MUTAG | 87.0 |\n" not in table
    assert page.read_text().endswith(rest)
