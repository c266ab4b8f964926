"""Graphs in time on a page: codes and decisions to the bit, and contributions of contacts."""

import numpy as np
import pandas as pd
import pytest

import propkernels as pk
from propkernels.explorer.page_codes import code_function
from propkernels.graphs.moments import _with_entries
from tests.explorer.conftest import embedded, unpacked


def contacts(n_graphs, seed=0, directed=False):
    """Random contacts with labels, and labels of nodes that change."""
    rng = np.random.default_rng(seed)
    rows, states = [], []
    for g in range(n_graphs):
        names = [f"v{k}" for k in range(int(rng.integers(3, 7)))]
        for _ in range(int(rng.integers(4, 12))):
            a, b = rng.choice(names, 2, replace=False)
            rows.append((g, a, b, int(rng.integers(1, 6)), str(rng.choice(["near", "far"]))))
        states += [(g, name, t, str(rng.choice(["ill", "well"]))) for name in names for t in (0, 3)]
    table = pd.DataFrame(rows, columns=["graph", "source", "target", "time", "kind"])
    table["pair"] = ["".join(sorted(pair)) for pair in zip(table["source"], table["target"], strict=True)]
    table = table.drop_duplicates(["graph", "pair", "time"])  # equal contacts would add up their weights
    labels = pd.DataFrame(states, columns=["graph", "node", "time", "label"])
    return pk.from_contacts(table, node_labels=labels, label="kind", directed=directed)


KERNELS = [
    pk.WeisfeilerLehman(t_max=2, time="forward"),
    pk.WeisfeilerLehman(t_max=2, time="static", labels="degree"),
    pk.WeisfeilerLehman(t_max=2, time="both", edge_labels=True, base_kernel="intersection"),
    pk.PropagationKernel(t_max=2, time="static", edge_labels=True, random_state=0),
    pk.PropagationKernel(t_max=2, time="forward", base_kernel="jaccard", random_state=0),
]


def test_page_names_vertices_and_edges_that_information_crosses():
    graphs = contacts(6)
    page = pk.explore(graphs, [0, 1] * 3)
    meta, sections = embedded(page.html, "ex-meta"), embedded(page.html, "ex-data")
    assert set(meta["time"]["vertices"]) == set(graphs.moments.vertices.values)
    np.testing.assert_array_equal(unpacked(sections["graphs"])["times"], graphs.moments.times)
    counter = KERNELS[0].fit(graphs)._counter
    settings, _ = code_function(counter, graphs)
    crossed = dict(zip(graphs.edge_label_column.values, settings["time"]["crossed"], strict=True))
    assert (crossed["earlier"], crossed["later"]) == (True, False)
    kinds = dict(zip(graphs.edge_label_column.values, settings["time"]["kinds"], strict=True))
    assert kinds["contact", "near"] == kinds["contact", "far"] != kinds["earlier"]


def without_contact(graph, a, b):
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.adjacency.indptr))
    between = [{int(i), int(j)} == {a, b} for i, j in zip(rows, graph.adjacency.indices, strict=True)]
    return _with_entries(graph, ~np.array(between))


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_decisions_and_contacts_equal_those_of_python(browser, tmp_path, directed):
    graphs, target = contacts(24, directed=directed), np.arange(24) % 2
    model = pk.PropagationClassifier(kernel=pk.SumKernel(KERNELS), C=1, random_state=0).fit(graphs, target)
    browser.open(pk.explore(graphs, target, model).save(tmp_path / "page.html"))
    explanation = model.explain(graphs, classes=1)
    for g in range(3):
        ends, shares = explanation.edge_contributions(g)
        names = graphs[[g]].moments.vertices
        met = [k for k, (a, b) in enumerate(ends) if names.ids[a] != names.ids[b]]
        a, b = (int(i) for i in ends[met[0]])
        found = browser.run(
            """
            const [g, a, b] = arguments, {app} = propkernels;
            propkernels.select(g);
            const {graph} = app.view.state;
            const decide = (other) => app.model.score(app.model.decisions(app.index.count(other)), 1);
            return {
              decision: decide(graph),
              parted: decide(propkernels.edited(graph, {kind: "part", a, b})),
              relabeled: decide(propkernels.edited(graph, {kind: "relabel", node: a, label: 0})),
              shares: [...propkernels.edgeShares(graph, app.view.parts, -1)],
            };
            """,
            g,
            a,
            b,
        )
        one = graphs[[g]]
        labels = one.label_column.ids.copy()
        labels[a] = 0
        relabeled = one.with_labels([one.label_column.values[i] for i in labels])
        parted = without_contact(one, a, b)
        expected = [model.decision_function(x)[0] for x in (one, parted, relabeled)]
        np.testing.assert_allclose(
            [found["decision"], found["parted"], found["relabeled"]], expected, atol=1e-11
        )
        by_ends = {int(u) * one.n_nodes + int(v): share for (u, v), share in zip(ends, shares, strict=True)}
        assert {int(key) for key, _ in found["shares"]} == set(by_ends)
        for key, share in found["shares"]:
            assert share == pytest.approx(by_ends[int(key)], abs=1e-11)
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_contact_is_removed_from_the_picture(browser, tmp_path):
    graphs, target = contacts(12), np.arange(12) % 2
    browser.open(pk.explore(graphs, target).save(tmp_path / "page.html"))
    browser.click("#ex-modes [data-mode=remove]")
    before = len(browser.all("#ex-graph [data-contact]"))
    browser.run("document.querySelector('#ex-graph [data-contact]').dispatchEvent(new Event('click'))")
    assert len(browser.all("#ex-graph [data-contact]")) == before - 1
    assert "do not meet at" in browser.text("#ex-hint")
    assert browser.complaints() == []
