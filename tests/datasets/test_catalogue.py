from __future__ import annotations

from pathlib import Path

import pytest

from propkernels.datasets import list_datasets
from propkernels.datasets.catalogue import ELEMENTS, label_names
from tests.datasets.tiny import TINY, write_folder


def test_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "data"))
    write_folder(tmp_path / "data" / "MUTAG", TINY, "MUTAG")
    write_folder(tmp_path / "cache" / "MUTAG", TINY, "MUTAG")
    (tmp_path / "cache" / "NCI1.zip").write_text("not even a zip: it is not opened")
    where = {info.name: info.where for info in list_datasets(tmp_path / "cache")}
    assert where["MUTAG"] == "data folder"
    assert where["NCI1"] == "cache"
    assert where["NCI109"] == where["COX2"] == "download"
    assert where["DIGITS"] == where["TEXTURES"] == "bundled"
    assert where["make_synthetic"] == where["make_molecules"] == "generated"


def test_it_reads_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROPKERNELS_DATA", raising=False)
    catalogue = list_datasets(tmp_path)
    header, *lines = str(catalogue).split("\n")
    assert " ".join(header.split()) == "name graphs classes node labels attributes in the paper where"
    assert len(lines) == len(catalogue)
    assert lines[3].split() == ["DD", "1,178", "2", "82", "-", "d&d", "download"]
    column = header.index("where")
    assert all(line[column - 1] == " " and line[column] != " " for line in lines)
    assert repr(catalogue) == str(catalogue)


def test_names_are_distinct() -> None:
    names = [info.name for info in list_datasets()]
    assert len(set(names)) == len(names)


def test_elements_are_numbered_as_rdkit_numbers_them() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    table = chem.GetPeriodicTable()
    assert {n: table.GetElementSymbol(n) for n in range(1, 93)} == ELEMENTS


def test_names_of_labels_are_known_for_all_labels_or_for_none() -> None:
    assert label_names("BBBP", [6, 17]) == {6: "C", 17: "Cl"}
    assert label_names("MUTAG", [0, 7]) == {}
    assert label_names("NCI1", [0, 1]) == {}
    assert label_names("MUTAG", []) == {}
