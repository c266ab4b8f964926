"""Guards against slower code that no noise can trip: calls and bytes are counted, nothing is timed."""

import tracemalloc

import pytest

import propkernels as pk

T_MAX = 10
BYTES_A_NODE = 50 * (T_MAX + 1)  # that features may hold at a time, as docs/measured/benchmarks.md states
BYTES_A_COUNT = 32  # that a Gram matrix may need besides itself


def molecules(n_graphs):
    return pk.datasets.make_molecules(n_graphs, random_state=0).graphs


def test_memory_of_features_is_bounded_by_the_nodes():
    graphs = molecules(4000)
    model = pk.PropagationFeatures(t_max=T_MAX, random_state=0)
    model.fit_transform(graphs[:10])
    tracemalloc.start()
    model.fit_transform(graphs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= BYTES_A_NODE * graphs.n_nodes


@pytest.mark.slow
def test_gram_holds_one_matrix_and_little_more():
    graphs = molecules(1500)
    model = pk.PropagationKernel(t_max=T_MAX, random_state=0).fit(graphs)
    counts = [stream.counts for stream in model._counts]
    model._base_kernel.square(model._counts)
    tracemalloc.start()
    model._base_kernel.square(model._counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    entries = sum(part.nnz for part in counts)
    assert peak <= 8 * len(graphs) ** 2 + BYTES_A_COUNT * entries
