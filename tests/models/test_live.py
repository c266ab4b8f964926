"""Live graphs: after any changes, everything equals the changed graph from scratch, to the bit."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import propkernels as pk

DATA = pk.datasets.make_molecules(60, random_state=0)
ROWS, COLUMNS = DATA.graphs.adjacency.nonzero()
GRAPHS = DATA.graphs.with_edge_labels(np.where((ROWS + COLUMNS) % 3, "single", "double"))
SUM = pk.Diffusion(laziness=0.5, normalization="none")
KERNELS = {
    "walk": pk.PropagationKernel(t_max=3, random_state=0),
    "hashes": pk.PropagationKernel(
        propagation=SUM, t_max=2, n_hashes=2, base_kernel="jaccard", random_state=0
    ),
    "symmetric": pk.PropagationKernel(propagation=pk.Diffusion(0.1, "symmetric"), t_max=3, random_state=0),
    "edge labels": pk.PropagationKernel(t_max=3, edge_labels=True, random_state=0),
    "refinement": pk.WeisfeilerLehman(t_max=3, edge_labels=True, base_kernel="intersection"),
    "degrees": pk.WeisfeilerLehman(t_max=2, labels="degree", normalize=True),
    "scratch": pk.WeisfeilerLehman(t_max=2, exact=True),
    "paths": pk.ShortestPath(),
}


@pytest.fixture(scope="module")
def models():
    made = {}
    for name, kernel in KERNELS.items():
        made[name] = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0).fit(GRAPHS, DATA.target)
    return made


def assert_equal_from_scratch(live, model):
    graph = live.graph
    assert live.decision == model.decision_function(graph)[0]
    for found, vocabulary in zip(live.codes, model.rule_.vocabularies, strict=True):
        expected = np.concatenate([block.by_stream() for block in vocabulary.counter.codes(graph, 1)])
        np.testing.assert_array_equal(np.concatenate([block.by_stream() for block in found]), expected)


class Twin:
    """The same changes made to a networkx graph."""

    def __init__(self, graph):
        self.plain = graph.to_networkx()

    def database(self):
        return pk.from_networkx([self.plain])


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "paths"])
def test_random_changes(models, name):
    model, rng = models[name], np.random.default_rng(1)
    twin, live = Twin(GRAPHS[3]), model.live(GRAPHS[3])
    bonds = sorted(set(GRAPHS.edge_labels))
    for _ in range(25):
        u, v = (int(i) for i in rng.choice(live.n_nodes, 2, replace=False))
        if rng.random() < 0.2:
            label = str(rng.choice(["C", "N", "Xx"]))
            node = live.add_node(label)
            twin.plain.add_node(node, label=label)
        elif rng.random() < 0.3:
            live.set_label(u, "O")
            twin.plain.nodes[u]["label"] = "O"
        elif live.has_edge(u, v):
            live.remove_edge(u, v)
            twin.plain.remove_edge(u, v)
        else:
            bond = bonds[int(rng.integers(len(bonds)))]
            live.add_edge(u, v, bond)
            twin.plain.add_edge(u, v, label=bond)
        assert_equal_from_scratch(live, model)
    assert live.graph == twin.database()


def test_shortest_paths_and_explanations(models):
    live = models["paths"].live(GRAPHS[0])
    live.set_label(0, "N")
    assert live.decision == models["paths"].decision_function(live.graph)[0]
    explanation = live.explain()
    np.testing.assert_array_equal(
        explanation.contributions, models["paths"].explain(live.graph).contributions
    )
    assert live.predict() == models["paths"].predict(live.graph)[0]


@pytest.mark.slow
def test_default_models():
    classifier = pk.PropagationClassifier(random_state=0).fit(GRAPHS, DATA.target)
    regressor = pk.PropagationRegressor(random_state=0).fit(GRAPHS, GRAPHS.graph_sizes.astype(float))
    for model in (classifier, regressor):
        live = model.live(GRAPHS[5])
        live.set_label(1, "S")
        live.remove_edge(*(int(end) for end in np.argwhere(live.graph.adjacency.toarray())[0]))
        expected = model.decision_function(live.graph) if model is classifier else model.predict(live.graph)
        assert live.decision == expected[0]


def test_arrays_grow_with_nodes_neighbors_and_labels(models):
    live = models["walk"].live(GRAPHS[0])
    first = live.n_nodes
    hub = live.add_node("C")
    leaves = [live.add_node("H") for _ in range(300)]
    bond = GRAPHS.edge_labels[0]
    live.add_edges([(hub, leaf) for leaf in leaves], bond)
    live.set_label(hub, "new label")
    assert live.n_nodes == first + 301
    assert np.diff(live.graph.adjacency.indptr)[hub] == 300
    assert_equal_from_scratch(live, models["walk"])
    live.remove_edges([(hub, leaf) for leaf in leaves])
    assert_equal_from_scratch(live, models["walk"])


def test_impossible_changes_change_nothing(models):
    live = models["walk"].live(GRAPHS[0])
    before, edge = live.graph, tuple(int(end) for end in np.argwhere(live.graph.adjacency.toarray())[0])
    with pytest.raises(ValueError, match="an edge exists"):
        live.add_edge(*edge)
    with pytest.raises(ValueError, match="both ends are one node"):
        live.add_edge(0, 0)
    with pytest.raises(IndexError, match="out of range"):
        live.set_label(10**9, "C")
    with pytest.raises(TypeError, match="whole number"):
        live.remove_edge("a", 0)
    with pytest.raises(TypeError, match="a label must be hashable"):
        live.set_label(0, ["C"])
    with pytest.raises(TypeError, match="pairs have shape"):
        live.add_edges([(0, [1, 2])])
    absent = next((u, v) for u in range(live.n_nodes) for v in range(u) if not live.has_edge(u, v))
    with pytest.raises(ValueError, match="no edge exists"):
        live.remove_edges([edge, absent])
    assert live.graph == before


def test_graphs_that_cannot_live_are_refused(models):
    with pytest.raises(ValueError, match="undirected"):
        models["walk"].live(nx.DiGraph([(0, 1)]))
    with pytest.raises(ValueError, match="one graph"):
        models["walk"].live(GRAPHS[:2])


class Changes(RuleBasedStateMachine):
    """Random sequences of changes, with readings in between."""

    @initialize(position=st.integers(0, 9), name=st.sampled_from(["walk", "refinement", "symmetric"]))
    def begin(self, position, name):
        if not hasattr(Changes, "made"):
            Changes.made = {}
        if name not in Changes.made:
            model = pk.PropagationClassifier(kernel=KERNELS[name], C=1, random_state=0)
            Changes.made[name] = model.fit(GRAPHS, DATA.target)
        self.model = Changes.made[name]
        self.live = self.model.live(GRAPHS[position])
        self.bond = GRAPHS.edge_labels[0]

    @rule(u=st.integers(0, 10**6), v=st.integers(0, 10**6))
    def flip_edge(self, u, v):
        u, v = u % self.live.n_nodes, v % self.live.n_nodes
        if u != v:
            if self.live.has_edge(u, v):
                self.live.remove_edge(u, v)
            else:
                self.live.add_edge(u, v, self.bond)

    @rule(u=st.integers(0, 10**6), label=st.sampled_from(["C", "N", "?", None]))
    def relabel(self, u, label):
        self.live.set_label(u % self.live.n_nodes, label)

    @rule(label=st.sampled_from(["C", "O", None]))
    def grow(self, label):
        self.live.add_node(label)

    @rule()
    def read(self):
        assert_equal_from_scratch(self.live, self.model)

    @invariant()
    def graph_is_simple(self):
        if hasattr(self, "live"):
            assert not self.live.graph.is_directed

    def teardown(self):
        if hasattr(self, "live"):
            assert_equal_from_scratch(self.live, self.model)


TestChanges = pytest.mark.slow(Changes.TestCase)
TestChanges.settings = settings(max_examples=30, stateful_step_count=15, deadline=None)
