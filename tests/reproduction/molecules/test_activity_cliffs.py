"""MoleculeACE in miniature: errors beside a published table, kept between runs."""

import zipfile

import numpy as np
import pytest

from reproduction.molecules import activity_cliffs
from reproduction.molecules.activity_cliffs import OURS, Fit

pytest.importorskip("rdkit")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

SMILES = ["C" * n + end for n in range(1, 11) for end in ("O", "N", "Cl")]
PUBLISHED = """dataset,algorithm,descriptor,augmentation,rmse,cliff_rmse
A_Ki,SVM,ECFP,0,0.5,0.6
A_Ki,RF,ECFP,0,0.4,0.9
B_Ki,SVM,ECFP,0,0.3,0.4
B_Ki,RF,ECFP,0,0.6,0.7
"""
FITS = [
    Fit("A_Ki", 0, 0.45, 0.5, 1.0, "k"),
    Fit("A_Ki", 1, 0.41, 0.5, 3.0, "k"),
    Fit("B_Ki", 0, 0.2, 0.3, 2.0, "k"),
]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    rows = [f"{s},{len(s)},{i % 3 == 0:d},{'test' if i % 4 == 0 else 'train'}" for i, s in enumerate(SMILES)]
    table = "\n".join(["smiles,y,cliff_mol,split", *rows])
    with zipfile.ZipFile(tmp_path / "moleculeace.zip", "w") as file:
        file.writestr("data/A_Ki.csv", table)
        file.writestr("data/B_Ki.csv", table)
        file.writestr("results/MoleculeACE_results.csv", PUBLISHED)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    return tmp_path


def test_parts_of_a_target(archive):
    data = activity_cliffs.load("A_Ki")
    assert data.smiles == SMILES
    assert np.flatnonzero(data.is_test).tolist() == list(range(0, 30, 4))
    assert np.flatnonzero(data.is_cliff).tolist() == list(range(0, 30, 3))


def test_errors_are_means_over_seeds_beside_the_published(archive):
    errors = activity_cliffs.errors_of(FITS, activity_cliffs.published())
    assert errors["rmse"][OURS] == {"A_Ki": pytest.approx(0.43), "B_Ki": 0.2}
    assert errors["cliff_rmse"]["RF on ECFP"] == {"A_Ki": 0.9, "B_Ki": 0.7}
    assert activity_cliffs.best_published(errors["rmse"], "A_Ki") == ("RF on ECFP", 0.4)
    assert activity_cliffs.n_ahead(errors["rmse"], "SVM on ECFP") == 2
    text = activity_cliffs.verdict(errors)
    assert "**0.315**; the best of 2 published methods, SVM on ECFP: 0.400" in text
    assert "on 1 of 2 targets" in text.splitlines()[0]
    assert "on 2 of 2 targets" in text.splitlines()[1]


@pytest.mark.slow
def test_a_run_measures_only_what_is_missing(archive, tmp_path, monkeypatch):
    document = tmp_path / "docs" / "PAGE.md"
    document.parent.mkdir()
    first = activity_cliffs.run(["A_Ki"], 1, tmp_path, document)
    assert (document.parent / "pictures" / "moleculeace.png").stat().st_size > 1000
    assert "| A_Ki | " in document.read_text()
    monkeypatch.setattr(activity_cliffs, "measure", None)
    assert activity_cliffs.run(["A_Ki"], 1, tmp_path, document) == first
    with pytest.raises(ValueError, match="the target 'C_Ki' does not exist"):
        activity_cliffs.run(["C_Ki"], 1, tmp_path, document)
