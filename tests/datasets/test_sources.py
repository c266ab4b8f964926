"""open_source: whatever a user has, and what is said where it cannot be read."""

from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import open_source
from tests.kinds_of_input import save


@pytest.fixture
def small():
    return pk.datasets.make_molecules(12, random_state=0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROPKERNELS_DATA", raising=False)
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("place", ["SMALL", "small.zip", "small.parquet", "small_edges.csv"])
def test_every_form_comes_back(place, small, folder):
    save(small, folder / place)
    data = open_source(place if place != "SMALL" else folder / place)
    assert data.graphs == small.graphs
    assert data.target.tolist() == small.target.tolist()


def test_whole_numbers_of_graph_attributes_are_not_classes(small, folder):
    numbers = replace(small, target=np.arange(12) % 2 + 1.0, target_names=())
    for place in ("NUMBERS", "numbers.zip"):
        save(numbers, folder / place)
        assert open_source(folder / place).target.dtype == np.float64


def write(path, text):
    path.write_text(text)
    return path


def test_tables_of_molecules(folder):
    path = write(folder / "x.csv", "name,SMILES,active\na,CCO,1\nb,CCN,0\n")
    data = open_source(path)
    assert data.target.tolist() == [1, 0]
    assert data.extras["smiles"] == ["CCO", "CCN"]
    assert data.graphs == pk.MoleculesToGraphs().fit_transform(["CCO", "CCN"])
    other = write(folder / "y.tsv", "s\tv\nCCO\t1.5\nCCN\t2.25\n")
    data = open_source(other, smiles_column="s", target_column="v")
    assert data.target.tolist() == [1.5, 2.25]
    assert open_source(other, smiles_column="s", target_required=False).target.shape == (2, 0)
    texts = open_source(write(folder / "z.csv", "smiles,class\nC,low\nCC,high\n"))
    assert texts.target.tolist() == ["low", "high"]


def test_molecules_that_cannot_be_read(folder):
    path = write(folder / "x.csv", "smiles,active\nCCO,1\nC1C,0\nCC,1\n")
    with pytest.raises(ValueError, match=r"x.csv: 1 of 3 molecules .* row 1 \('C1C' cannot be read"):
        open_source(path)
    with pytest.warns(UserWarning, match="skipped 1 of 3 molecules"):
        data = open_source(path, errors="skip")
    assert data.target.tolist() == [1, 1]
    assert data.extras["smiles"] == ["CCO", "CC"]


def test_smi_and_sdf(folder):
    chem = pytest.importorskip("rdkit.Chem")
    data = open_source(write(folder / "x.smi", "CCO ethanol\nCC ethane\n\n"), target_required=False)
    assert data.graphs.ids.tolist() == ["ethanol", "ethane"]
    writer = chem.SDWriter(str(folder / "x.sdf"))
    for text, value in (("CCO", 1), ("CC", 0)):
        mol = chem.MolFromSmiles(text)
        mol.SetIntProp("active", value)
        writer.write(mol)
    writer.close()
    data = open_source(folder / "x.sdf")
    assert data.target.tolist() == [1, 0]
    assert data.graphs == pk.MoleculesToGraphs().fit_transform(["CCO", "CC"])


def test_molecules_without_a_name_are_called_by_their_row(folder):
    table = write(folder / "x.csv", "smiles,name,y\nC,a,1\nCC,,0\nCCC,c,1\n")
    assert open_source(table, id_column="name").graphs.ids.tolist() == ["a", "1", "c"]
    lines = write(folder / "x.smi", "C a\nCC\nCCC a\n")
    assert open_source(lines, target_required=False).graphs.ids.tolist() == ["a", "1", "a"]
    bare = write(folder / "y.smi", "C\nCC\n")
    assert open_source(bare, target_required=False).graphs.ids is None


def sdf_record(properties):
    chem = pytest.importorskip("rdkit.Chem")
    block = chem.MolToMolBlock(chem.MolFromSmiles("CCO"))
    return block + "".join(f"> <{name}>\n{value}\n\n" for name, value in properties.items()) + "$$$$\n"


def test_properties_that_some_molecules_do_not_have(folder):
    records = [{"code": "a", "y": 1}, {"y": "2"}, {"code": "c"}]
    path = write(folder / "x.sdf", "".join(map(sdf_record, records)))
    data = open_source(path, id_column="code")
    assert data.graphs.ids.tolist() == ["a", "1", "c"]
    assert data.target.tolist()[:2] == [1, 2]
    assert np.isnan(data.target[2])


def test_folders_of_pictures(folder):
    image = pytest.importorskip("PIL.Image")
    for kind, value in (("dark", 10), ("light", 240)):
        (folder / "pictures" / kind).mkdir(parents=True)
        for number in range(2):
            pixels = np.full((4, 5), value, dtype=np.uint8)
            image.fromarray(pixels).save(folder / "pictures" / kind / f"{number}.png")
    data = open_source(folder / "pictures")
    assert isinstance(data.graphs, pk.GridDatabase)
    assert data.target.tolist() == ["dark", "dark", "light", "light"]
    assert data.target_names == ("dark", "light")
    new = open_source(folder / "pictures" / "dark", target_required=False)
    assert new.graphs == data.graphs[:2]
    assert new.target.shape == (2, 0)
    with pytest.raises(ValueError, match="has images but no subfolders, one per class"):
        open_source(folder / "pictures" / "dark")
