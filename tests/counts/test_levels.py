"""Levels: the dot product of what a bin becomes is the smaller of two counts, exactly, everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

import propkernels as pk
from propkernels._utils.randomness import mix
from propkernels.counts.base_kernels import Intersection
from propkernels.counts.counters import StreamCounts
from propkernels.counts.levels import level_codes, levels_of
from propkernels.explain.decisions import explain_rule
from propkernels.explain.rule import FoldedMember, Rule, dual_members
from propkernels.kernels import LabelHistogram
from propkernels.propagation import GaussianMixtures

LABELLED = pk.datasets.make_molecules(24, random_state=0, mean_nodes=12).graphs
ATTRIBUTED = (
    LABELLED[:16]
    .with_labels(None)
    .with_attributes(np.random.default_rng(0).normal(size=LABELLED[:16].n_nodes))
)
GRIDS = pk.GridDatabase(list(np.random.default_rng(0).integers(0, 2, size=(8, 5, 5))))


def naive_intersection(counts):
    """Sum over bins of the smaller count, for each pair of rows."""
    rows = np.asarray(counts, dtype=int)
    return np.array([[sum(min(a, b) for a, b in zip(x, y, strict=True)) for y in rows] for x in rows])


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_levels_equal_the_naive_twin(rows):
    stream = StreamCounts(csr_array(np.array(rows, dtype=float)), np.array([7, -3, 12]), 2, 0.5)
    stream.counts.eliminate_zeros()
    (levels,) = levels_of([stream])
    expected = naive_intersection(rows)
    assert np.array_equal((levels.counts @ levels.counts.T).toarray(), expected)
    assert np.array_equal(Intersection().square([stream]), 0.5 * expected)
    assert levels.counts.nnz == np.sum(rows)
    assert len(set(levels.codes.tolist())) == levels.counts.shape[1]
    assert (levels.iteration, levels.weight) == (2, 0.5)


P2K = pk.P2K(t_max=1, attributes=GaussianMixtures(n_sample_points=5), random_state=0)
CASES = {  # of labels, tests/explain has every kernel on the zoo
    "attributes": (pk.PropagationKernel(t_max=1, attributes="sum", random_state=0), ATTRIBUTED),
    "p2k": (P2K, ATTRIBUTED),
    "grids": (pk.PropagationKernel(t_max=2, random_state=0), GRIDS),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("normalize", [False, True])
def test_intersections_fold_and_explain(case, normalize):
    kernel, graphs = CASES[case]
    half = len(graphs) // 2
    kernel = clone(kernel).set_params(base_kernel="intersection", normalize=normalize).fit(graphs[:half])
    coefficients = np.random.default_rng(0).normal(size=(half, 2))
    rule = Rule.of(dual_members(kernel, coefficients))
    expected = kernel.transform(graphs) @ coefficients
    assert isinstance(rule.members[0], FoldedMember)
    assert np.allclose(rule.decisions(graphs), expected, atol=1e-9, rtol=0)
    explanation = explain_rule(rule, graphs, [1.0, -2.0], [0.0, 0.25])
    assert np.allclose(explanation.decisions, expected @ [1.0, -2.0] - 0.5, atol=1e-9, rtol=0)


def test_nodes_of_a_bin_share_the_weights_of_its_levels_equally():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    train = [(path, ["C", "O", "C"]), (path, ["C", "C", "C"]), (path, ["O", "N", "N"])]
    kernel = LabelHistogram(base_kernel="intersection").fit(train)
    rule = Rule.of(dual_members(kernel, np.array([[1.0], [10.0], [100.0]])))
    explanation = explain_rule(rule, pk.check_graphs([(path, ["C", "N", "C"])]), [1.0], [0.0])
    # two C: the first level is worth 1 + 10, the second 1 + 10; one N: the first level is worth 100
    assert explanation.contributions[:, 0].tolist() == [11.0, 100.0, 11.0]


def test_features_need_a_dot_product():
    for name in ("tanimoto", "rbf"):
        with pytest.raises(ValueError, match="features need a base kernel"):
            pk.PropagationFeatures(base_kernel=name).fit(LABELLED)
    with pytest.raises(ValueError, match="does not support attributes"):
        pk.ShortestPath(base_kernel="intersection", attributes="linear").fit(ATTRIBUTED)


def test_codes_of_levels_are_those_of_the_bin_and_its_mixes():
    codes, most = np.array([7, -3, 12]), np.array([3, 1, 2])
    levels = [(7, 1), (7, 2), (7, 3), (-3, 1), (12, 1), (12, 2)]
    expected = [code if k == 1 else int(mix(np.int64(code), k).view(np.int64)) for code, k in levels]
    assert level_codes(codes, most).tolist() == expected
