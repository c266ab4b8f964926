"""Graphs in time: codes against a naive twin that walks through tables of contacts."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import propkernels as pk
from propkernels.graphs.moments import static_graphs
from tests import test_contract as contract

contacts_of_a_graph = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)).filter(lambda c: c[0] != c[1]),
    min_size=1,
    max_size=12,
)


def table(*graphs):
    rows = [(number, u, v, t) for number, contacts in enumerate(graphs) for u, v, t in contacts]
    return pd.DataFrame(rows, columns=["graph", "source", "target", "time"])


def naive_hearing(contacts, directed, back):
    """What each vertex hears at each of its times: (relation, (vertex, time)) pairs, without repeats."""
    crossings = set()
    for source, target, time in contacts:
        for u, v in [(source, target)] if directed else [(source, target), (target, source)]:
            crossings.add(((u, time), (v, time)))
    heard = {node: set() for ends in crossings for node in ends}
    for sender, receiver in crossings:
        heard[receiver].add(("received" if directed else "contact", sender))
        if back and directed:
            heard[sender].add(("sent", receiver))
    for v in {vertex for vertex, _ in heard}:
        for before, after in pairwise(sorted(time for vertex, time in heard if vertex == v)):
            heard[v, after].add(("earlier", (v, before)))
            if back:
                heard[v, before].add(("later", (v, after)))
    return heard


@settings(max_examples=40, deadline=None)
@given(
    st.lists(contacts_of_a_graph, min_size=2, max_size=2), st.sampled_from(["forward", "both"]), st.booleans()
)
def test_mutual_and_directed_contacts_equal_the_naive_walk(graphs, time, directed):
    counts = []
    for contacts in graphs:
        heard = naive_hearing(contacts, directed, time == "both")
        colors, count = dict.fromkeys(heard, "x"), Counter()
        for step in range(4):
            count.update((step, color) for color in colors.values())
            colors = {
                node: (
                    colors[node],
                    tuple(sorted(((kind, colors[other]) for kind, other in around), key=repr)),
                )
                for node, around in heard.items()
            }
        counts.append(count)
    expected = [[sum(a[key] * b[key] for key in a) for b in counts] for a in counts]

    database = pk.from_contacts(table(*graphs), directed=directed)
    kernel = pk.WeisfeilerLehman(t_max=3, labels=None, edge_labels=True, time=time).fit_transform(database)

    np.testing.assert_array_equal(kernel, expected)


@settings(max_examples=25, deadline=None)
@given(st.lists(contacts_of_a_graph, min_size=2, max_size=3))
def test_static_view_equals_the_kernel_of_static_graphs(graphs):
    data = pk.from_contacts(table(*graphs))
    plain = pk.from_pandas(table(*[sorted({(min(u, v), max(u, v), 0) for u, v, _ in g}) for g in graphs]))

    seen = pk.WeisfeilerLehman(t_max=2, labels="degree", time="static").fit_transform(data)

    np.testing.assert_array_equal(seen, pk.WeisfeilerLehman(t_max=2, labels="degree").fit_transform(plain))
    assert static_graphs(data).n_nodes == plain.n_nodes


def some_graphs():
    """Six graphs in time whose contacts are drawn at random."""
    rng = np.random.default_rng(4)
    drawn = [
        [(u, (u + w) % 5, t) for u, w, t in rng.integers(0, [5, 4, 6], (9, 3)).tolist() if w]
        for _ in range(6)
    ]
    return pk.from_contacts(table(*drawn))


@pytest.mark.parametrize("time", ["auto", "forward", "both", "static"])
@pytest.mark.parametrize("cls", [pk.WeisfeilerLehman, pk.PropagationKernel])
@pytest.mark.parametrize("test", contract.OF_ALL_GRAPHS)
def test_the_contract_of_kernels_holds_in_time(test, cls, time):
    test(cls, {"time": time}, some_graphs())


def infections(n):
    """Graphs whose seed meets a before a meets b, or after it; the order is the class."""
    rng, rows, target = np.random.default_rng(0), [], []
    for number in range(n):
        first, second = (1, 2) if number % 2 else (2, 1)
        rows += [(number, "s", "a", first), (number, "a", "b", second)]
        rows += [(number, "a", f"v{k}", int(rng.integers(3, 9))) for k in range(3)]
        target.append(number % 2)
    met = pd.DataFrame(rows, columns=["graph", "source", "target", "time"])
    labels = [(g, v, 0, v == "s") for g in range(n) for v in ("s", "a", "b", "v0", "v1", "v2")]
    known = pd.DataFrame(labels, columns=["graph", "node", "time", "label"])
    return pk.from_contacts(met, node_labels=known), np.array(target)


@pytest.mark.slow
def test_default_model_explains_saves_and_answers(tmp_path):
    graphs, target = infections(40)
    model = pk.PropagationClassifier(random_state=0).fit(graphs[:30], target[:30])
    new = graphs[30:]

    assert model.score(new, target[30:]) == 1.0
    explanation, decisions = model.explain(new), model.decision_function(new)
    sums = np.add.reduceat(explanation.contributions.sum(axis=1), new.graph_ptr[:-1])
    np.testing.assert_allclose(sums + explanation.intercept, decisions, atol=1e-9)
    changes = model.counterfactuals(new[0], max_edits=1)
    assert changes.n_decided > 0
    assert {edit.kind for item in changes for edit in item.edits} <= {"relabel", "remove_edge"}
    with pytest.raises(ValueError, match="edits of graphs in time are relabel and remove_edge"):
        model.counterfactuals(new[0], allowed=["add_edge"])
    pk.save_model(model, tmp_path / "model.pk")
    again = pk.load_model(tmp_path / "model.pk")
    np.testing.assert_array_equal(again.decision_function(new), decisions)
    with pytest.raises(ValueError, match="graphs in time"):
        again.predict(pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], [True, False]))
