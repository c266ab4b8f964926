"""HTML of results for notebooks: well formed, escaped, without scripts."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs.drawing import MOST_DRAWN, graph_svg
from propkernels.propagation import Diffusion
from tests.html import Elements

EVIL = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def results():
    """One result of each kind, of graphs whose labels and ids are markup."""
    data = pk.datasets.make_molecules(40, random_state=0)
    labels = np.where(data.graphs.node_labels == "N", EVIL, data.graphs.node_labels)
    graphs = data.graphs.with_labels(labels).with_ids([f"{EVIL}{i}" for i in range(40)])
    classes = np.where(data.target == 1, EVIL, "<b>")
    kernel = pk.PropagationKernel(propagation=Diffusion(0.5, "none"), t_max=1, random_state=0)
    model = pk.PropagationClassifier(kernel=kernel, t_max=1, C=10.0, random_state=0).fit(graphs, classes)
    named = pk.datasets.Dataset(EVIL, graphs, data.target, target_names=(EVIL, "b"), description=EVIL)
    return {
        "Dataset": named,
        "GraphDatabase": graphs,
        "Graph": graphs[0],
        "Explanation": model.explain(graphs[:2]),
        "Counterfactuals": model.counterfactuals(graphs[0], n=3, budget=1000),
        "Similarity": pk.similar_because(graphs[0], graphs[1], kernel=kernel),
        "Bins": model.top_bins(graphs, classes, n=3),
        "Evaluation": pk.evaluate(named, model=kernel, cv=3, random_state=0),
    }


NAMES = (
    "Dataset", "GraphDatabase", "Graph", "Explanation", "Counterfactuals", "Similarity", "Bins", "Evaluation"
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_markup_in_labels_is_text(results, name):
    html = results[name]._repr_html_()
    found = Elements(html)
    assert not {"img", "script", "b"} & set(found.names)
    assert 'class="pk"' in html
    assert len(html) < 120_000
    assert EVIL in found.text or name == "Explanation"


@pytest.mark.parametrize("name", ["Dataset", "GraphDatabase", "Graph", "Explanation", "Counterfactuals"])
def test_graphs_are_drawn(results, name):
    found = Elements(results[name]._repr_html_()).names
    assert found.count("svg") >= 1
    assert found.count("circle") >= results["Graph"].n_nodes


def test_empty_and_large_graphs():
    empty = pk.GraphDatabase(np.zeros((0, 0)), [0, 0])
    large = pk.GraphDatabase(np.zeros((MOST_DRAWN + 1,) * 2), [0, MOST_DRAWN + 1])
    for graphs in (empty, large):
        assert "circle" not in Elements(graphs._repr_html_()).names
        assert "circle" not in Elements(graphs[0]._repr_html_()).names
    assert "not drawn" in large[0]._repr_html_()
    lonely = pk.GraphDatabase(np.zeros((1, 1)), [0, 1])
    assert Elements(lonely[0]._repr_html_()).names.count("circle") == 1


def test_values_are_colors_and_marks_are_rings():
    graph = pk.datasets.make_molecules(1, random_state=0).graphs[0]
    values = np.linspace(-1, 1, graph.n_nodes)
    svg = graph_svg(graph, values=values, marked=[0])
    assert "fill: color-mix(in srgb, var(--against, #2166ac) 80%, " in svg
    assert "fill: color-mix(in srgb, var(--for, #b2182b) 80%, " in svg
    assert svg.count('stroke-width="2.5"') == 1
    assert "node 0 C: -1" in svg


def test_names_stand_for_labels():
    graph = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], [0, 1])[0]
    assert ">Cl</text>" in graph_svg(graph, names={0: "Cl"})


def test_targets_that_are_numbers():
    data = pk.datasets.make_molecules(3, random_state=0)
    numbers = pk.datasets.Dataset("numbers", data.graphs, np.array([0.5, 1.5, 2.0]))
    assert Elements(numbers._repr_html_()).names.count("svg") == 3
