"""Solvers compared within a training part: folds by scaffold, and records."""

import numpy as np

import propkernels as pk
from reproduction.molecules import within_training
from reproduction.molecules.within_training import Within, measure_missing, scaffold_folds, sentence


def test_no_scaffold_is_in_two_folds_and_folds_are_equally_large():
    groups = np.random.default_rng(0).integers(50, size=300)
    folds = scaffold_folds(groups.tolist())
    assert all(len(set(folds[groups == group].tolist())) == 1 for group in range(50))
    assert np.ptp(np.bincount(folds)) <= np.bincount(groups).max()


def test_only_missing_fits_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(within_training, "SOLVERS", ("linear",))
    data = pk.datasets.make_molecules(60, random_state=0)
    calls = []

    def part():
        calls.append(1)
        return data.graphs, data.target, np.arange(60) // 2

    fits = measure_missing(tmp_path / "folds.jsonl", part)
    assert [fit.fold for fit in fits] == [0, 1, 2]
    assert measure_missing(tmp_path / "folds.jsonl", part) == fits
    assert len(calls) == 1


def test_the_sentence_gives_means_and_folds():
    fits = [Within(solver, fold, 80.0 + fold, 1.0) for solver in ("landmarks", "linear") for fold in (1, 0)]
    assert sentence(fits).startswith('`solver="linear"` had 80.5 (80.0, 81.0) and')
