"""The comparison with fingerprints, on a small archive."""

import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from reproduction.molecules import cells, heads, page, run, seconds, sets

pytest.importorskip("rdkit")
pytest.importorskip("pandas")

RADICALS = ["C", "CC", "CCC", "C(C)C", "c1ccccc1", "C1CCCC1", "CCCC", "CC(C)C", "C1CCC1", "c1ccncc1"]
SMILES = [f"{group}{radical}" for radical in RADICALS for group in ("O", "N", "F", "Cl")]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Two of the sets, in miniature: one of classes and one of numbers; a row of each cannot be read."""
    lines = [f"{text},{text[0] in 'ON':d},{text.count('C')}" for text in SMILES]
    table = "\n".join(["smiles,Class,pIC50", *lines, "C(C,1,2"]) + "\n"
    with zipfile.ZipFile(tmp_path / "moleculenet.zip", "w") as file:
        file.writestr("bace.csv", table)
        file.writestr("tox21.csv", table.replace("pIC50", "gaps").replace(",1,", ",,", 2) + "CCO,,\n")
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    for cached in (cells.loaded, cells.folds_of, cells.features_of):
        cached.cache_clear()
    yield tmp_path
    for cached in (cells.loaded, cells.folds_of, cells.features_of):
        cached.cache_clear()


def test_a_set(archive):
    data = sets.load("BACE")
    assert len(data.mols) == len(SMILES)
    assert data.n_unread == 1
    assert data.target.tolist() == [[float(text[0] in "ON")] for text in SMILES]
    several = sets.load("Tox21")
    assert several.target.shape == (len(SMILES) + 1, 2)
    assert np.isnan(several.target[-1]).all()


@pytest.mark.parametrize("split", sets.SPLITS)
def test_folds_cover_all_molecules_once(archive, split):
    import propkernels as pk

    data = sets.load("BACE")
    parts = sets.folds(data, split)
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(len(SMILES)))
    if split == sets.SCAFFOLD:
        groups = pk.molecules.scaffolds(data.mols)
        assert all(not set(groups[train]) & set(groups[test]) for train, test in parts)


def test_tanimoto_is_that_of_scikit_fingerprints():
    distances = pytest.importorskip("skfp.distances")
    rng = np.random.default_rng(0)
    first, second = (csr_array(rng.poisson(0.5, (n, 30)).astype(float)) for n in (6, 4))
    expected = distances.bulk_tanimoto_count_similarity(first.toarray(), second.toarray())
    np.testing.assert_allclose(heads.tanimoto(first, second), expected, rtol=1e-6)


def test_tanimoto_in_slices_and_by_sparse_products_has_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    first, second = (csr_array(rng.poisson(0.3, (n, 30)).astype(float)) for n in (7, 5))
    empty = csr_array((1, 30))
    rows, columns = (vstack([part, empty], format="csr") for part in (first, second))
    whole = heads.tanimoto(rows, columns)
    assert whole[-1, -1] == 1
    monkeypatch.setattr(heads, "SLICE", 3)
    np.testing.assert_array_equal(heads.tanimoto(rows, columns), whole)
    monkeypatch.setattr(heads, "FEW_COLUMNS", 0)
    np.testing.assert_array_equal(heads.tanimoto(rows, columns), whole)


def test_scores():
    target = np.array([[0, np.nan], [1, 1], [1, np.nan], [0, 1.0]])
    found = np.array([[0.1, 0], [0.9, 0], [0.8, 0], [0.2, 0]])
    assert heads.score(target, found, True) == 100  # the second task has one class only
    assert heads.score(np.array([[1.0], [2.0]]), np.array([[1.0], [4.0]]), False) == pytest.approx(2**0.5)


@pytest.mark.slow
@pytest.mark.parametrize("head", heads.HEADS)
@pytest.mark.parametrize("is_class", [True, False])
def test_heads_learn(head, is_class):
    rng = np.random.default_rng(0)
    features = csr_array(rng.integers(1, 4, (120, 20)) * (rng.random((120, 20)) < 0.4)).astype(float)
    signal = features.toarray()[:, 0] - features.toarray()[:, 1]
    target = np.column_stack([signal > 0, signal < 1]).astype(float) if is_class else signal[:, None]
    if is_class:
        target[::9, 1] = np.nan
    train, test = np.arange(80), np.arange(80, 120)
    fitted = heads.HEADS[head](features, target, train, test, is_class)
    assert fitted.scores.shape == target[test].shape
    found = heads.score(target[test], fitted.scores, is_class)
    assert found > 80 if is_class else found < target[test].std()


@pytest.mark.slow
def test_the_test_fold_is_not_looked_at(archive):
    """Other targets of the test molecules change no score that a head gives them."""
    rng = np.random.default_rng(1)
    features = csr_array(rng.poisson(1.0, (60, 12)).astype(float))
    target = (features.toarray()[:, :1] > 1).astype(float)
    train, test = np.arange(40), np.arange(40, 60)
    changed = target.copy()
    changed[test] = 1 - changed[test]
    for head in heads.HEADS.values():
        first, second = (head(features, values, train, test, True).scores for values in (target, changed))
        np.testing.assert_array_equal(first, second)


@pytest.mark.slow
def test_cells_are_kept_and_the_page_keeps_its_own_words(archive, tmp_path, monkeypatch):
    pytest.importorskip("skfp")
    monkeypatch.setattr(cells, "METHODS", (("refined symbols", "linear"), ("ECFP", "linear")))
    document = tmp_path / "PAGE.md"
    document.write_text(f"# Molecules\n\nBefore.\n\n{page.BEGIN}\nstale numbers\n{page.END}\n\nAfter.\n")
    said = run.run(["BACE"], 1, tmp_path / "results", document)
    text = document.read_text()
    assert text.startswith("# Molecules\n\nBefore.\n\n")
    assert text.endswith("\n\nAfter.\n")
    assert "stale numbers" not in text
    assert "refined symbols + linear" in text
    assert "1 of 6 sets of classes" in said
    before = (tmp_path / "results" / "molecules.jsonl").read_text()
    assert before.count("\n") == 4  # two methods, two splits, one fold
    monkeypatch.setattr(cells, "measure", lambda *_: pytest.fail("nothing is left to measure"))
    monkeypatch.setattr(seconds, "measured", lambda *_: pytest.fail("nothing is left to time"))
    assert run.run(["BACE"], 1, tmp_path / "results", document) == said
    assert document.read_text() == text


def test_unknown_sets_are_named(tmp_path):
    with pytest.raises(ValueError, match="the set 'QM9' does not exist: choose among FreeSolv"):
        run.run(["QM9"], None, tmp_path, tmp_path / "page.md")


def test_means_are_over_folds_that_have_all_rows_of_the_first():
    def cell(fold, features, value, head="linear"):
        return cells.Cell("BACE", "random", fold, features, head, value, 0.1, "")

    known = [cell(0, "ECFP", 80.0), cell(0, "refined symbols", 82.0), cell(1, "ECFP", 10.0)]
    known += [cell(1, "ECFP", 99.0, "SVM"), cell(0, "of old", 99.0)]  # not on this fold, and no method
    means, n_folds = page.means_of(known, "random")
    assert n_folds["BACE"] == 1
    assert means["BACE", ("ECFP", "linear")] == 80.0
    assert len(means) == 2
    (line, each) = page.verdict(means, n_folds, "random")
    assert "+2.0 points (aim +1.0: reached on these, not all sets)" in line
    assert "BACE +2.0" in each
