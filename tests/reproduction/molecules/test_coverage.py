"""Coverage in miniature: pooled shares, and intervals of all methods."""

import zipfile

import numpy as np
import pytest

from reproduction.molecules import coverage, sets
from reproduction.molecules.coverage import CONFORMAL, FOREST, GROUPED, PROCESS, Fold

pytest.importorskip("rdkit")
pytest.importorskip("pandas")


def test_shares_are_pooled_over_folds():
    folds = [
        Fold("BACE", "random", 0, CONFORMAL, [10, 30], [5, 30], 1.0, 1, 0.0),
        Fold("BACE", "random", 1, CONFORMAL, [10, 10], [10, 10], 2.0, 2, 0.0),
    ]
    assert coverage.coverage_of(folds) == pytest.approx(100 * 55 / 60)
    assert coverage.coverage_of(folds, 0) == 75
    assert coverage.mean_width(folds) == pytest.approx((40 + 2 * 20) / 60)
    assert "| BACE | random | 91.7 | 75.0 | 100.0 | 1.33 | 5.0 |" in coverage.classes_table(folds)
    assert "mean coverage 91.7 %" in coverage.verdict(folds)


def test_groups_are_compared_where_both_are_measured():
    def fold(name, k, method, covered, width):
        return Fold(name, sets.SCAFFOLD, k, method, [100], [covered], width, 0, 0.0)

    folds = [fold("ESOL", k, CONFORMAL, 80, 1.0) for k in range(5)]
    folds += [fold("ESOL", k, GROUPED, 88, 1.5) for k in range(5)]
    folds += [fold("FreeSolv", k, CONFORMAL, 50, 1.0) for k in range(5)]
    text = coverage.verdict(folds)
    assert ", 10.0 points are missing, mean over 1 sets" in text
    assert "lack 2.0, with intervals and sets that are 50 % larger" in text
    assert "told the scaffolds" not in coverage.verdict(folds[:5])


def test_missing_folds_begin_with_the_library():
    keys = list(coverage.missing([], ["ESOL", "BACE"]))
    assert len(keys) == 2 * 5 * (3 + 1) + 5 * 2
    assert {key[1] for key in keys if key[3] == GROUPED} == {sets.SCAFFOLD}
    assert {key[3] for key in keys[:20]} == {CONFORMAL}
    done = [Fold(*key, [1], [1], 1.0, 0, 0.0) for key in keys]
    assert not list(coverage.missing(done, ["ESOL", "BACE"]))


@pytest.mark.slow
@pytest.mark.parametrize("method", [CONFORMAL, GROUPED, PROCESS, FOREST])
def test_every_method_has_intervals(method, tmp_path, monkeypatch):
    if method == FOREST:
        pytest.importorskip("mapie")
    rings = ["c1ccccc1", "C1CCCC1", "C1CCCCC1", "c1ccncc1", "C1CCOC1"]
    smiles = [rings[n % 5] + "C" * n + end for n in range(1, 16) for end in ("O", "N", "Cl", "F")]
    lines = [f"{text},{len(text) + i % 2}" for i, text in enumerate(smiles)]
    with zipfile.ZipFile(tmp_path / "moleculenet.zip", "w") as file:
        file.writestr("FreeSolv_SAMPL.csv", "\n".join(["smiles,expt", *lines]))
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    coverage.load.cache_clear()
    fold = coverage.measure("FreeSolv", sets.RANDOM, 0, method)
    coverage.load.cache_clear()
    assert fold.tested == [12]
    assert fold.covered[0] >= 8
    assert np.isfinite(fold.width)
