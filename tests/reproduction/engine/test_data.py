import pytest

import propkernels as pk
from propkernels.datasets import loader
from reproduction.engine.data import AbsentDataError, load_source


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    def refuse(name, folder, **options):
        raise OSError("it could not be downloaded (ConnectionError)")

    monkeypatch.setattr(loader, "download", refuse)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("name", ["NCI109", "COX2", "SYNTHETIC", "PLANTS", "BRODATZ-O-R"])
def test_absent_data_are_told_in_one_sentence(no_network, name):
    with pytest.raises(AbsentDataError, match=r"zip is not here|is needed") as caught:
        load_source(name)
    assert "\n" not in str(caught.value)


def write_tu(folder, name):
    place = folder / name
    place.mkdir()
    lines = {"A": "1, 2\n2, 1\n3, 4\n4, 3", "graph_indicator": "1\n1\n2\n2", "graph_labels": "0\n1"}
    lines["node_labels"] = "1\n2\n1\n1"
    for kind, text in lines.items():
        (place / f"{name}_{kind}.txt").write_text(text)


def test_it_works_as_soon_as_the_file_is_there(no_network):
    write_tu(no_network, "NCI109")
    assert len(load_source("NCI109").graphs) == 2


def test_the_labels_of_synthetic_are_ignored(no_network):
    write_tu(no_network, "SYNTHETIC")
    assert load_source("SYNTHETIC").graphs.label_column is None
    assert pk.datasets.load("SYNTHETIC").graphs.label_column is not None


def test_damaged_files_are_an_error(no_network):
    write_tu(no_network, "MUTAG")
    (no_network / "MUTAG" / "MUTAG_A.txt").write_text("1, 9")
    with pytest.raises(ValueError, match=r"MUTAG_A\.txt"):
        load_source("MUTAG")
