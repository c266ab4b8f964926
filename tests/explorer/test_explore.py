"""explore: from graphs, a target and a model to a page, and what it refuses."""

import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import propkernels as pk
from propkernels.explorer.exploration import SCRIPTS
from propkernels.explorer.explore import twins
from propkernels.explorer.page_codes import NotLive
from propkernels.explorer.page_contents import page_about
from propkernels.kernels import GraphHopper
from propkernels.propagation import AbsorbingWalk, LabelImputer
from tests.explorer.conftest import embedded


@pytest.mark.slow
def test_the_same_page_twice_with_held_out_predictions(data):
    pages = [pk.explore(data, title="t") for _ in range(2)]
    assert pages[0].html == pages[1].html
    page = pages[0]
    assert page.model.kernel is None
    assert page.points.shape == (40, 2)
    assert np.isfinite(page.points).all()
    assert 0 <= page.novelty.min() <= page.novelty.max() <= 1
    correct = float(np.mean(page.predictions == data.target))
    assert f"{100 * correct:.1f} % predicted correctly (default model, held out)" in page.html


@pytest.mark.slow
def test_edge_labels_and_missing_labels():
    rng = np.random.default_rng(0)
    ring = np.roll(np.eye(6), 1, axis=1)
    graphs = [(ring + ring.T, rng.choice(["C", "N", None], 6).tolist()) for _ in range(20)]
    assert pk.explore(graphs, rng.integers(0, 2, 20)).model.imputer_ is None


TIMES = pd.DataFrame({"graph": [0, 1], "source": "a", "target": "b", "time": [1, 2]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [0, 1]}, "one value for each of 40 graphs"),
        ({"target": np.zeros((40, 2))}, r"a page shows one target only; got shape \(40, 2\)"),
        ({"target": [0] * 40}, "at least 2 classes"),
        ({"target": [np.inf] + [0.5] * 39}, "finite"),
        ({"target": np.arange(40) % 3}, r"its classes are \[0, 1\], but the target has \[0, 1, 2\]"),
        ({"target": np.arange(40) + 0.5}, "it predicts classes, but the target has numbers"),
        ({"target": None}, "a model requires a target"),
        ({"model": pk.PropagationClassifier()}, "not a fitted PropagationClassifier"),
        ({"ids": ["a"]}, "1 ids for 40 graphs"),
        ({"class_names": ["a"]}, "must name 2 classes"),
        ({"columns": {"x": [1]}}, "column 'x' must hold 40 values"),
        ({"layout": np.zeros((3, 2))}, "a point for each"),
        ({"graphs": [np.ones((1, 1))], "target": [0]}, "2 to 50,000 graphs"),
        ({"molecules": ["C", "CC"]}, "2 molecules for 40 graphs"),
        ({"graphs": pk.from_contacts(TIMES), "target": [0, 1]}, "graphs in time: .*plot_contacts"),
    ],
)
def test_bad_input(data, model, change, message):
    arguments = {"graphs": data.graphs, "target": data.target, "model": model} | change
    with pytest.raises(ValueError, match=message):
        pk.explore(**arguments)


def test_layouts_are_finite_numbers(data):
    with pytest.raises(ValueError, match="finite numbers only"):
        pk.explore(data.graphs, layout=np.full((data.graphs.n_nodes, 2), np.nan))


