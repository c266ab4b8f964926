"""Experiments beyond the paper's tables, on generated molecules."""

import importlib
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets.dataset import Dataset
from reproduction.extra import attributed, edge_labels, fixed_parameters
from reproduction.extra.records import keep_records, load_records, with_error
from reproduction.protocols.nested import folds_of, mistakes

DATA = pk.datasets.make_molecules(60, random_state=0)
TARGET = np.unique(DATA.target, return_inverse=True)[1]
KERNEL = pk.PropagationKernel(t_max=2, random_state=0).fit_transform(DATA.graphs)


@dataclass(frozen=True)
class Line:
    name: str
    value: float


def test_records_come_back_and_are_added_to(tmp_path):
    path = tmp_path / "lines.jsonl"
    assert load_records(path, Line) == load_records(None, Line) == []
    keep_records([Line("a", 1.5)], path)
    keep_records([Line("b", 2.5)], path)
    keep_records([Line("c", 3.5)], None)
    assert load_records(path, Line) == [Line("a", 1.5), Line("b", 2.5)]


def test_one_repeat_has_no_error():
    assert with_error([84.46]) == "84.5"


def test_fixed_parameters_are_every_kernel_with_every_cost():
    folds = folds_of(TARGET, 0, 3)
    found = fixed_parameters.accuracies({"2": KERNEL}, TARGET, folds, [1.0, 10.0])
    assert list(found) == [("2", 1.0), ("2", 10.0)]
    wrong = [mistakes(KERNEL, TARGET, fold.train, fold.test, 10.0) / len(fold.test) for fold in folds]
    assert found["2", 10.0] == pytest.approx(100 - 100 * np.mean(wrong))


@pytest.mark.slow
def test_treatments_of_attributes(tiny, tmp_path, capsys):
    arguments = ["--dataset", "BZR", "FIRSTMM_DB", "--method", "labels+attr", "--repeats", "1"]
    attributed.main([*arguments, "-o", str(tmp_path)])
    assert "| FIRSTMM_DB | labels+attr |" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "attributed",
        "category_prior",
        "edge_labels",
        "fixed_parameters",
        "textures",
        "pictures",
        "animation",
        "choices",
    ],
)
def test_every_command_explains_itself(name, capsys):
    module = importlib.import_module(f"reproduction.extra.{name}")
    with pytest.raises(SystemExit) as caught:
        module.main(["--help"])
    assert caught.value.code == 0
    assert "usage:" in capsys.readouterr().out


@pytest.mark.slow
def test_edge_labels_are_compared_on_the_same_folds_and_kept(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(40):  # the class is the label of most edges: no kernel without them can see it
        graph = nx.cycle_graph(int(rng.integers(5, 9)))
        nx.set_node_attributes(graph, "C", "label")
        nx.set_edge_attributes(graph, "single" if number % 2 else "double", "label")
        graphs.append(graph)
    database = pk.from_networkx(graphs, edge_label="label")
    monkeypatch.setattr(pk.datasets, "load", lambda name: Dataset("rings", database, np.arange(40) % 2))
    found = edge_labels.run(tmp_path, ["MUTAG"])
    assert len(found) == 4
    assert all(effect.without < 80 < 100 == effect.using for effect in found)
    monkeypatch.setattr(pk, "evaluate", None)
    assert edge_labels.run(tmp_path, ["MUTAG"]) == found
    assert "| MUTAG | 40 | Weisfeiler-Lehman |" in edge_labels.section(tmp_path)
    assert edge_labels.section(tmp_path / "nothing") == ""
