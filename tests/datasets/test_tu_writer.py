"""write_tu and read_tu: what one writes the other reads."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import Dataset, read_tu, write_tu
from tests.zoo import one


def rich():
    plain = one(
        3, [(0, 1), (1, 2)], ["C", "O", None], edge_labels=["x", "y"], attributes=[[0.1], [2.0], [1e-17]]
    )
    several = one(2, [(0, 1), (0, 1)], ["C", "C"], edge_labels=["x", "y"], attributes=[[1.0], [np.nan]])
    graphs = pk.GraphDatabase.concat([plain, several]).with_ids(["first", "second one"])
    return graphs.with_edge_attributes(np.arange(graphs.adjacency.nnz) / 3)


@pytest.mark.parametrize("place", ["MINE", "folder/MINE.zip"])
def test_everything_comes_back(place, tmp_path):
    data = Dataset("MINE", rich(), np.array([3, 5]), ("low", "high"))
    write_tu(data, tmp_path / place)
    again = read_tu(tmp_path / place)
    assert again.graphs == data.graphs
    assert again.graphs.ids.tolist() == data.graphs.ids.tolist()
    assert again.target.tolist() == [3, 5]
    assert again.target_names == ("low", "high")
    assert again.name == "MINE"
    assert again.extras == {}


def test_the_same_graphs_make_the_same_zip(tmp_path):
    for name in ("a.zip", "b.zip"):
        write_tu(rich(), tmp_path / name, "X", target=["u", "v"])
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    again = read_tu(tmp_path / "a.zip")
    assert again.target.tolist() == [0, 1]
    assert again.target_names == ("u", "v")


def test_targets_and_labels_of_other_kinds(tmp_path):
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1)], [(1, 2), (1, 3), (1, 2)])] * 4)
    for number, target in enumerate(([0.1, 0.2, 1e-300, 3.0], np.arange(8.0).reshape(4, 2))):
        write_tu(graphs, tmp_path / f"{number}", "X", target=target)
        assert read_tu(tmp_path / f"{number}").target.tolist() == np.asarray(target).tolist()
        assert read_tu(tmp_path / f"{number}").graphs == graphs
    write_tu(graphs[:1].with_labels([-5, 7, None]), tmp_path / "n", target=[0])
    assert read_tu(tmp_path / "n").graphs.node_labels.tolist() == [-5, 7, -1]


def test_an_existing_set_is_kept_unless_asked(tmp_path):
    write_tu(rich(), tmp_path / "X", target=[0, 1])
    before = {file.name: file.read_bytes() for file in (tmp_path / "X").iterdir()}
    plain = pk.datasets.make_molecules(3, random_state=0)
    with pytest.raises(FileExistsError, match="holds a set X already: pass overwrite=True"):
        write_tu(plain, tmp_path / "X", "X")
    assert {file.name: file.read_bytes() for file in (tmp_path / "X").iterdir()} == before
    write_tu(plain, tmp_path / "X", "X", overwrite=True)
    assert read_tu(tmp_path / "X").graphs == plain.graphs  # nothing of the old set is left
    write_tu(plain, tmp_path / "x.zip")
    with pytest.raises(FileExistsError, match="exists already"):
        write_tu(plain, tmp_path / "x.zip")


def test_what_the_layout_cannot_hold(tmp_path):
    pair = one(2, [(0, 1)], weights=[2.0])
    for graphs, message in (
        (pair, "the TU layout has no weights"),
        (pk.GraphDatabase(np.zeros((1, 1)), [0, 1, 1]), "graph 1 has no nodes"),
        (one(2, [], [2.5, 1.5]), "texts, or tuples of whole numbers, got 2.5"),
        (one(2, [], ["a\nb", "c"]), "one node label per line"),
        (one(2, [], [" a", "c"]), "one node label per line"),
    ):
        with pytest.raises(ValueError, match=message):
            write_tu(graphs, tmp_path / "X", target=np.zeros(len(graphs), dtype=int))
        assert not (tmp_path / "X").exists()
    with pytest.raises(ValueError, match="target has 2 values for 1 graphs"):
        write_tu(one(1), tmp_path / "X", target=[1, 2])
    with pytest.raises(ValueError, match="cannot be the name of a data set"):
        write_tu(one(1), tmp_path / "X", "../X", target=[0])
    moved = pair.with_edge_attributes(pair.adjacency.data).with_weights(None)
    write_tu(moved, tmp_path / "X", target=[0])
    assert read_tu(tmp_path / "X").graphs.with_weights(0).adjacency.data.tolist() == [2, 2]
