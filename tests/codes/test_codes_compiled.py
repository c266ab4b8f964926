"""The compiled loops of hashing against plain numpy; values are dyadic, so that all sums are exact."""

from functools import reduce

import numpy as np
import pytest
from numba import config

import propkernels as pk
from propkernels._utils.crew import NOBODY
from propkernels._utils.mixing import mix_other, mix_word
from propkernels.codes.codes import NO_BIN, _fused, floor_codes, in_key_order, join_codes
from propkernels.codes.codes_compiled import (
    Start,
    Step,
    _passes,
    floor_code,
    hash_columns,
    hash_product,
    join,
    refine,
    slp_vectorization,
)
from propkernels.propagation.initial import Prior, initial_distributions, label_column
from propkernels.propagation.schemes import AffineOperator

pytestmark = pytest.mark.compiled
GENERATOR = np.random.default_rng(0)


def some_graphs(weighted):
    graphs = []
    for n in (1, 4, 7, 5):
        upper = np.triu(GENERATOR.integers(0, 3 if weighted else 2, (n, n)), 1).astype(float)
        graphs.append((upper + upper.T, GENERATOR.integers(0, 3, n).tolist()))
    return pk.check_graphs(graphs)


def some_operator(graphs, restarts, pushes):
    n = graphs.n_nodes
    spread = np.where(np.arange(n) % 5 == 0, 0.0, 0.5)
    keep = np.where(np.arange(n) % 3 == 0, 0.0, 0.25)
    restart = np.where(np.arange(n) % 2 == 0, 0.0, 0.125) if restarts else None
    pushed = np.arange(n) % 4 == 1 if pushes else None
    return AffineOperator(graphs.adjacency, spread, keep, restart, pushed)


