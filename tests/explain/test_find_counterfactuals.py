"""Counterfactuals of a model and a graph: inputs and errors, a naive search, and questions."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.edits import KINDS
from tests.explain import naive
from tests.explain.small_models import KERNELS, fitted, small_graphs


@pytest.fixture(scope="module")
def data():
    return small_graphs(40, 0)


def key(edits):
    """Edits as the naive search writes them."""
    return [
        (e.kind, e.node, None if e.kind in ("relabel", "add_leaf") else e.other, e.label, e.edge_label)
        for e in edits
    ]


def test_other_libraries_and_unfitted_models(data):
    from sklearn.exceptions import NotFittedError

    plain = naive.from_database(data[0][0])
    assert len(fitted(KERNELS["fast"], data).counterfactuals(plain, n=2)) == 2
    with pytest.raises(NotFittedError):
        pk.PropagationClassifier().counterfactuals(plain)


# search


def naive_singles(model, graph):
    """All single edits, the graphs after them, margins towards the other class, and which reach it."""
    plain = naive.from_database(graph)
    before = model.decision_function([graph])[0]
    edits = naive.single(plain, ["C", "N", "O"], [None], KINDS)
    graphs = [naive.apply(plain, edit) for edit in edits]
    decisions = naive.decisions(model, graphs, graph.database)
    return edits, graphs, -np.sign(before) * decisions, (decisions > 0) != (before > 0)


def naive_pairs(model, graph):
    """Margins of all graphs that two edits lead to and one does not, where neither edit suffices."""
    edits, graphs, _, flips = naive_singles(model, graph)
    enough = {edit for edit, flip in zip(edits, flips, strict=True) if flip}
    known = {signature(one) for one in (naive.from_database(graph), *graphs)}
    pairs = {}
    for first, one, flip in zip(edits, graphs, flips, strict=True):
        for second in [] if flip else naive.single(one, ["C", "N", "O"], [None], KINDS):
            on_new = graph.n_nodes in second[1:3] and second[0] not in ("add_leaf", "add_edge")
            if second not in enough and not on_new and not is_one_relabeled(first, second):
                two = naive.apply(one, second)
                pairs[signature(two)] = two
    left = [two for name, two in pairs.items() if name not in known]
    before = model.decision_function([graph])[0]
    return -np.sign(before) * naive.decisions(model, left, graph.database)


def signature(graph):
    return repr(sorted(graph.nodes(data="label"))) + repr(sorted(map(sorted, graph.edges)))


def is_one_relabeled(first, second):
    """A leaf, and another one in its place; or a leaf relabeled and removed."""
    by_kind = {first[0]: first, second[0]: second}
    if set(by_kind) == {"add_leaf", "remove_leaf"}:
        return by_kind["add_leaf"][1] == by_kind["remove_leaf"][2]
    return set(by_kind) == {"relabel", "remove_leaf"} and first[1] == second[1]


def margins_of(found):
    return -np.sign(found.decision_before) * found.decision


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_single_edits_are_those_of_a_naive_search(name, data):
    model = fitted(KERNELS[name], data)
    for i in range(0, 12, 3):
        graph = data[0][i]
        found = model.counterfactuals(graph, max_edits=1, n=1000)
        _, _, margins, flips = naive_singles(model, graph)
        assert found.reached == flips.any()
        wanted = margins[flips] if found.reached else margins
        np.testing.assert_allclose(margins_of(found), -np.sort(-wanted), rtol=0, atol=1e-11)
        again = [naive.apply(naive.from_database(graph), *key(edits)) for edits in found.edits]
        np.testing.assert_allclose(naive.decisions(model, again, data[0]), found.decision, rtol=0, atol=1e-11)
        changed = model.predict([found.graph(j) for j in range(len(found))]) != found.prediction_before
        assert changed.all() == found.reached


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fast", "assigned"])
def test_pairs_are_those_of_a_naive_search(name, data):
    model = fitted(KERNELS[name], data)
    sizes = data[0].graph_sizes
    tried = 0
    for i in np.flatnonzero(sizes == 4)[:3]:
        graph = data[0][int(i)]
        found = model.counterfactuals(graph, n=100_000, budget=10**7)
        assert found.exhaustive
        _, _, _, flips = naive_singles(model, graph)
        margins = naive_pairs(model, graph)
        n_edits = np.array([len(edits) for edits in found.edits])
        assert (n_edits == 1).sum() == flips.sum()
        assert (np.diff(n_edits) >= 0).all()
        # two orders of the same edits may lead to one graph: margins are compared, each once
        wanted = np.unique(np.round(margins[margins > 0], 9))
        np.testing.assert_allclose(np.unique(np.round(margins_of(found)[n_edits == 2], 9)), wanted, atol=1e-8)
        tried += len(wanted)
    assert tried > 10


# questions


@pytest.mark.slow
def test_a_target_class():
    data = pk.datasets.make_molecules(60, random_state=0)
    classes = np.where(data.target == 1, "yes", "no").astype(object)
    classes[np.arange(60) % 7 == 0] = "odd"
    model = pk.PropagationClassifier(kernel=KERNELS["fast"], t_max=2, C=100.0, random_state=0)
    model.fit(data.graphs, classes)
    graph = data.graphs[1]
    assert model.counterfactuals(graph, n=5).prediction_before == "yes"
    for target in ("no", "odd"):
        found = model.counterfactuals(graph, n=5, target=target, max_edits=1)
        assert not found.reached or set(found.prediction) == {target}
        assert (np.diff(found.decision) <= 1e-12).all()
    with pytest.raises(ValueError, match="already"):
        model.counterfactuals(graph, target="yes")
    with pytest.raises(ValueError, match="one of the classes"):
        model.counterfactuals(graph, target="maybe")


def test_several_labels(data):
    graphs, target = data
    labels = np.column_stack([target, np.diff(graphs.graph_ptr) > 4]).astype(float)
    model = pk.PropagationClassifier(kernel=KERNELS["fast"], t_max=2, C=10.0, random_state=0)
    found = model.fit(graphs, labels).counterfactuals(graphs[0], target=1, n=3)
    assert found.reached
    assert all(model.predict([found.graph(i)])[0, 1] != found.prediction_before for i in range(len(found)))
    with pytest.raises(ValueError, match="number of one label"):
        model.counterfactuals(graphs[0])


def test_numbers(data):
    graphs = data[0]
    model = pk.PropagationRegressor(kernel=KERNELS["fast"], t_max=2, C=10.0, random_state=0)
    model.fit(graphs, np.diff(graphs.graph_ptr) + np.arange(40) % 3)
    graph, now = graphs[0], float(model.predict(graphs[:1])[0])
    largest = model.counterfactuals(graph, n=8, max_edits=1)
    changes = np.abs(largest.decision - now)
    assert (np.diff(changes) <= 1e-12).all()
    np.testing.assert_allclose(largest.decision, model.predict([one.graph for one in largest]), atol=1e-12)
    goal = now + 0.6 * (largest.decision.max() - now)
    reached = model.counterfactuals(graph, n=4, target=goal)
    assert reached.reached
    assert (reached.decision >= goal).all()
    far = model.counterfactuals(graph, n=2, target=now + 1e6, budget=1000)
    assert not far.reached
    assert "closest" in str(far)


# text and tables


@pytest.mark.parametrize(
    ("graph", "options", "kind", "message"),
    [
        (small_graphs(2, 0)[0], {}, ValueError, "a single graph, got 2"),
        (pk.GraphDatabase([[0, 1], [0, 0]], [0, 2], ["C", "N"]), {}, ValueError, "directed edges"),
        (pk.GridDatabase([np.zeros((3, 3), dtype=int)])[0], {}, TypeError, "images"),
        (small_graphs(1, 0)[0], {"max_edits": 3}, ValueError, "at most 2"),
        (small_graphs(1, 0)[0], {"allowed": ["paint"]}, ValueError, "each kind of allowed edits"),
        (small_graphs(1, 0)[0], {"allowed": {"colors": ["red"]}}, ValueError, "each key of allowed"),
        (
            pk.GraphDatabase(np.eye(2000, k=1) + np.eye(2000, k=-1), [0, 2000], ["C"] * 2000),
            {},
            ValueError,
            "allowed",
        ),
    ],
)
def test_what_cannot_be_edited_is_one_sentence(data, graph, options, kind, message):
    with pytest.raises(kind, match=message):
        fitted(KERNELS["fast"], data).counterfactuals(graph, **options)
