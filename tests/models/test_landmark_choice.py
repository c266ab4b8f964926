"""Kernel values with landmarks, and their sums over folds."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models import landmark_choice as module
from propkernels.models.folds import choosing_folds
from propkernels.models.landmark_choice import (
    LandmarkSource,
    choose_landmarks,
    kernel_rows,
    landmark_count,
    parts_of,
)

DATA = pk.datasets.make_molecules(60, random_state=0)
FOLDS = choosing_folds(DATA.target, 4)
WEIGHTS = np.random.default_rng(0).random(60)


def source_of(folds=FOLDS, weights=WEIGHTS, n_jobs=None):
    kernel = pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard").fit(DATA.graphs)
    chosen = choose_landmarks(DATA.target, 30, seed=0)
    rows = kernel_rows(kernel, DATA.graphs, chosen)
    return LandmarkSource(rows, chosen, parts_of(folds, 60), weights).with_products(n_jobs)


def test_rows_are_columns_of_the_kernel(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 7)
    source = source_of()
    kernel = pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard").fit_transform(DATA.graphs)
    np.testing.assert_array_equal(source.rows, kernel[:, source.landmarks].astype(np.float32))


def test_rare_classes_are_landmarks_up_to_their_share():
    target = np.repeat([0, 1, 2], [3, 30, 100])
    counts = np.bincount(target[choose_landmarks(target, 60, seed=1)])
    assert counts.tolist() == [3, 28, 29]
    assert len(choose_landmarks(target.astype(float), 60, seed=1)) == 60
    assert np.array_equal(choose_landmarks(target, 60, 5), choose_landmarks(target, 60, 5))
    assert not np.array_equal(choose_landmarks(target, 60, 5), choose_landmarks(target, 60, 6))


def test_memory_is_bounded():
    for n_graphs in (1, 30_000, 10**6, 10**12):
        assert 1 <= landmark_count(n_graphs) <= max(module.MOST_VALUES // n_graphs, 1)


def test_parts_are_never_cut():
    parts = parts_of([*FOLDS, (FOLDS[0][0], FOLDS[0][1][:3])], 60)
    assert sorted(np.concatenate(parts).tolist()) == list(range(60))
    for _, test in FOLDS:
        assert all(np.isin(part, test).all() or not np.isin(part, test).any() for part in parts)
    assert len(parts_of([FOLDS[0]] * 11, 60)) == 1


@pytest.mark.parametrize("folds", [FOLDS, ()])
def test_equations_are_sums_over_training_graphs(folds, monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    source = source_of(folds)
    train, test = FOLDS[1]
    part = source.slice(train, test, scaled=True)
    columns, weights = np.random.default_rng(1).normal(size=(len(train), 2)), WEIGHTS[train]
    inside = np.isin(source.landmarks, train)
    rows = source.rows.astype(np.float64)[:, inside] / part.unit
    found = part.known.equations(columns, weights)
    np.testing.assert_allclose(found.products, rows[train].T @ (weights[:, None] * rows[train]), rtol=1e-12)
    right = weights[:, None] * np.column_stack([columns, np.ones(len(train))])
    np.testing.assert_allclose(found.sides, rows[train].T @ right, rtol=1e-12)
    np.testing.assert_allclose(part.known.between, rows[source.landmarks[inside]])
    assert np.array_equal(train[part.known.places], source.landmarks[inside])
    table = np.random.default_rng(2).normal(size=(len(train), 3))
    expected = rows[test] @ table[part.known.places]
    np.testing.assert_allclose(part.unknown @ table, expected, rtol=1e-12)


def test_other_graphs_and_weights_are_summed_anew():
    source, (train, test) = source_of(), FOLDS[0]
    other = train[::2]
    found = source.products_of(other, WEIGHTS[other])
    rows = source.rows.astype(np.float64)
    np.testing.assert_allclose(found, rows[other].T @ (WEIGHTS[other][:, None] * rows[other]), rtol=1e-12)
    found = source.products_of(train, np.ones(len(train)))
    np.testing.assert_allclose(found, rows[train].T @ rows[train], rtol=1e-12)
    twice = np.concatenate([train, train[:1]])
    found = source.products_of(twice, WEIGHTS[twice])
    np.testing.assert_allclose(found, rows[twice].T @ (WEIGHTS[twice][:, None] * rows[twice]), rtol=1e-12)
    assert len(source.slice(train, test, False).unknown @ np.zeros((len(train), 1))) == len(test)


def test_threads_do_not_change_bits():
    one, two = source_of(n_jobs=1), source_of(n_jobs=2)
    assert all(map(np.array_equal, one.products, two.products))
