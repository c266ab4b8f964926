"""Novelty by command: splits, what is kept, and the page."""

import numpy as np
import pytest

import propkernels as pk
from reproduction.extra import novelty, novelty_cases

DATA = pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)


@pytest.fixture
def loads(monkeypatch):
    """Small graphs in place of the data sets; the names that were loaded."""
    names = []
    monkeypatch.setattr(pk.datasets, "load", lambda name: names.append(name) or DATA)
    return names


def test_test_graphs_are_the_rest_and_as_many_others():
    normal, other = DATA.graphs[:40], DATA.graphs[40:]
    train, test, is_normal = novelty.split(normal, other, 0)
    assert (len(train), len(test), int(is_normal.sum())) == (36, 8, 4)
    sizes = np.sort(np.concatenate([train.graph_sizes, test.graph_sizes[:4]]))
    assert np.array_equal(sizes, np.sort(normal.graph_sizes))
    again = novelty.split(normal, other, 0)
    assert again[0] == train
    assert novelty.split(normal, other, 1)[0] != train


@pytest.mark.slow
def test_what_is_kept_is_not_computed_again(loads, tmp_path):
    table = novelty.run(["BZR"], 2, tmp_path, tmp_path / "page.md", 1)
    assert set(loads) == {"BZR", "COX2"}
    assert "| BZR/COX2 | 87.4 |" in table
    assert table in (tmp_path / "page.md").read_text()
    n_loads = len(loads)
    assert novelty.run(["BZR"], 2, tmp_path, tmp_path / "page.md", 1) == table
    assert len(loads) == n_loads


def test_unknown_pairs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="choose among BZR"):
        novelty.run(["X"], 1, tmp_path, tmp_path / "page.md", 1)


def test_verdicts():
    case = novelty.cases()["BZR"]
    result = novelty.Result("BZR", 0, dict.fromkeys(novelty.METHODS, 90.0), 1.0)
    assert novelty.row(case, [result], 1) == ["BZR/COX2", "87.4", "90.0 ± 0.0", "yes", "1.0"]
    low = novelty.Result("BZR", 0, dict.fromkeys(novelty.METHODS, 80.0), 1.0)
    assert novelty.row(case, [low], 1)[3] == "no (-7.4)"
    assert novelty.row(case, [low], 5)[2] == "80.0 ± 0.0 (1 of 5 splits)"


def test_the_largest_class_is_normal(loads):
    normal, other = novelty_cases.one_class("BZR")
    counts = np.bincount(DATA.target)
    assert (len(normal), len(other)) == (counts.max(), counts.min())
    assert normal.label_column is not None


def test_many_graphs_are_drawn_the_same_way():
    one, two = (novelty_cases.drawn(DATA.graphs, 10) for _ in range(2))
    assert len(one) == 10
    assert one == two
    assert novelty_cases.drawn(DATA.graphs, 100) is DATA.graphs


@pytest.mark.data
def test_molecules_keep_their_atoms(data_folder):
    pytest.importorskip("rdkit")
    graphs = novelty_cases.molecules("FreeSolv_SAMPL.csv")
    assert len(graphs) == 400
    assert {"C", "O"} <= set(graphs.label_values)


def test_classes_are_on_the_page(loads, tmp_path):
    novelty.run(["class BZR"], 1, tmp_path, tmp_path / "page.md", 1)
    assert "| BZR (class) |" in (tmp_path / "page.md").read_text()
