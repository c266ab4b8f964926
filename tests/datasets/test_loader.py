from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from tests.datasets.tiny import with_changes, write_folder

# number of nodes, and of isolated nodes where the collection's notes give it
NODES = {
    "MUTAG": (3371, 0), "NCI1": (122747, 428), "DD": (334925, None), "MSRC_9": (8968, None),
    "MSRC_21": (43644, None), "FIRSTMM_DB": (56468, None), "SYNTHETIC": (30000, None),
    "ENZYMES": (19580, 106), "PROTEINS": (43471, None), "PROTEINS_full": (43471, None),
    "BZR": (14479, None), "DHFR": (32075, None), "AIDS": (31385, None), "BBBP": (49068, None),
    "HIV": (1049163, 2313), "REDDIT-BINARY": (859254, None), "IMDB-BINARY": (19773, None),
}  # fmt: skip


def load_real(name, folder):
    if not (folder / f"{name}.zip").exists():
        pytest.skip(f"{name}.zip is not in the data folder")
    return pk.datasets.load(name)


@pytest.mark.parametrize("name", ["graphs.json", "parts"])
def test_an_existing_file_is_not_downloaded(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    path = Path(name)
    path.touch() if path.suffix else path.mkdir()
    with pytest.raises(ValueError, match=rf"load takes names.*open_source\('{name}'\)$"):
        pk.datasets.load(name)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", NODES)
def test_numbers_are_those_of_the_table(name, data_folder):
    data = load_real(name, data_folder)
    graphs, (nodes, isolated) = data.graphs, NODES[name]
    info = next(info for info in pk.datasets.list_datasets() if info.name == name)
    assert (graphs.n_nodes, len(graphs), data.n_classes) == (nodes, info.graphs, info.classes)
    assert (len(graphs.label_values) or None) == info.node_labels
    attributes = graphs.node_attributes
    assert (None if attributes is None else attributes.shape[1]) == info.attributes
    assert isolated in (None, np.count_nonzero(graphs.degrees == 0))
    assert not graphs.is_directed
    assert all(len(data.extras[kind]) == len(graphs) for kind in {"smiles"} & set(data.extras))


@pytest.mark.slow
@pytest.mark.data
def test_first_affordances(data_folder):
    data = load_real("FIRSTMM_DB", data_folder)
    assert np.count_nonzero(data.graphs.adjacency.diagonal()) > 0
    assert data.extras["coordinates"].shape == data.extras["normals"].shape == (56468, 3)
    assert data.graphs.edge_attributes.shape == (data.graphs.adjacency.nnz, 2)
    np.testing.assert_allclose(data.extras["coordinates"][0], [-0.018220, -0.032919, 0.006787])
    assert data.extras["graph_list"][0] == "freeform_beer_bottle"


def test_labels_of_a_known_set_have_names_beside_them(tmp_path, monkeypatch):
    files = with_changes(node_labels="0\n3\n0\n5\n3\n6\n")
    write_folder(tmp_path / "MUTAG", files, "MUTAG")
    write_folder(tmp_path / "TINY", files)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    named, plain = pk.datasets.load("mutag"), pk.datasets.load("TINY")
    assert plain.graphs.names.labels == {}
    assert named.graphs == plain.graphs
    assert named.graphs.names.labels == {0: "C", 3: "F", 5: "Cl", 6: "Br"}
