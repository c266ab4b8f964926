"""Pages of nodes: what they hold, and what they refuse."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.explorer.node_page import explained_arrays, lead_of
from tests.explorer.conftest import embedded

CLUB = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None, format="csr")
TRUTH = np.array([nx.karate_club_graph().nodes[i]["club"] for i in range(34)])
KNOWN = [0, 1, 2, 3, 30, 31, 32, 33]


@pytest.fixture(scope="module")
def model():
    y = np.full(34, None, dtype=object)
    y[KNOWN] = TRUTH[KNOWN]
    return pk.NodeClassifier(C=1.0, random_state=0).fit(CLUB, y)


@pytest.fixture(scope="module")
def page(model):
    return pk.explore(CLUB, TRUTH, model, title="Club", ids=[f"member {i}" for i in range(34)])


def meta_of(page):
    return embedded(page.html, "ex-meta")


def test_a_page_has_all_nodes_and_the_model(page, model):
    meta = meta_of(page)
    assert repr(page).startswith("Exploration(Club: 34 nodes")
    assert page.points.shape == (34, 2)
    assert page.model is model
    assert meta["noun"] == "node"
    assert meta["classes"] == ["Mr. Hi", "Officer"]
    assert meta["ids"][3] == "member 3"
    assert meta["first"] not in KNOWN
    assert [column["name"] for column in meta["columns"]][:3] == ["prediction", "class", "errors"]
    assert (page.predictions == np.searchsorted(model.classes_, model.predict())).all()


def test_the_facts_count_nodes_that_the_model_did_not_learn_from(page, model):
    right = np.mean(model.predict()[np.setdiff1d(np.arange(34), KNOWN)] == np.delete(TRUTH, KNOWN))
    assert "34 nodes · 78 edges · 8 with known class · " in page.html
    assert f"{100 * right:.1f} % of 26 others predicted correctly" in page.html
    assert pk.check_graphs([CLUB]).adjacency.diagonal().sum() == 0, "a page leaves the graph as it is"


def test_explanations_of_the_page_add_up(model):
    explanation = model.explain(np.arange(34))
    arrays, names = explained_arrays(explanation, np.ones(34, dtype=np.int64))
    np.testing.assert_allclose(arrays["totals"] + arrays["intercepts"], arrays["decisions"], atol=1e-5)
    assert arrays["sizes"].sum() == len(arrays["neighbors"]) == len(arrays["adds"])
    assert arrays["columns"].max() == len(names) - 1


def test_neighbors_of_named_nodes_are_places_in_the_graph():
    turned = nx.relabel_nodes(nx.Graph(CLUB), {i: f"member {33 - i}" for i in range(34)})
    whole = nx.Graph()
    whole.add_nodes_from(sorted(turned, key=lambda name: int(name.split()[1])))
    whole.add_edges_from(turned.edges)
    known = np.full(34, None, dtype=object)
    known[KNOWN] = TRUTH[::-1][KNOWN]
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(whole, known)
    page = pk.explore(whole, None, model)
    meta = meta_of(page)
    assert meta["ids"] == [f"member {i}" for i in range(34)]
    explanation = model.explain([5])
    arrays, _ = explained_arrays(explanation, np.ones(1, dtype=np.int64))
    named = [meta["ids"][place] for place in arrays["neighbors"]]
    assert named == [record["node"] for record in explanation.records(0, 16)]


def test_numbers_and_places(model):
    y = np.where(np.arange(34) % 3, np.nan, np.arange(34.0))
    regressor = pk.NodeRegressor(C=1.0, random_state=0).fit(CLUB, y)
    layout = np.random.default_rng(0).normal(size=(34, 2))
    page = pk.explore(CLUB, np.arange(34.0), regressor, layout=layout)
    assert (page.points == layout).all()
    assert "root mean squared error" in page.html
    assert meta_of(page)["classes"] is None


def test_refusals(model):
    with pytest.raises(ValueError, match="the graph that the model was fitted to"):
        pk.explore(nx.path_graph(34), TRUTH, model)
    with pytest.raises(ValueError, match="3 ids for 34 nodes"):
        pk.explore(CLUB, TRUTH, model, ids=["a", "b", "c"])
    with pytest.raises(ValueError, match="layout has shape"):
        pk.explore(CLUB, TRUTH, model, layout=np.zeros((3, 2)))


def test_leads():
    np.testing.assert_allclose(lead_of(np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])), [0.2, 1.0])


@pytest.mark.slow
def test_nodes_open_in_a_browser(browser, model, tmp_path):
    evil = "</script><img src=x onerror=alert(1)>"
    names = [*(f"member {i}" for i in range(33)), evil]
    page = pk.explore(CLUB, TRUTH, model, title=evil, ids=names, columns={evil: np.arange(34) % 3})
    browser.open(page.save(tmp_path / "nodes.html"))
    browser.run("propkernels.select(33)")
    assert browser.text("#ex-name") == evil
    assert "17 neighbors" in browser.text("#ex-status")
    assert browser.run("return propkernels.app.map.links.length") == 17
    shown = float(browser.all("#ex-sums .ex-total td")[2].text.replace("−", "-"))
    assert abs(shown - model.explain([33]).decisions[0]) < 6e-4
    dots = "return getComputedStyle(document.querySelector('#ex-verdict .ex-dot')).backgroundColor"
    light = browser.run(dots)
    browser.theme("dark")
    assert browser.run(dots) != light, "all that is said of a node has the colors of the theme"
    browser.click("#ex-next")
    assert browser.text("#ex-name") != evil
    assert browser.complaints() == []
