"""Experiments beyond the paper's tables, on generated molecules."""

import importlib
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets.dataset import Dataset
from reproduction.extra import attributed, baselines, candidates, edge_labels, fixed_parameters
from reproduction.extra.records import keep_records, load_records, with_error
from reproduction.protocols.selection import choose, seeds_of, share_correct, stratified_folds

DATA = pk.datasets.make_molecules(60, random_state=0)
TARGET = np.unique(DATA.target, return_inverse=True)[1]
STACK = pk.PropagationKernel(t_max=10, random_state=0).fit_transform_cumulative(DATA.graphs)
KERNELS = {t: STACK[t] for t in attributed.STEPS}


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


def test_a_fold_of_the_attribute_treatments_is_that_of_the_protocol():
    fold = stratified_folds(TARGET, seeds_of(0), 3)[0]
    t, cost, validated, correct, tested = attributed.judge_fold(KERNELS, TARGET, fold, (1.0, 10.0))
    assert (t, cost) == choose(KERNELS, TARGET, fold.inner, (1.0, 10.0))
    assert correct / tested == share_correct(KERNELS[t], TARGET, fold.train, fold.test, cost)
    hits = [share_correct(KERNELS[t], TARGET, fit, check, cost) * len(check) for fit, check in fold.inner]
    assert validated == pytest.approx(sum(hits) / len(fold.train))


def test_fixed_parameters_are_every_kernel_with_every_cost():
    splits = [(fold.train, fold.test) for fold in stratified_folds(TARGET, seeds_of(0), 3)]
    found = fixed_parameters.accuracies({"2": KERNELS[2]}, TARGET, splits, [1.0, 10.0])
    assert list(found) == [("2", 1.0), ("2", 10.0)]
    shares = [share_correct(KERNELS[2], TARGET, train, test, 10.0) for train, test in splits]
    assert found["2", 10.0] == pytest.approx(100 * np.mean(shares))


@pytest.mark.slow
def test_baselines_choose_normalization_too():
    few = baselines.Candidates(steps=(0, 1), costs=(1.0, 10.0))
    (result,) = baselines.cross_validate(DATA, "WL", 1, few)
    assert 50 < result.accuracy <= 100
    assert result.chosen.startswith("t ")


@pytest.mark.parametrize(
    "name",
    [
        "attributed",
        "baselines",
        "category_prior",
        "candidates",
        "edge_labels",
        "fixed_parameters",
        "textures",
        "pictures",
        "animation",
        "choices",
        "means",
        "quick_choice",
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


@pytest.mark.slow
def test_quick_looks_sum_normalized_kernels(monkeypatch):
    tried = candidates.kernels("labels", 1, True)
    assert tried["WL, intersection, edge labels"].edge_labels
    total = tried["summed, intersection + WL, intersection"]
    stack = candidates.matrices(candidates.redrawn(total, 0), DATA.graphs)
    expected = candidates.redrawn(total, 0).fit_transform_cumulative(DATA.graphs)
    np.testing.assert_allclose(stack, expected, atol=1e-12)
    monkeypatch.setattr(pk.datasets, "load", lambda name: DATA)
    monkeypatch.setattr(candidates, "SEEDS", (101,))
    lines = list(candidates.compare("any", "labels", 40, "shortest paths +"))
    assert [title for title, *_ in lines] == [
        "shortest paths + WL, intersection",
        "shortest paths + summed, intersection",
    ]
    assert all(0 <= best <= 100 for _, best, *_ in lines)
