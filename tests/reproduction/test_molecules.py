"""Molecules beside fingerprints, on activity cliffs, new scaffolds, and coverage: in miniature."""

import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import propkernels as pk
from reproduction.molecules import (
    activity_cliffs,
    coverage,
    heads,
    many_draws,
    scaffold_splits,
    sets,
)
from reproduction.molecules.coverage import CONFORMAL, FOREST, GROUPED, PROCESS

pytest.importorskip("rdkit")
pytest.importorskip("pandas")
RINGS = ["c1ccccc1", "C1CCCC1", "C1CCCCC1", "c1ccncc1", "C1CCOC1"]
SMILES = [RINGS[n % 5] + "C" * n + end for n in range(1, 16) for end in ("O", "N", "Cl", "F")]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Sets of classes and of numbers; a row cannot be read."""
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
    caches = (coverage.load,)
    for cached in caches:
        cached.cache_clear()
    yield tmp_path
    for cached in caches:
        cached.cache_clear()


@pytest.mark.parametrize("split", sets.SPLITS)
def test_folds_cover_all_molecules_once(archive, split):
    data = sets.load("BACE")
    assert (len(data.mols), data.n_unread) == (len(SMILES), 1)
    parts = sets.folds(data, split)
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(len(SMILES)))
    if split == sets.SCAFFOLD:
        groups = pk.molecules.scaffolds(data.mols)
        assert all(not set(groups[train]) & set(groups[test]) for train, test in parts)


def test_tanimoto_in_slices_has_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    first, second = (rng.poisson(0.3, (n, 30)).astype(float) for n in (7, 5))
    common, squares = first @ second.T, [(part**2).sum(axis=1) for part in (first, second)]
    expected = common / (squares[0][:, None] + squares[1] - common)
    rows, columns = (vstack([csr_array(part), csr_array((1, 30))], format="csr") for part in (first, second))
    whole = heads.tanimoto(rows, columns)
    np.testing.assert_allclose(whole[:-1, :-1], expected, rtol=1e-6)
    assert whole[-1, -1] == 1
    monkeypatch.setattr(heads, "SLICE", 3)
    np.testing.assert_array_equal(heads.tanimoto(rows, columns), whole)


@pytest.mark.slow
@pytest.mark.parametrize("head", heads.HEADS)
@pytest.mark.parametrize("is_class", [True, False])
def test_heads_learn_without_a_look_at_the_test_part(head, is_class):
    rng = np.random.default_rng(0)
    features = csr_array(rng.integers(1, 4, (120, 20)) * (rng.random((120, 20)) < 0.4)).astype(float)
    signal = features.toarray()[:, 0] - features.toarray()[:, 1]
    target = np.column_stack([signal > 0, signal < 1]).astype(float) if is_class else signal[:, None]
    if is_class:
        target[::9, 1] = np.nan
    train, test = np.arange(80), np.arange(80, 120)
    changed = target.copy()
    changed[test] = 1 - changed[test]
    first, second = (
        heads.HEADS[head](features, known, train, test, is_class).scores for known in (target, changed)
    )
    np.testing.assert_array_equal(first, second)
    found = heads.score(target[test], first, is_class)
    assert found > 80 if is_class else found < target[test].std()


@pytest.mark.slow
def test_activity_cliffs(archive, tmp_path, monkeypatch):
    first = activity_cliffs.run(["A_Ki"], tmp_path, tmp_path / "page.md", repeats=1)
    assert (tmp_path / "pictures" / "moleculeace.png").stat().st_size > 1000
    assert "| A_Ki | " in (tmp_path / "page.md").read_text()
    assert "the best of 2 published methods, RF on ECFP: 0.400" in first
    monkeypatch.setattr(activity_cliffs, "measure", None)
    assert activity_cliffs.run(["A_Ki"], tmp_path, tmp_path / "page.md", repeats=1) == first


def test_shares_are_pooled_over_folds():
    def fold(name, k, method, covered, width):
        return coverage.Fold(name, sets.SCAFFOLD, k, method, [100], [covered], width, 0, 0.0)

    folds = [fold("ESOL", k, CONFORMAL, 80, 1.0) for k in range(5)]
    folds += [fold("ESOL", k, GROUPED, 88, 1.5) for k in range(5)]
    folds += [fold("FreeSolv", k, CONFORMAL, 50, 1.0) for k in range(5)]
    text = coverage.verdict(folds)
    assert "mean coverage 65.0 %" in text
    assert ", 10.0 points are missing, mean over 1 sets" in text
    assert "lack 2.0, with intervals and sets that are 50 % larger" in text


@pytest.mark.slow
@pytest.mark.parametrize("method", [CONFORMAL, GROUPED, PROCESS, FOREST])
def test_every_method_has_intervals(method, archive):
    if method == FOREST:
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
    target = made.target if is_class else noisy
    data = sets.Molecules("ESOL", [None] * 200, np.asarray(target, dtype=float)[:, None], is_class, 0)
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


def test_scaffolds_say_whether_the_aim_is_reached():
    fits = {
        (name, False): scaffold_splits.Fit(name, theirs + 1.5, [8, 1, 1], 2.0, "k")
        for name, theirs in scaffold_splits.PUBLISHED.items()
    }
    assert "the aim of one point more is reached" in scaffold_splits.verdict(fits)
    fits["BACE", False] = scaffold_splits.Fit("BACE", 50.0, [8, 1, 1], 2.0, "k")
    assert "missed" in scaffold_splits.verdict(fits)
    assert "| BACE | 8 / 1 / 1 | 86.0 | 50.0 | -36.0 | 2 | - | - |" in scaffold_splits.table_of(fits)