def expected_codes(operator, start, offsets, n_hashes, edge_labels):
    codes = []
    for stream in range(len(offsets)):
        x = start[:, stream]
        for step in range(stream // n_hashes):
            labelled = operator
            if edge_labels is not None:
                kinds, factors = edge_labels
                labelled = operator.scaled(factors[step, kinds, stream])
            dense = labelled.adjacency.toarray()
            if operator.pushed_back is not None:
                x = np.where(operator.pushed_back, start[:, stream], x)
            x = operator.spread * (dense @ x) + operator.keep * x
            if operator.restart is not None:
                x = x + operator.restart * start[:, stream]
        codes.append(floor_codes(x + offsets[stream]))
    return np.array(codes)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("pushes", [False, True])
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize(("t_max", "n_hashes"), [(0, 1), (2, 3), (9, 1), (3, 4)])
def test_a_block_makes_all_its_steps(weighted, restarts, pushes, labelled, t_max, n_hashes):
    graphs = some_graphs(weighted)
    operator = some_operator(graphs, restarts, pushes)
    initial, _ = in_key_order(initial_distributions(label_column(graphs, "node"), Prior((), None)))
    n_streams = (t_max + 1) * n_hashes
    vectors = GENERATOR.integers(-50, 50, (len(initial.values), n_streams)).astype(float)
    offsets = GENERATOR.integers(0, 8, n_streams) / 8
    edge_labels = None
    if labelled:
        kinds = GENERATOR.integers(0, 3, graphs.adjacency.nnz).astype(np.int32)
        edge_labels = kinds, GENERATOR.choice([0.5, 1.0, 2.0], (t_max, 3, n_streams))
    codes = _fused(graphs, operator, initial, vectors, offsets, n_hashes, None, edge_labels)
    start = np.asarray((initial.table @ vectors)[initial.rows])
    np.testing.assert_array_equal(codes, expected_codes(operator, start, offsets, n_hashes, edge_labels))


@pytest.mark.parametrize(("n_streams", "n_hashes", "steps"), [(3, 1, 3), (11, 1, 3 + 11), (6, 2, 3)])
def test_visits_of_nodes_and_edges_are_counted(n_streams, n_hashes, steps):
    """Columns are propagated eight at a time, as far as their last stream."""
    graphs = some_graphs(False)
    operator = some_operator(graphs, False, False)
    start = Start(np.zeros(graphs.n_nodes, int), np.zeros((1, 8 * -(-n_streams // 8))))
    a = operator.adjacency
    step = Step(a.indptr, a.indices, None, operator.spread, operator.keep, None, np.empty(0, bool))
    visits = steps * (len(a.indices) + graphs.n_nodes)
    assert _passes(NOBODY, 0, 1, (step, start, np.zeros(n_streams), n_hashes)) == visits


def test_codes_of_single_numbers():
    values = np.array([0.0, -0.5, 3.7, 2.0**36, -(2.0**40) - 0.3, 1e300])
    assert [floor_code(value) for value in values] == floor_codes(values).tolist()


def test_joining_is_that_of_arrays():
    codes, other = np.array([3, -7, NO_BIN]), np.array([5, 2**40, 1])
    expected = join_codes(codes, other)
    assert [join(a, b) for a, b in zip(codes[:2], other[:2], strict=True)] == expected[:2].tolist()


def test_columns_are_hashed_each_by_itself():
    values = GENERATOR.normal(size=(600, 3))
    values[:, 1] = 0.25
    values[5, 2] = np.nan
    vectors, offsets = np.array([2.0, 1.0, -3.0]), np.array([0.5, 0.0, 0.25])
    expected = np.where(np.isnan(values), -99, np.floor(np.nan_to_num(values) * vectors + offsets)).T
    codes, labels = np.zeros((3, 600), dtype=np.int64), GENERATOR.integers(-5, 5, 600)
    labels[::9] = NO_BIN
    for scales in (None, np.array([1.0, 4.0, 0.5])):
        scaled = values if scales is None else values * scales
        for own in (None, labels):
            single = hash_columns(scaled, scales, vectors, offsets, -99, own, 0, 3, codes)
            joined = expected if own is None else join_codes(labels, expected.astype(np.int64))
            np.testing.assert_array_equal(codes, joined)
            assert single.tolist() == [NO_BIN, 0, NO_BIN]


def test_a_product_joins_the_codes_of_all_columns():
    values = GENERATOR.normal(size=(600, 3))
    values[7, 2] = np.nan
    vectors, offsets = np.array([2.0, 1.0, -3.0]), np.array([0.5, 0.0, 0.25])
    columns, codes = np.zeros((3, 600), dtype=np.int64), np.full(600, 5)
    hash_columns(values, None, vectors, offsets, -99, None, 0, 3, columns)
    assert not hash_product(values, vectors, offsets, -99, 0, 300, codes)
    assert (codes[300:] == 5).all()
    assert not hash_product(values, vectors, offsets, -99, 300, 600, codes)
    np.testing.assert_array_equal(codes, reduce(join_codes, columns, np.zeros(600, dtype=np.int64)))


def test_a_product_is_constant_if_all_columns_are():
    values, codes = np.full((600, 2), 0.25), np.empty(600, dtype=np.int64)
    for last_row, is_constant in ((0.5, True), (1.5, False)):
        values[599] = 0.25, last_row
        found = [hash_product(values, np.ones(2), np.zeros(2), -99, a, a + 300, codes) for a in (0, 300)]
        assert found == [True, is_constant]


@pytest.mark.parametrize("labelled", [False, True])
def test_refinement_adds_up_mixed_neighbors(labelled):
    graphs = some_graphs(False)
    a = graphs.adjacency
    keys = GENERATOR.integers(0, 2**63, a.nnz if labelled else 0).astype(np.uint64)
    codes = np.zeros((3, graphs.n_nodes), dtype=np.uint64)
    codes[0] = GENERATOR.integers(0, 2**63, graphs.n_nodes)
    blocks, room = graphs.graph_ptr[[[0, 2], [2, 4]]], np.empty((1, graphs.n_nodes), dtype=np.uint64)
    refine(NOBODY, 0, 2, (a.indptr, a.indices, keys, blocks, np.array([0, 1, 2]), room, codes))
    for t in (1, 2):
        for i in range(graphs.n_nodes):
            total = 0
            for entry in range(a.indptr[i], a.indptr[i + 1]):
                word = mix_other(codes[t - 1, a.indices[entry]])
                total += int(mix_word(word ^ keys[entry]) if labelled else word)
            own = (int(mix_word(codes[t - 1, i])) + total) % 2**64
            assert codes[t, i] == mix_word(np.uint64(own))


@pytest.mark.parametrize("before", [0, 1])
def test_the_setting_comes_back(before, monkeypatch):
    monkeypatch.setattr(config, "SLP_VECTORIZE", before)
    with slp_vectorization():
        assert config.SLP_VECTORIZE == 1
    assert before == config.SLP_VECTORIZE


def test_several_users_may_leave_in_any_order(monkeypatch):
    """Two threads: the first to come is the first to leave."""
    monkeypatch.setattr(config, "SLP_VECTORIZE", 0)
    first, second = slp_vectorization(), slp_vectorization()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert config.SLP_VECTORIZE == 1
    second.__exit__(None, None, None)
    assert config.SLP_VECTORIZE == 0


def test_a_failure_leaves_the_setting_as_it_was(monkeypatch):
    monkeypatch.setattr(config, "SLP_VECTORIZE", 0)
    with pytest.raises(RuntimeError), slp_vectorization():
        raise RuntimeError
    assert config.SLP_VECTORIZE == 0
