"""What a kernel computes step by step: P_t, codes and bins, against exact arithmetic."""

import numpy as np
import pytest

import propkernels as pk
from tests import naive
from tests.zoo import labelled_zoo


@pytest.mark.parametrize("cls", [pk.PropagationKernel, pk.PropagationFeatures])
def test_naive_twin(cls):
    graphs = labelled_zoo()[
        [graph.adjacency.nnz > 0 and graph.adjacency.data.max() < 1e6 for graph in labelled_zoo()]
    ]
    estimator = cls(t_max=3, n_hashes=2, random_state=0).fit(graphs)
    trace = estimator.trace(graphs)
    assert trace.distributions.shape == (4, graphs.n_nodes, len(trace.labels))
    for i, graph in enumerate(graphs):
        nodes = slice(graphs.graph_ptr[i], graphs.graph_ptr[i + 1])
        assert trace.nodes[nodes].tolist() == [[i, node] for node in range(graph.n_nodes)]
        initial = naive.initial_distributions(graph.node_labels.tolist())
        for t, exact in enumerate(naive.diffusion(naive.walk(graph.adjacency), initial, 3)):
            expected = [[float(p.get(label, 0)) for label in trace.labels] for p in exact]
            np.testing.assert_allclose(trace.distributions[t, nodes], expected, atol=1e-12)
    assert np.array_equal(
        trace.codes[:, :, None] == trace.codes[:, None], trace.bins[:, :, None] == trace.bins[:, None]
    )


def test_pairs_in_one_bin_are_the_kernel():
    graphs = labelled_zoo()
    kernel = pk.PropagationKernel(t_max=3, random_state=0)
    steps, trace = kernel.fit_transform_cumulative(graphs), kernel.trace(graphs)
    member = (graphs.graph_ids[:, None] == np.arange(len(graphs))).astype(int)
    same = trace.codes[:, :, None] == trace.codes[:, None]
    assert np.array_equal(np.cumsum(member.T @ same @ member, axis=0), steps)


def test_rows_and_table():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    kernel = pk.PropagationKernel(t_max=1, random_state=0).fit([(path, ["C", "O", None])])
    trace = kernel.trace([(path, ["O", "C", "O"])])
    first = trace.rows()[0]
    assert {name: first[name] for name in ("t", "graph", "node", "P(C)", "P(O)")} == {
        "t": 0,
        "graph": 0,
        "node": 0,
        "P(C)": 0.0,
        "P(O)": 1.0,
    }
    lines = str(trace).splitlines()
    assert lines[0].split() == ["t", "graph", "node", "P(C)", "P(O)", "code", "bin"]
    assert len(lines) == 1 + 2 * 3
    with pytest.raises(ValueError, match="not fitted"):
        pk.PropagationKernel().trace([path])
