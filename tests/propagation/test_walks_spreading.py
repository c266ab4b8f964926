"""Label spreading (Zhou et al., 2004)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import cycle_edges, labelled_zoo, one


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["follow", "reverse", "both"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.99])
def test_dense_twin_on_the_zoo(alpha, direction):
    graphs = dense.partial_zoo()
    start = dense.start(graphs)
    step = dense.label_spreading(start, alpha, direction)
    reference = dense.dense_history(step, start.distributions, 4)
    computed = dense.library_history(graphs, pk.LabelSpreading(alpha, direction=direction), 4)
    assert np.allclose(computed, reference, atol=1e-12)


@pytest.mark.slow
@given(graphs=databases(partial=True, weighted=True, directed=True, max_graphs=3), alpha=st.floats(0, 0.99))
def test_dense_twin_on_generated_graphs(graphs, alpha):
    if not graphs.label_values:
        return
    start = dense.start(graphs)
    reference = dense.dense_history(dense.label_spreading(start, alpha), start.distributions, 4)
    computed = dense.library_history(graphs, pk.LabelSpreading(alpha), 4)
    assert np.allclose(computed, reference, atol=1e-12)


def test_the_limit_is_the_closed_form_of_the_paper():
    """F* = (1 - alpha) (I - alpha S)^{-1} Y, on a graph without isolated nodes."""
    graphs = one(6, [*cycle_edges(5), (4, 5)], [0, None, 1, None, None, 2])
    start = dense.start(graphs)
    roots = np.sqrt(start.adjacency.sum(axis=1))
    spread = start.adjacency / np.outer(roots, roots)
    reference = 0.1 * np.linalg.solve(np.eye(6) - 0.9 * spread, start.distributions)
    computed = dense.library_history(graphs, pk.LabelSpreading(0.9), 400)[-1]
    assert np.allclose(computed, reference, atol=1e-12)


def test_on_regular_graphs_rows_stay_distributions():
    graphs = one(6, cycle_edges(6), [0, None, 1, None, 2, 0])
    computed = dense.library_history(graphs, pk.LabelSpreading(), 8)
    assert np.allclose(computed.sum(axis=2), 1)


@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    [
        (1, ValueError, "alpha must be at least 0 and below 1, got 1"),
        (-0.5, ValueError, r"alpha must be at least 0 and below 1, got -0\.5"),
        (float("nan"), ValueError, "alpha must be at least 0 and below 1, got nan"),
        (None, TypeError, "alpha must be a number, got None"),
        (True, TypeError, "alpha must be a number, got True"),
    ],
)
def test_bad_alpha(alpha, error, message):
    kernel = pk.PropagationKernel(propagation=pk.LabelSpreading(alpha))
    with pytest.raises(error, match=f"^{message}$"):
        kernel.fit(labelled_zoo())
    assert not hasattr(kernel, "coder_")
