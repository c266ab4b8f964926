"""Names of nodes: in targets, predictions, explanations and files of models."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk

pd = pytest.importorskip("pandas")
NAMES = [f"c{i}" for i in range(34)]
CLUB = nx.relabel_nodes(nx.karate_club_graph(), dict(enumerate(NAMES)))
TRUTH = {name: CLUB.nodes[name]["club"] for name in NAMES}
KNOWN = {name: TRUTH[name] for name in NAMES[:5] + NAMES[-5:]}
ROWS = [KNOWN.get(name) for name in NAMES]
BARE = nx.Graph()
BARE.add_nodes_from(NAMES)
BARE.add_edges_from(CLUB.edges)
EDGES = pd.DataFrame(list(BARE.edges), columns=["source", "target"])
NODES = pd.DataFrame({"person": NAMES[::-1], "club": [KNOWN.get(name) for name in NAMES[::-1]]})
FIRST = pk.NodeClassifier(random_state=0).fit(BARE, np.array(ROWS, dtype=object))


@pytest.mark.parametrize(
    ("graph", "y"),
    [
        (BARE, KNOWN),
        (BARE, pd.Series(KNOWN)),
        (BARE, pd.Series(KNOWN).sample(frac=1, random_state=1)),
        ((EDGES, NODES[["person"]]), pd.Series(KNOWN)),
        ((EDGES, NODES), "club"),
    ],
    ids=["dict", "series", "shuffled series", "tables", "column"],
)
def test_targets_by_name_are_those_by_position(graph, y):
    model = pk.NodeClassifier(random_state=0).fit(graph, y)
    by_name = dict(zip(model.node_names_, model.predict().tolist(), strict=True))
    assert set(by_name) == set(NAMES)
    assert np.mean([by_name[name] == TRUTH[name] for name in NAMES]) > 0.85
    if graph is BARE:
        assert [by_name[name] for name in NAMES] == FIRST.predict().tolist()


def test_predictions_of_some_nodes():
    every, chances = FIRST.predict(), FIRST.predict_proba()
    for nodes in (["c9", "c1"], [9, 1], np.array(["c9", "c1"])):
        assert FIRST.predict(nodes=nodes).tolist() == every[[9, 1]].tolist()
        np.testing.assert_array_equal(FIRST.predict_proba(nodes=nodes), chances[[9, 1]])
        np.testing.assert_array_equal(FIRST.decision_function(nodes=nodes), FIRST.decision_function()[[9, 1]])
    other = FIRST.predict(BARE.subgraph(NAMES[:20]))
    assert FIRST.predict(BARE.subgraph(NAMES[:20]), nodes=["c3"])[0] in set(other)
    plain = pk.NodeClassifier(random_state=0).fit(
        nx.to_scipy_sparse_array(BARE), np.array(ROWS, dtype=object)
    )
    assert plain.predict(nodes=[1, 2]).tolist() == every[[1, 2]].tolist()


def test_explanations_call_nodes_by_name(tmp_path):
    explanation = FIRST.explain("c5")
    assert explanation.records(0, 3)[0]["node"] in NAMES
    assert "c5" in explanation.table(0)
    np.testing.assert_array_equal(explanation.nodes, [5])
    pk.save_model(FIRST, tmp_path / "club.pk")
    again = pk.load_model(tmp_path / "club.pk")
    assert again.node_names_ == NAMES
    assert again.explain(["c5"]).table(0) == explanation.table(0)


def test_numbers_regress_by_name():
    path = nx.relabel_nodes(nx.path_graph(40), {i: 100 + i for i in range(40)})
    y = {100 + i: float(i) for i in range(0, 40, 2)}
    model = pk.NodeRegressor(random_state=0).fit(path, y)
    assert model.score(None, y) == model.score(None, [y.get(100 + i, np.nan) for i in range(40)])
    np.testing.assert_array_equal(model.predict(nodes=[139, 100]), model.predict()[[39, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FIRST.predict(nodes=["nobody"]), "has the node 'nobody', which the graph does not have"),
        (lambda: FIRST.explain([[1], [2, 3]]), "which the graph does not have"),
        (lambda: pk.NodeClassifier().fit(BARE, {"x": 1, "y": 0}), "has the node 'x'"),
        (lambda: pk.NodeClassifier().fit((EDGES, NODES), "team"), "the column 'team' of the table of nodes"),
        (lambda: pk.NodeClassifier().fit(BARE, "club"), "of the table of nodes, which is not given"),
        (lambda: FIRST.predict(y=KNOWN), "pass the graph, too"),
    ],
)
def test_refusals_name_the_node(call, message):
    with pytest.raises(ValueError, match=message):
        call()
