"""Pages of default models on tiny data: what is kept is not measured again, and the page is written."""

import importlib
import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.datasets import Dataset
from reproduction.__main__ import PAGES
from reproduction.extra import defaults, edge_labels, fair, folds_of_defaults, nodes, novelty, temporal
from reproduction.extra.folds_of_defaults import FoldResult, accuracies
from reproduction.extra.records import with_error

ROOT = Path(__file__).parents[2]
DATA = pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)
RESULT = FoldResult("MUTAG", 0, 0, 8, 10, "Kernel(); t_max=1, normalize=True, C=1", 0.9, 1.0, 0.5)


@pytest.fixture(autouse=True)
def _empty_caches():
    caches = (folds_of_defaults.load, fair.load, temporal.load, novelty.load, nodes.read, edge_labels.load)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def quick(monkeypatch):
    """Small graphs in place of the data sets, and a model with one setting; counts its fits."""
    fits = []

    class Quick(pk.PropagationClassifier):
        def fit(self, X, y):
            fits.append(len(X))
            return self.set_params(kernel=pk.PropagationKernel(), t_max=1, C=10) and super().fit(X, y)

    monkeypatch.setattr(folds_of_defaults.pk, "PropagationClassifier", Quick)
    monkeypatch.setattr(pk.datasets, "load", lambda name: DATA)
    return fits


def test_accuracies_and_errors():
    results = [replace(RESULT, fold=f, correct=c) for f, c in enumerate((8, 10))]
    assert accuracies(results) == [90.0]
    both = [*results, *(replace(result, repeat=1, correct=10) for result in results)]
    assert accuracies(both) == [90.0, 100.0]
    cells = defaults.row("MUTAG", both, results)
    assert cells[1:4] == ["95.0 ± 7.1", "90.0", "+0.0 ± 0.0"]  # the difference is that of common folds
    chances, truth = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [0.55, 0.45]]), np.array([0, 1, 1, 0])
    loss, sure = folds_of_defaults.judged(chances, truth)
    assert loss == pytest.approx(-np.mean(np.log([0.9, 0.7, 0.4, 0.55])), abs=1e-4)
    one = replace(RESULT, log_loss=loss, sure=sure)
    expected = (0.1 + 0.3 + 0.6 + 0.45) / 4  # each graph in a bin of its own
    assert folds_of_defaults.calibration_error([one]) == pytest.approx(expected, abs=1e-3)
    assert defaults.calibration_row("MUTAG", [one], [])[1:] == [f"{loss:.3f}", "-", f"{expected:.3f}", "-"]
    whole = [replace(RESULT, fold=fold) for fold in range(10)]
    assert defaults.complete([*whole, replace(RESULT, repeat=1)]) == whole
    assert with_error([84.46]) == "84.5"


@pytest.mark.slow
def test_defaults(quick, tmp_path):
    table = defaults.run(["MUTAG"], tmp_path, tmp_path / "page.md", repeats=1, jobs=1)
    assert quick == [54] * 10
    assert "| MUTAG | " in table
    assert table in (tmp_path / "page.md").read_text()
    assert defaults.run(["MUTAG"], tmp_path, tmp_path / "page.md", repeats=1, jobs=1) == table
    assert len(quick) == 10


@pytest.mark.slow
def test_fair_folds_are_those_of_the_file(quick, tmp_path, monkeypatch):
    folds = []
    for test in np.array_split(np.random.default_rng(0).permutation(60), 10):
        rest = [int(i) for i in range(60) if i not in test]
        parts = {"train": rest[4:], "validation": rest[:4]}
        folds.append({"test": test.tolist(), "model_selection": [parts]})
    with zipfile.ZipFile(tmp_path / "fair_splits.zip", "w") as archive:
        archive.writestr("ENZYMES.json", json.dumps(folds))
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    table = fair.run(["ENZYMES"], tmp_path, tmp_path / "page.md", jobs=1)
    assert quick == [54] * 10
    assert "| ENZYMES | 65.2 (a baseline without edges) |" in table
    assert fair.split(None, ("ENZYMES", 0, 3))[1].tolist() == folds[3]["test"]


