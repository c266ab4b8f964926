"""Decisions of the compiled loops against the pipeline, for every edit; all codes have weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.edit_engine import Engine
from propkernels.explain.edits import KINDS, NOTHING, Editor, in_pairs
from propkernels.explain.members import FoldedMember, JointMember, RatioMember
from propkernels.explain.rule import Rule, dual_members
from propkernels.tracking.alphabet import Alphabet
from tests.explain import naive
from tests.strategies import graphs as drawn_graphs
from tests.tracking.edited import Edited
from tests.tracking.test_trackers import trackable_zoo

LABELS, BONDS = ["C", "N", "O"], ["single", "double"]
KERNELS = {
    "walk": pk.PropagationKernel(t_max=3, random_state=1),
    "summed": pk.PropagationKernel(propagation=pk.Diffusion(0.5, "none"), t_max=4, random_state=2),
    "lazy": pk.PropagationKernel(propagation=pk.Diffusion(0.3), t_max=2, n_hashes=3, random_state=3),
    "symmetric": pk.PropagationKernel(
        propagation=pk.Diffusion(0.1, "symmetric"), t_max=3, random_state=4, metric="l2", bin_width=0.01
    ),
    "vanish": pk.PropagationKernel(propagation=pk.Diffusion(isolated="vanish"), t_max=2, random_state=5),
    "degree": pk.PropagationKernel(labels="degree", t_max=3, random_state=6),
    "log degree": pk.PropagationKernel(labels="log_degree", t_max=2, random_state=7, bin_width=1.0),
    "constant": pk.PropagationKernel(labels=None, propagation=pk.Diffusion(0.5, "none"), t_max=2),
    "edge labels": pk.PropagationKernel(
        propagation=pk.Diffusion(0.5, "none"), edge_labels=True, t_max=3, random_state=8
    ),
    "start only": pk.PropagationKernel(t_max=0, random_state=9),
    "normalized": pk.PropagationKernel(t_max=3, normalize=True, n_hashes=2, random_state=1),
    "intersection": pk.PropagationKernel(t_max=3, base_kernel="intersection", random_state=1),
    "normalized intersection": pk.PropagationKernel(
        propagation=pk.Diffusion(0.5, "none"), t_max=2, base_kernel="intersection", normalize=True
    ),
    "refinement": pk.WeisfeilerLehman(t_max=3),
    "refined degrees": pk.WeisfeilerLehman(t_max=2, labels="degree"),
    "refined edges": pk.WeisfeilerLehman(t_max=3, edge_labels=True, base_kernel="intersection"),
    "normalized refinement": pk.WeisfeilerLehman(t_max=2, normalize=True),
    "histogram": pk.LabelHistogram(),
    "jaccard": pk.PropagationKernel(t_max=3, base_kernel="jaccard", random_state=1),
    "tanimoto": pk.WeisfeilerLehman(t_max=3, base_kernel="tanimoto", edge_labels=True),
    "normalized jaccard": pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard", normalize=True),
    "paths": pk.ShortestPath(),
    "labeled paths": pk.ShortestPath(edge_labels=True, base_kernel="intersection", normalize=True),
    "paths between degrees": pk.ShortestPath(labels="degree", weighted=False),
    "sum": pk.SumKernel([pk.WeisfeilerLehman(t_max=2), pk.ShortestPath()]),
    "normalized sum": pk.SumKernel(
        [
            pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard"),
            pk.PropagationKernel(t_max=2, base_kernel="intersection", random_state=3, normalize=True),
        ],
        weights=[0.5, 2.0],
        normalize=True,
    ),
}


def random_graph(seed, n=7, missing=False):
    """A graph with labels of nodes and edges, an isolated node, leaves and a ring."""
    rng = np.random.default_rng(seed)
    adjacency, bonds = np.zeros((n, n)), np.zeros((n, n), dtype=int)
    edges = [(0, 1), (1, 2), (2, 0), *((int(rng.integers(i)), i) for i in range(3, n - 1))]
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = 1
        bonds[a, b] = bonds[b, a] = rng.integers(2)
    labels = [LABELS[i] for i in rng.integers(3, size=n)]
    labels = [None if missing and i == 1 else label for i, label in enumerate(labels)]
    rows, columns = np.nonzero(adjacency)
    edge_labels = [BONDS[bonds[a, b]] for a, b in zip(rows, columns, strict=True)]
    return pk.GraphDatabase(adjacency, [0, n], labels, edge_labels=edge_labels)


def as_edit(row, alphabet):
    """A row of numbers as the naive edit it stands for."""
    kind, a, b, label, bond = (int(x) for x in row)
    name = KINDS[kind]
    return (
        name,
        a,
        b if name in ("add_edge", "remove_edge", "remove_leaf") else None,
        alphabet.node_values[label] if name in ("relabel", "add_leaf") else None,
        alphabet.edge_values[bond] if name.startswith("add") else None,
    )


def all_pairs(editor, seed, n_pairs):
    """All single edits, and some pairs, with what only a first edit makes possible."""
    singles, rng = editor.single_edits(), np.random.default_rng(seed)
    pairs = [in_pairs(None, singles)]
    for first in singles[rng.choice(len(singles), min(n_pairs, len(singles)), replace=False)]:
        seconds = np.concatenate([singles[rng.choice(len(singles), 8)], editor.edits_after(first)[:12]])
        pairs.append(in_pairs(first, seconds))
    return np.concatenate(pairs)


def possible(plain, edits):
    """Whether edits can be made one after the other, by networkx alone; and the graph."""
    for kind, a, b, label, bond in edits:
        if a not in plain or (b is not None and b not in plain):
            return None
        if kind == "relabel" and plain.nodes[a].get("label") == label:
            return None
        if kind == "add_edge" and (plain.has_edge(a, b) or a == b):
            return None
        if kind in ("remove_edge", "remove_leaf") and not plain.has_edge(a, b):
            return None
        if kind == "remove_leaf" and plain.degree(a) != 1:
            return None
        plain = naive.apply(plain, (kind, a, b, label, bond))
    return plain


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, 1])
def test_decisions_are_those_of_the_pipeline(name, seed):
    graph = random_graph(seed, n=7 if seed else 6)
    compare(graph, KERNELS[name], seed)


@pytest.mark.compiled
def test_unobserved_labels_start_with_the_prior():
    kernel = pk.PropagationKernel(propagation=pk.Diffusion(), prior="frequency", t_max=2, random_state=0)
    compare(random_graph(3, missing=True), kernel, 0)
    compare(random_graph(3, missing=True), pk.WeisfeilerLehman(t_max=2), 0)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", ["normalized intersection", "symmetric", "vanish", "refined edges", "degree"]
)
def test_some_edits_of_a_small_graph(name):
    compare(random_graph(2, n=5), KERNELS[name], 0, every=7)


def compare(graph, kernel, seed, every=1):
    told_apart = bool(getattr(kernel, "edge_labels", False))
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    editor = Editor(graph, alphabet, KINDS, None, told_apart)
    pairs = all_pairs(editor, seed, 12)[::every]
    plain = naive.from_database(graph)
    expected = [possible(plain, [as_edit(r, alphabet) for r in pair if r[0] != NOTHING]) for pair in pairs]
    made = np.array([one is not None for one in expected])
    database = naive.to_database([one for one in expected if one is not None], graph)
    rule = random_rule(kernel, database, seed)  # has all codes that any edit leads to
    engine = Engine.of(rule, graph, alphabet)
    assert engine is not None
    found = engine.decisions(pairs, False)
    assert made[: len(editor.single_edits()) // every].all()
    np.testing.assert_array_equal(np.isnan(found[:, 0]), ~made)
    wanted = rule.decisions(database, None)
    np.testing.assert_allclose(found[made], wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


def random_rule(kernel, database, seed):
    """A rule with random coefficients of all graphs, three decisions at once."""
    fitted = kernel.fit(database)
    coefficients = np.random.default_rng(seed).normal(size=(len(database), 3))
    return Rule.of(dual_members(fitted, coefficients))


def mean_of_several(graph, seed):
    """A rule of several members that share vocabularies."""
    names = ["intersection", "walk", "jaccard", "refined edges", "tanimoto", "labeled paths"]
    rules = [random_rule(KERNELS[name], graph, seed) for name in names]
    return Rule.of([member for rule in rules for member in rule.members])


@pytest.mark.compiled
def test_members_share_trackers():
    graph = random_graph(1)
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    editor = Editor(graph, alphabet, KINDS, None, True)
    pairs = all_pairs(editor, 0, 5)
    several = pk.GraphDatabase.concat([graph, random_graph(2), random_graph(3)])
    rule = mean_of_several(several, 0)
    engine = Engine.of(rule, graph, alphabet)
    assert len(engine._desks[0].trackers) == len(rule.vocabularies) < len(rule.members)
    expected = np.full((len(pairs), 3), np.nan)
    for i, pair in enumerate(pairs):
        edited = editor.edited(pair[pair[:, 0] != NOTHING])
        if edited is not None:
            expected[i] = rule.decisions(edited, None)[0]
    np.testing.assert_allclose(engine.decisions(pairs, False), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.compiled
@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_attributes_that_cross_no_edges(combine):
    rng, plain = np.random.default_rng(0), random_graph(4)
    graph = pk.GraphDatabase(
        plain.adjacency, [0, 7], plain.node_labels, rng.normal(size=(7, 2)), edge_labels=plain.edge_labels
    )
    kernel = pk.PropagationKernel(
        attributes=combine,
        t_max=2,
        n_hashes=2,
        attribute_bin_width=[0.5, 2.0],
        normalize=True,
        random_state=0,
    )
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    editor = Editor(graph, alphabet, KINDS, None, False)
    pairs = all_pairs(editor, 0, 5)
    edited = [editor.edited(pair[pair[:, 0] != NOTHING]) for pair in pairs]
    made = np.array([one is not None for one in edited])
    database = pk.GraphDatabase.concat([one for one in edited if one is not None])
    rule = random_rule(kernel, database, 0)
    found = Engine.of(rule, graph, alphabet).decisions(pairs, False)
    np.testing.assert_array_equal(np.isnan(found[:, 0]), ~made)
    np.testing.assert_allclose(found[made], rule.decisions(database, None), rtol=1e-11, atol=1e-11)


@pytest.mark.compiled
def test_entries_of_labels_are_refined_side_by_side():
    plain = random_graph(4)
    labels = [(label, "ring" if i < 3 else "chain") for i, label in enumerate(plain.node_labels)]
    graph = pk.GraphDatabase(plain.adjacency, [0, 7], labels, edge_labels=plain.edge_labels)
    kernel = pk.WeisfeilerLehman(t_max=2, labels="entries", edge_labels=True, base_kernel="jaccard")
    alphabet = Alphabet.of(graph, [("C", "ring"), ("O", "chain")], BONDS)
    editor = Editor(graph, alphabet, KINDS, None, True)
    pairs = all_pairs(editor, 0, 5)
    edited = [editor.edited(pair[pair[:, 0] != NOTHING]) for pair in pairs]
    made = np.array([one is not None for one in edited])
    database = pk.GraphDatabase.concat([one for one in edited if one is not None])
    rule = random_rule(kernel, database, 0)
    found = Engine.of(rule, graph, alphabet).decisions(pairs, False)
    np.testing.assert_allclose(found[made], rule.decisions(database, None), rtol=1e-11, atol=1e-11)
    short = Alphabet.of(graph, [("C",)], BONDS)
    assert Engine.of(rule, graph, short) is None  # the pipeline says what is wrong with the label


@pytest.mark.compiled
def test_a_graph_is_as_it_was_after_edits():
    graph = random_graph(5)
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    editor = Editor(graph, alphabet, KINDS, None, True)
    engine = Engine.of(mean_of_several(graph, 0), graph, alphabet)
    pairs = all_pairs(editor, 1, 30)
    first = engine.decisions(pairs, True)
    np.testing.assert_array_equal(engine.decisions(pairs, True), first)
    np.testing.assert_array_equal(engine.decisions(pairs[::-1], True), first[::-1])


@pytest.mark.compiled
def test_ends_of_a_removed_edge_stay_connected():
    graph = random_graph(0)
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    editor = Editor(graph, alphabet, ["remove_edge", "add_edge"], None, False)
    rule = random_rule(KERNELS["walk"], graph, 0)
    pairs = all_pairs(editor, 0, 40)
    found = np.isnan(Engine.of(rule, graph, alphabet).decisions(pairs, True)[:, 0])
    wanted = [editor.edited(pair[pair[:, 0] != NOTHING], True) is None for pair in pairs]
    assert found.tolist() == wanted
    assert 0 < found.sum() < len(pairs)


@pytest.mark.compiled
def test_other_models_are_left_to_the_pipeline():
    graph = random_graph(0)
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    whole = [
        pk.PropagationKernel(propagation="label_propagation", t_max=1),
        pk.PropagationKernel(metric="hellinger", t_max=1),
        pk.PropagationKernel(base_kernel="rbf", t_max=1),
        pk.WeisfeilerLehman(t_max=1, exact=True),
        pk.WeisfeilerLehman(t_max=1, edge_weights=True),
        pk.GraphHopper(),
    ]
    for kernel in whole:
        assert Engine.of(random_rule(kernel, graph, 0), graph, alphabet) is None
    rule = random_rule(KERNELS["walk"], graph, 0)
    weighted = graph.with_weights(np.full(graph.adjacency.nnz, 2.0))
    assert Engine.of(rule, graph, alphabet) is not None
    assert Engine.of(rule, weighted, alphabet) is None


MEMBERS = {
    FoldedMember: ["walk", "normalized intersection", "refined edges", "labeled paths"],
    RatioMember: ["jaccard", "tanimoto", "normalized jaccard"],
    JointMember: ["normalized sum"],
}


def check_decisions(rule, edited):
    """Compare the decisions after each edit with those of the rule about the edited graph."""
    engine = Engine.of(rule, edited.graph, edited.alphabet)
    assert engine is not None
    if edited.graphs:
        expected = rule.decisions(pk.GraphDatabase.concat(edited.graphs), None)
        found = engine.decisions(edited.edits, False)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def default_model(estimator):
    data = pk.datasets.make_molecules(60, random_state=0)
    target = data.target if estimator is pk.PropagationClassifier else np.diff(data.graphs.graph_ptr) * 0.5
    return estimator(random_state=0).fit(data.graphs, target), data.graphs


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [pk.PropagationClassifier, pk.PropagationRegressor])
def test_default_models(estimator):
    """Molecules and awkward graphs, with labels that the model has seen and others."""
    model, molecules = default_model(estimator)
    for i in range(0, 60, 12):
        check_decisions(model.rule_, Edited(molecules[[i]], i, n_edits=20, labels=["C", "O", "Xe"]))
    for seed, graph in enumerate(trackable_zoo().values()):
        if graph.label_column is not None:
            check_decisions(model.rule_, Edited(graph, seed, n_edits=4))


@pytest.mark.slow
@pytest.mark.parametrize("kind", MEMBERS)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_members_of_each_kind_on_any_graph(kind, data):
    graph = data.draw(drawn_graphs(1, 7, labelled="str", loops=False, edge_labels=True))
    edited = Edited(graph, data.draw(st.integers(0, 99)), labels=["a", "new"], bonds=[0, 7])
    known = pk.GraphDatabase.concat([graph, *edited.graphs[::2]])  # some codes have no weight
    for name in MEMBERS[kind]:
        rule = random_rule(clone(KERNELS[name]), known, 0)
        assert {type(member) for member in rule.members} == {kind}
        check_decisions(rule, edited)


@pytest.mark.slow
def test_threads_decide_the_same(monkeypatch):
    """Each thread has trackers of its own."""
    graph = random_graph(1)
    alphabet = Alphabet.of(graph, LABELS, BONDS)
    pairs = np.tile(all_pairs(Editor(graph, alphabet, KINDS, None, True), 0, 5), (8, 1, 1))
    rule = mean_of_several(pk.GraphDatabase.concat([graph, random_graph(2)]), 0)
    monkeypatch.setattr("propkernels.explain.edit_engine.EDITS_AT_ONCE", 16)
    monkeypatch.setattr("propkernels.explain.edit_engine.EDITS_OF_A_THREAD", 16)
    reference, computed = (
        Engine.of(rule, graph, alphabet, n_jobs=n_jobs).decisions(pairs, True) for n_jobs in (1, 4)
    )
    np.testing.assert_array_equal(computed, reference)
