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


def test_series_by_name_are_those_by_position():
    """Targets, masks and weights in another order of rows, of graphs with and without names."""
    order = np.random.default_rng(0).permutation(34)
    y, held, weights = (
        pd.Series(ROWS, NAMES),
        pd.Series(False, NAMES),
        pd.Series(np.arange(34) % 3 + 1.0, NAMES),
    )
    held[list(KNOWN)[::3]] = True
    matrix = nx.to_scipy_sparse_array(BARE)
    for graph, index in ((BARE, NAMES), (matrix, range(34))):
        parts = [part.set_axis(list(index)) for part in (y, held, weights)]
        moved = [part.iloc[order] for part in parts]
        fits = [
            pk.NodeClassifier(random_state=0).fit(graph, target, validation=mask, sample_weight=sizes)
            for target, mask, sizes in (
                [part.to_numpy() for part in parts],
                moved,
                (moved[0], moved[1].to_dict(), parts[2]),
            )
        ]
        for fitted in fits[1:]:
            np.testing.assert_array_equal(fitted.decisions_, fits[0].decisions_)
        walks, features = (
            pk.nodes.CoincidingWalkKernel(t_max=2),
            pk.nodes.NodeFeatures(t_max=1, random_state=0),
        )
        for one in (walks, features):
            expected = one.fit_transform(graph, parts[0].to_numpy())
            np.testing.assert_array_equal(one.fit_transform(graph, moved[0]), expected)
    with pytest.raises(ValueError, match="sample_weight has no weight for the node 'c1'"):
        pk.NodeClassifier().fit(BARE, KNOWN, sample_weight={"c0": 1.0})


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