@pytest.mark.parametrize("page", [defaults, fair, temporal, novelty, nodes])
def test_unknown_names_are_one_sentence(page, tmp_path):
    with pytest.raises(ValueError, match="'X' is not here: choose among"):
        page.run(["X"], tmp_path, tmp_path / "page.md")


@pytest.mark.slow
def test_temporal_measures_both_views(tmp_path, monkeypatch):
    """In class 1, vertex 1 meets 2 before 2 meets 3: only a model in time sees it."""
    pytest.importorskip("pandas")
    lines = {"A": "", "edge_attributes": "", "graph_indicator": "", "graph_labels": "", "node_labels": ""}
    for number in range(24):
        base, order = 3 * number, (1, 2) if number % 2 else (2, 1)
        lines["A"] += f"{base + 1}, {base + 2}\n{base + 2}, {base + 3}\n"
        lines["edge_attributes"] += f"{order[0]}\n{order[1]}\n"
        lines["graph_indicator"] += f"{number + 1}\n" * 3
        lines["graph_labels"] += f"{number % 2}\n"
        lines["node_labels"] += "0, 1\n0, 0\n0, 0\n"
    with zipfile.ZipFile(tmp_path / "temporal.zip", "w") as archive:
        for kind, text in lines.items():
            archive.writestr(f"dblp_ct1/dblp_ct1_{kind}.txt", text)
    monkeypatch.setattr(temporal, "FOLDS", 2)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    cells = temporal.run(["dblp_ct1"], tmp_path, tmp_path / "page.md", jobs=1).splitlines()[2].split(" | ")
    assert cells[2:4] == ["100.0 ± 0.0", "2 of 2"]
    assert float(cells[1].split(" ")[0]) < 70