FUNCTION = AbsorbingWalk(lambda graphs: graphs.degrees > 2)
REFUSED = {
    "base kernel": ({"kernel": pk.PropagationKernel(base_kernel="rbf")}, "without counting bins"),
    "edge weights": ({"kernel": pk.WeisfeilerLehman(edge_weights=True)}, "weights"),
    "square roots": ({"kernel": pk.PropagationKernel(metric="hellinger")}, "square roots"),
    "scheme": ({"kernel": pk.PropagationKernel(propagation="belief_propagation")}, "BeliefPropagation"),
    "function": ({"kernel": pk.PropagationKernel(propagation=FUNCTION)}, "AbsorbingWalk"),
    "pairs of graphs": ({"kernel": GraphHopper()}, "GraphHopper|HopCounter|code function"),
    "probabilities": ({"kernel": pk.WeisfeilerLehman(t_max=1), "solver": "gp"}, "Gaussian process"),
    "several targets": ({"kernel": pk.WeisfeilerLehman(t_max=1)}, "several targets"),
    "labels filled in": ({"kernel": pk.WeisfeilerLehman(t_max=1)}, "fills in missing node labels"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_page_cannot_compute_is_refused_in_a_sentence(data, name):
    options, reason = REFUSED[name]
    target = np.column_stack([data.target, 1 - data.target]) if name == "several targets" else data.target
    model = pk.PropagationClassifier(C=1, t_max=None, random_state=0, **options).fit(data.graphs, target)
    if name == "labels filled in":
        model.imputer_ = LabelImputer().fit(data.graphs)
    with pytest.raises(NotLive, match=reason) as refused:
        pk.explore(data.graphs, data.target, model)
    assert str(refused.value).startswith("a page cannot show this PropagationClassifier: ")
    assert "it can show models of Weisfeiler-Lehman" in str(refused.value)


@pytest.mark.slow
def test_given_models_are_shown_themselves(data):
    model = pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    assert len(model.rule_.members) > 1
    page = pk.explore(data.graphs, data.target, model)
    assert page.model is model
    assert len(embedded(page.html, "ex-meta")["members"]) == len(model.rule_.members)
    assert f"least squares on {len(model.rule_.members)} kernels" in page.html


def test_attributes_are_used_or_named(data):
    attributes = np.random.default_rng(0).normal(size=(data.graphs.n_nodes, 1))
    graphs = data.graphs.with_attributes(attributes)
    page = pk.explore(graphs, data.target)
    assert any("attributes" in code for code in embedded(page.html, "ex-meta")["codes"])
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    html = pk.explore(graphs, data.target, model.fit(graphs, data.target)).html
    assert "1 node attribute is not used by the model of this page." in html


def test_numbers_are_predicted_for_every_graph(data):
    """Real numbers occur once each: no fold has all of them in its training part."""
    page = pk.explore(data.graphs, np.random.default_rng(0).random(40))
    assert np.isfinite(page.predictions).all()
    assert "root mean squared error 0." in page.html
    assert not re.search(r"\bnan\b", page.html.partition("<script")[0].lower())
    large = pk.explore(data.graphs, np.array([2.0**60, 2.0**70])[data.target])
    assert np.abs(large.predictions).max() > 2.0**59
    sizes = data.graphs.graph_sizes  # whole numbers, which a regressor predicts
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard")
    model = pk.PropagationRegressor(kernel=kernel, C=10, random_state=0).fit(data.graphs, sizes)
    shown = pk.explore(data.graphs, sizes, model)
    assert shown.model is model
    np.testing.assert_allclose(shown.predictions, model.predict(data.graphs))


def test_graphs_without_a_target_are_left_out(data):
    target = data.target.astype(object)
    target[::4] = None
    known = np.flatnonzero(np.arange(40) % 4)
    layout = np.arange(2.0 * data.graphs.n_nodes).reshape(-1, 2)
    options = {"columns": {"number": np.arange(40)}, "ids": [f"graph{i}" for i in range(40)]}
    with pytest.warns(UserWarning, match="10 of 40 graphs have no target and are left out"):
        page = pk.explore(data.graphs, target, layout=layout, **options)
    assert page.predictions.shape == (30,)
    assert embedded(page.html, "ex-meta")["ids"] == [f"graph{i}" for i in known]
    assert "10 of 40 graphs have no target and are left out" in page.html


def test_graphs_that_are_the_same_with_other_classes_are_named():
    similarities = np.array([[1.0, 0.5], [1.0, 0.4], [0.9, 0.5]])
    neighbors, classes = np.array([[1, 2], [0, 2], [1, 0]]), np.array([0, 1, 1])
    assert twins(similarities, neighbors, classes).tolist() == [1, 0, -1]


def test_the_header_says_whether_graphs_were_held_out(data, model):
    training = pk.explore(data.graphs, data.target, model).html
    assert "% predicted correctly (given model, probably on its training molecules)" in training
    fewer = pk.explore(data.graphs[:20], data.target[:20], model).html
    assert "(given model; its training molecules may be among them)" in fewer


def test_pages_of_molecules_speak_of_molecules_and_about_has_no_code(data):
    html = pk.explore(data.graphs, data.target).html
    text = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", html, flags=re.S)
    assert "chosen and learned without it" in text
    assert not re.search(r"\b(graphs?|nodes?|surroundings)\b", text), text
    assert not re.search(r"\bA atom\b|\b[A-Z]\w+\((?!\.)\w+=", text)
    assert f"{len(data.graphs)} molecules · " in text
    words = embedded(html, "ex-meta")["glossary"]
    assert "90 % set" in words
    assert "90 % interval" not in words
    paragraphs = page_about(None, pk.WeisfeilerLehman(), 7)
    assert "exact 7 nearest neighbors" in paragraphs[0]
    assert paragraphs[-1] == "There is no target, so no model was trained."


def test_a_frame_for_notebooks(data, model):
    page = pk.explore(data.graphs, data.target, model, title='"><script>alert(1)</script>')
    frame = page._repr_html_()
    assert frame.count("<") == 2
    assert 'sandbox="allow-scripts allow-downloads"' in frame


@pytest.mark.slow
def test_scripts_are_complete_and_valid():
    static = files("propkernels.explorer") / "static"
    names = {*SCRIPTS["page"], *SCRIPTS["nodes"]}
    assert {path.name for path in static.iterdir() if path.name.endswith(".js")} == {f"{s}.js" for s in names}
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the syntax of the scripts is checked by Chromium alone")
    for name in names:
        subprocess.run([node, "--check", str(static / f"{name}.js")], check=True, capture_output=True)
