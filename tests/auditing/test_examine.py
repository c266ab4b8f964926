"""audit: the whole audit, samples, missing targets and invalid input."""

import json
import re
import warnings

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.examine import sample_of
from propkernels.auditing.statistics import Target
from tests.auditing.conftest import N


def test_nothing_is_found_where_nothing_is(clean):
    graphs, target = clean
    report = pk.audit(graphs, target)
    assert report.sameness.duplicates.groups == ()
    assert report.sameness.duplicates.bound == 1.0
    assert report.sameness.leaks is report.sample is None
    assert report.suspects.graphs == ()
    assert not [s for s in report.sentences if s.kind == "bad" and s.topic in ("sameness", "suspects")]


def test_numbers():
    data = pk.datasets.make_molecules(80, random_state=1)
    values = np.asarray(data.graphs.graph_sizes, dtype=float) + 0.25
    values[7] += 40.0
    report = pk.audit(data.graphs, values, t_max=2)
    assert report.learning.metric == "R^2"
    assert report.learning.scores[0].name == "mean"
    assert report.suspects.graphs[0] == 7
    assert report.statistics.target.kind == "numbers"
    json.loads(report.to_json())


def test_without_a_target(clean):
    report = pk.audit(clean[0])
    assert report.learning is None
    assert report.suspects is None
    assert report.sameness.duplicates.bound is None
    assert "No target was given" in str(report)
    json.loads(report.to_json())


def test_planted_label_errors_are_found_and_nothing_else(clean):
    graphs, target = clean
    wrong = [4, 33, 51]
    flipped = target.copy()
    flipped[wrong] = 1 - flipped[wrong]
    report = pk.audit(graphs, flipped)
    assert sorted(report.suspects.graphs) == wrong
    for suspect in report.suspects.listed:
        assert suspect.given != suspect.predicted
        assert suspect.neighbors
        assert all(name != suspect.given for _, name, _ in suspect.neighbors)


def test_same_seed_same_report_of_data_sets_with_their_targets_and_names():
    data = pk.datasets.make_molecules(30, random_state=0)
    reports = [pk.audit(data, t_max=1, random_state=5, n_jobs=n) for n in (1, 1, 2)]
    one, two, threads = (report.to_dict() for report in reports)
    assert one["name"] == data.name
    assert sum(reports[0].statistics.target.counts) == 30
    for report in (one, two):
        del report["seconds"], report["processor_seconds"]
    assert one == two
    assert threads["sameness"] == one["sameness"]
    assert threads["learning"]["predictions"] == one["learning"]["predictions"]


@pytest.mark.parametrize("graphs", [[nx.path_graph(2)], [nx.empty_graph(0), nx.path_graph(3)]])
def test_tiny(graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = pk.audit(graphs, np.arange(len(graphs)))
    assert report.learning is None
    report.to_html()


def test_small_classes():
    data = pk.datasets.make_molecules(20, random_state=0)
    report = pk.audit(data.graphs, [0] * 18 + [1, 2], t_max=1)
    assert report.learning.scores[0].mean == pytest.approx(0.9, abs=0.05)


def test_many_graphs_are_sampled_in_proportion(monkeypatch, clean):
    monkeypatch.setattr("propkernels.auditing.examine.MOST_COMPARED", 20)
    graphs, _ = clean
    target = Target(np.repeat([0, 1], [45, 15]), ("a", "b"))
    chosen = sample_of(graphs, target, 0)
    assert len(np.unique(chosen)) == 20
    assert np.bincount(target.values[chosen]).tolist() == [15, 5]
    report = pk.audit(graphs, target.values, t_max=1)
    assert report.learning.n_graphs == 20
    assert report.sample == tuple(sample_of(graphs, target, 0))
    assert set(report.suspects.graphs) <= set(report.sample)
    assert "a sample of 20 graphs" in report.to_html()


@pytest.mark.parametrize(
    ("given", "error", "word"),
    [
        ({"target": [1, 2, 3]}, ValueError, "3 values for 60"),
        ({"target": np.zeros((N, 2))}, ValueError, "select a column"),
        ({"graphs": []}, ValueError, "at least one graph"),
        ({"test": [nx.path_graph(2)] * 2, "test_target": [0, 7]}, ValueError, "no training graph has"),
        ({"t_max": -1}, ValueError, "t_max"),
        ({"target": 1e155 * (np.arange(N) % 2 + 0.5)}, ValueError, "at most"),
        ({"target": 1e-200 * (np.arange(N) % 2 + 0.5)}, ValueError, "must differ by at least"),
    ],
)
def test_wrong_input(clean, given, error, word):
    with pytest.raises(error, match=word):
        pk.audit(**({"graphs": clean[0], "target": clean[1]} | given))


@pytest.mark.parametrize("kind", ["numbers of classes", "texts", "numbers"])
def test_missing_targets_are_not_a_class(clean, kind):
    graphs, target = clean
    values = np.array(["no", "yes"], dtype=object)[target] if kind == "texts" else target.astype(float)
    values = values + np.linspace(0.1, 0.4, N) if kind == "numbers" else values
    known = np.flatnonzero(np.arange(N) % 3)
    expected = pk.audit(graphs[known], values[known], t_max=1)
    values[::3] = None
    found = pk.audit(graphs, values, t_max=1)
    assert found.statistics.target.missing == N // 3
    assert found.statistics.target.classes == expected.statistics.target.classes
    assert found.statistics.target.counts == expected.statistics.target.counts
    assert found.statistics.n_graphs == N
    assert np.allclose(found.learning.scores[-1].mean, expected.learning.scores[-1].mean)
    assert found.suspects.graphs == tuple(known[list(expected.suspects.graphs)].tolist())
    assert f"{N // 3} graphs have no target: scores leave them out." in str(found)
    assert json.loads(found.to_json())["statistics"]["target"]["missing"] == N // 3
    assert "class nan" not in found.to_html()


def test_images_are_compared_as_graphs_of_pixels_and_drawn_as_images():
    images = np.random.default_rng(0).integers(0, 2, (24, 4, 4))
    grids = pk.GridDatabase(list(np.concatenate([images, images[:1]])))
    report, plain = (pk.audit(graphs, [0, 1] * 12 + [0], t_max=1) for graphs in (grids, grids.to_graphs()))
    assert report.learning.scores == plain.learning.scores
    assert report.sameness.duplicates.groups == plain.sameness.duplicates.groups == ((0, 24),)
    assert "- 25 images with 16 pixels each and 2 pixel labels." in str(report)
    assert not re.search("graph|node", str(report).removeprefix("Audit of graphs"))
    page = report.to_html()
    assert "image 0, class 0" in page
    assert page.count("<img ") == page.count("<figcaption>image ") > 2