@pytest.mark.slow
def test_edge_labels_are_compared_on_the_same_folds(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(40):  # the class is the label of most edges: no kernel without them can see it
        graph = nx.cycle_graph(int(rng.integers(5, 9)))
        nx.set_node_attributes(graph, "C", "label")
        nx.set_edge_attributes(graph, "single" if number % 2 else "double", "label")
        graphs.append(graph)
    database = pk.from_networkx(graphs, edge_label="label")
    monkeypatch.setattr(pk.datasets, "load", lambda name: Dataset("rings", database, np.arange(40) % 2))
    edge_labels.main(["--dataset", "MUTAG", "-o", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.count("| 100.0 |") == 4
    assert "| MUTAG | 40 | Weisfeiler-Lehman |" in printed


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A graph of two classes under the name of a published one."""
    rng, n, buffer = np.random.default_rng(0), 160, BytesIO()
    labels, edges = np.repeat([0, 1], n // 2), rng.integers(0, n, (2, 400))
    parts = {"n_nodes": n, "edges": edges[:, edges[0] != edges[1]], "labels": labels, "x_shape": [n, 2]}
    parts |= {"x_data": (np.eye(2)[labels] + rng.random((n, 2))).ravel(), "x_indices": np.tile([0, 1], n)}
    np.savez(buffer, x_indptr=np.arange(n + 1) * 2, **parts)
    with zipfile.ZipFile(tmp_path / "nodes.zip", "w") as file:
        file.writestr("amazon_photo.npz", buffer.getvalue())
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    return tmp_path


def test_random_splits_of_nodes(archive):
    train, validation, test = nodes.split_of("amazon_photo", 0)
    labels = nodes.read("amazon_photo").labels
    assert np.bincount(labels[train]).tolist() == [20, 20]
    assert np.bincount(labels[validation]).tolist() == [30, 30]
    assert sorted([*train, *validation, *test]) == list(range(len(labels)))
    few, none, rest = nodes.few_of("amazon_photo", 0, 5)
    assert (len(few), len(none), len(rest)) == (10, 0, len(labels) - 10)
    joined = csr_array(np.kron(np.eye(2), np.ones((3, 3))) + np.eye(6, k=3) + np.eye(6, k=-3))
    apart = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    for adjacency, size in ((joined, 6), (apart, 2)):
        n_nodes = adjacency.shape[0]
        found = nodes.largest_component(
            nodes.Nodes(adjacency, csr_array(np.eye(n_nodes)), np.arange(n_nodes), None)
        )
        assert found.labels.tolist() == list(range(size))


@pytest.mark.slow
def test_nodes(archive, monkeypatch):
    monkeypatch.setattr(nodes, "CURVE", (2,))
    table = nodes.run(["amazon_photo"], archive / "results", archive / "page.md", repeats=1)
    assert "| amazon_photo |" in table
    assert "coinciding walks" in (archive / "page.md").read_text()
    lines = (archive / "results" / "nodes.jsonl").read_text().splitlines()
    assert len(lines) == 7  # five methods, two curves
    monkeypatch.setattr(nodes, "measure", None)  # nothing is measured again
    assert nodes.run(["amazon_photo"], archive / "results", archive / "page.md", repeats=1) == table


def test_methods_are_compared_on_the_splits_that_all_have(tmp_path):
    measured = [(0, nodes.OURS, 0.8), (1, nodes.OURS, 0.6), (0, nodes.SPREADING, 0.3)]
    results = [
        nodes.NodeResult("texas", split, 0, method, score, 1.0, "") for split, method, score in measured
    ]
    fits = [nodes.LargeFit("planted", 10**6, 10**7, 100, took, 80.0, 2000, 3500, 0.99) for took in (99, 77)]
    nodes.write_page(results, tmp_path / "page.md", fits)
    page = (tmp_path / "page.md").read_text()
    assert "| texas | 1 | 80.0 | - | 30.0 | - | - |" in page
    assert "| planted | 1,000,000 | 10,000,000 | 100 | 77.0 | 80.0 | 2,000 | 3,500 | 99.0 |" in page


def test_test_graphs_are_the_rest_and_as_many_others():
    normal, other = DATA.graphs[:40], DATA.graphs[40:]
    train, test, is_normal = novelty.split(normal, other, 0)
    assert (len(train), len(test), int(is_normal.sum())) == (36, 8, 4)
    sizes = np.sort(np.concatenate([train.graph_sizes, test.graph_sizes[:4]]))
    assert np.array_equal(sizes, np.sort(normal.graph_sizes))


@pytest.mark.slow
def test_novelty(quick, tmp_path, monkeypatch):
    table = novelty.run(["BZR", "class BZR"], tmp_path, tmp_path / "page.md", repeats=2, jobs=1)
    page = (tmp_path / "page.md").read_text()
    assert "| BZR/COX2 | 87.4 |" in page
    assert "| BZR (class) |" in page
    novelty.load.cache_clear()
    monkeypatch.setattr(pk.datasets, "load", None)  # nothing is measured again
    assert novelty.run(["BZR"], tmp_path, tmp_path / "page.md", repeats=2, jobs=1) == table


@pytest.mark.parametrize(
    "name",
    [
        "edge_labels",
        "foreign",
        "pictures",
        "animation",
        "choices",
    ],
)
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as caught:
        importlib.import_module(f"reproduction.extra.{name}").main(["--help"])
    assert caught.value.code == 0
    assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "settings"), [("defaults", {}), ("fair", {}), ("scaffolds", {}), ("coverage", {})]
)
def test_the_page_is_what_its_records_say(name, settings, tmp_path, monkeypatch):
    """Records are complete: nothing is measured. After a change of a page's text, write it again."""
    page = importlib.import_module(f"reproduction.{PAGES[name][0]}")
    monkeypatch.setattr("reproduction.extra.records.keep_records", None)
    page.run([], ROOT / "reproduction" / "records", tmp_path / "page.md", **settings)
    assert (tmp_path / "page.md").read_text() == (ROOT / "docs" / "measured" / f"{name}.md").read_text()
