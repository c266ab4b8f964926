"""Applicability: unseen neighborhoods, by radius and by node."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import GraphHopper

DATA = pk.datasets.make_molecules(40, random_state=0, mean_nodes=10)


def fitted(cls=pk.PropagationClassifier, **parameters):
    target = DATA.target if cls is pk.PropagationClassifier else DATA.graphs.graph_sizes * 1.0
    return cls(C=1.0, cv=2, random_state=0, **parameters).fit(DATA.graphs[:30], target[:30])


@pytest.mark.slow
@pytest.mark.parametrize("cls", [pk.PropagationClassifier, pk.PropagationRegressor])
@pytest.mark.parametrize("base_kernel", ["linear", "intersection", "rbf"])
def test_bins_of_the_training_graphs_are_all_that_is_known(cls, base_kernel):
    kernel = pk.PropagationKernel(t_max=2, base_kernel=base_kernel, random_state=0)
    model, new = fitted(cls, kernel=kernel, t_max=2), DATA.graphs[30:]
    found = model.applicability(new)
    coder = (
        pk.PropagationKernel(t_max=2, random_state=model.kernel_.random_state).fit(DATA.graphs[:30])._coder
    )
    known = [set(o.codes.tolist()) for o in coder.occurrences(DATA.graphs[:30])]
    reference = np.array(
        [
            [code not in seen for code in o.codes.tolist()]
            for o, seen in zip(coder.occurrences(new), known, strict=True)
        ]
    ).T
    assert np.array_equal(found.unseen, reference)
    for i in range(10):
        own = reference[new.graph_ptr[i] : new.graph_ptr[i + 1]]
        assert found.by_radius[i].tolist() == pytest.approx(own.mean(axis=0).tolist())
        assert found.by_graph[i] == pytest.approx(own.mean())
    assert found.by_node.tolist() == pytest.approx(reference.mean(axis=1).tolist())


@pytest.mark.slow
def test_training_graphs_are_known_and_foreign_ones_are_not():
    model = fitted()
    assert not model.applicability(DATA.graphs[:30]).unseen.any()
    star = nx.star_graph(20)
    nx.set_node_attributes(star, "Xx", "label")
    foreign = model.applicability(pk.from_networkx([star], node_label="label"))
    assert foreign.by_graph[0] > 0.9
    assert "100 %" in foreign.table()
    assert "(1 graph, " in repr(foreign)


def test_kernels_of_pairs_have_no_bins():
    graphs = DATA.graphs.with_attributes(np.linspace(0, 1, DATA.graphs.n_nodes)[:, None])
    model = pk.PropagationClassifier(kernel=GraphHopper(attributes="gaussian"), C=1.0, cv=2, random_state=0)
    model.fit(graphs[:20], DATA.target[:20])
    with pytest.raises(TypeError, match="without counting bins"):
        model.applicability(graphs)
