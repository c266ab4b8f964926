"""Dense matrices that do not fit are refused before they are computed; others take no more than they must."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import diags_array

import propkernels as pk
from propkernels._utils import arrays
from propkernels._utils.arrays import KernelTooLargeError, check_room
from propkernels.kernels import GraphHopper
from propkernels.propagation import LabelImputer
from tests.test_contract_discovery import classes, make, the_zoo


@pytest.fixture
def available(monkeypatch):
    """Set the memory that there is."""

    def set_to(n_bytes):
        monkeypatch.setattr(arrays, "available_memory", lambda: n_bytes)
        monkeypatch.setattr(arrays, "ASK_FROM", 0)

    return set_to


def test_one_sentence_with_numbers_and_ways_out(available):
    available(22_100_000_000)
    with pytest.raises(KernelTooLargeError) as error:
        check_room(300_000, 300_000)
    text = str(error.value)
    assert "300000 x 300000 needs 720.0 GB" in text
    assert "22.1 GB are available" in text
    assert "\n" not in text
    for way in ('solver="linear"', "PropagationFeatures", "GraphIndex", "scikit-learn"):
        assert way in text
    assert isinstance(error.value, MemoryError)


def test_what_just_fits_is_let_through(available):
    available(8 * 10 * 20 * 3)
    check_room(10, 20, 3)
    with pytest.raises(KernelTooLargeError, match="3 of them at a time"):
        check_room(10, 21, 3)
    available(None)
    check_room(10**9, 10**9)


@classes("kernel")
def test_no_kernel_begins_a_matrix_that_does_not_fit(cls, available):
    graphs = the_zoo()
    n = len(graphs)
    fitted = make(cls).fit(graphs)
    available(8 * n * n - 1)
    for compute in ("fit_transform", "fit_transform_cumulative"):
        if hasattr(cls, compute) and not (cls is pk.SumKernel and compute == "fit_transform_cumulative"):
            fresh = make(cls)
            with pytest.raises(KernelTooLargeError, match=f"{n} x {n}"):
                getattr(fresh, compute)(graphs)
            assert not [name for name in vars(fresh) if name.endswith("_")], "nothing is half fitted"
    with pytest.raises(KernelTooLargeError, match=f"{n} x {n}"):
        fitted.transform(graphs)
    fitted.transform(graphs[:1])


@classes("features")
def test_dense_features_that_do_not_fit_are_refused(cls, available):
    graphs = the_zoo()
    shape = make(cls).fit_transform(graphs).shape
    available(8 * shape[0] * shape[1] - 1)
    with pytest.raises(KernelTooLargeError, match="leave sparse_output=True"):
        make(cls, sparse_output=False).fit_transform(graphs)
    make(cls).fit_transform(graphs)


def path_of(n, labels):
    matrix = diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]).tocsr()
    return pk.GraphDatabase(matrix, [0, n], node_labels=labels)


@pytest.mark.parametrize(
    ("compute", "way_out"),
    [
        (pk.ShortestPath().fit_transform, "compare no pairs of nodes"),
        (pk.ShortestPath(weighted=False).fit_transform, "compare no pairs of nodes"),
        (GraphHopper().fit_transform, "compare no pairs of nodes"),
        (pk.PropagationKernel(metric="hellinger", t_max=1).fit_transform, "give rare labels one name"),
        (LabelImputer().fit_transform, "give rare labels one name"),
        (pk.PropagationKernel(propagation="belief_propagation").fit_transform, "give rare labels one name"),
    ],
)
def test_a_single_large_graph_is_refused_before_anything_is_allocated(compute, way_out, available):
    n = 600
    graphs = path_of(n, [None, *map(str, range(1, n))])
    available(2**20)
    with pytest.raises(KernelTooLargeError, match=way_out) as error:
        compute(graphs)
    assert "\n" not in str(error.value)


def test_path_counts_of_a_long_path_are_refused(available):
    graphs = path_of(60, list(range(60)))
    available(60 * 60 * 8 * 4)  # enough for its pairs of nodes
    assert pk.ShortestPath().fit_transform(graphs).shape == (1, 1)
    with pytest.raises(KernelTooLargeError, match=r"60 x 3600.*compare no pairs of nodes"):
        GraphHopper().fit_transform(graphs)


def test_belief_propagation_of_very_many_labels_is_refused():
    with pytest.raises(ValueError, match="belief propagation of 3000 labels along 49998 edges takes"):
        pk.PropagationKernel(propagation="belief_propagation", t_max=1).fit_transform(
            path_of(25_000, [i % 3000 for i in range(25_000)])
        )


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
