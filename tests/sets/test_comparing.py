"""Two collections: the statistic from its definition, level, power, and a witness that adds up."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import kstest, ttest_1samp

import propkernels as pk
from propkernels.sets.comparing import (
    block_contributions,
    contributions_of,
    p_value_of_blocks,
    permuted_statistics,
)

DATA = pk.datasets.make_molecules(60, random_state=1)
A, B = DATA.graphs[:25], DATA.graphs[25:]


def naive_mmd(matrix, m):
    """Unbiased MMD^2 from a kernel matrix, equation (3) of Gretton et al."""
    n = len(matrix) - m
    aa, bb, ab = matrix[:m, :m], matrix[m:, m:], matrix[:m, m:]
    within = (aa.sum() - np.trace(aa)) / (m * (m - 1)) + (bb.sum() - np.trace(bb)) / (n * (n - 1))
    return within - 2 * ab.mean()


@pytest.mark.parametrize(
    "kernel",
    [
        pk.WeisfeilerLehman(t_max=2),
        pk.WeisfeilerLehman(t_max=2, normalize=True),
        pk.PropagationKernel(t_max=2, n_hashes=3, random_state=0, normalize=True),
        pk.WeisfeilerLehman(t_max=2, base_kernel="intersection"),
        pk.ShortestPath(),
        pk.LabelHistogram(normalize=True),
    ],
    ids=str,
)
def test_the_statistic_is_that_of_the_kernel_matrix(kernel):
    found = pk.compare(A, B, kernel=kernel, n_permutations=9)
    expected = naive_mmd(kernel.fit_transform(pk.GraphDatabase.concat([A, B])), len(A))
    assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.witness.contributions.sum() == pytest.approx(found.statistic, rel=1e-9, abs=1e-9)


def test_permuted_statistics_are_those_of_permuted_rows():
    rng = np.random.default_rng(0)
    features = csr_array(rng.integers(0, 3, (9, 5)).astype(float))
    found = permuted_statistics(features, 4, 20, 7, None)
    rng = np.random.default_rng(np.random.SeedSequence(7).spawn(1)[0])
    for value in found:
        drawn = rng.permutation(9)[:4]
        order = np.append(drawn, np.setdiff1d(np.arange(9), drawn))
        assert value == pytest.approx(contributions_of(features[order], 4).sum())


@pytest.mark.slow
def test_p_values_are_uniform_for_samples_of_one_distribution():
    rng, p_values = np.random.default_rng(3), []
    for repetition in range(2000):
        features = csr_array(rng.poisson([1.0, 0.3, 2.0, 0.1], size=(24, 4)).astype(float))
        permuted = permuted_statistics(features, 10, 99, repetition, None)
        above = np.count_nonzero(permuted >= contributions_of(features, 10).sum() - 1e-12)
        p_values.append((1 + above) / 100)
    assert abs(np.mean(np.array(p_values) <= 0.05) - 0.05) < 0.02
    assert kstest(np.array(p_values) - rng.random(2000) / 100, "uniform").pvalue > 0.001


def planted(seed, motif):
    """A random tree of C and O, with a path of the motif's labels at node 0."""
    tree = nx.random_labeled_tree(12, seed=seed)
    rng = np.random.default_rng(seed)
    nx.set_node_attributes(tree, {i: "CO"[int(rng.integers(2))] for i in tree}, "label")
    last = 0
    for label in motif:
        tree.add_node(len(tree), label=label)
        tree.add_edge(last, len(tree) - 1)
        last = len(tree) - 1
    return tree


@pytest.mark.parametrize("start", [0, 100, 200, 300, 400])
def test_the_witness_finds_the_planted_motif(start):
    """Three bins have a node in each graph of one side and none of the other: all are of the motif.

    With C-N-C, N has two C and the last C has one N as neighbors; with C-C-N, N has one C.
    """
    first = [planted(start + i, "CNC") for i in range(40)]
    second = [planted(start + i, "CCN") for i in range(40, 80)]
    kernel = pk.WeisfeilerLehman(t_max=1)
    found = pk.compare(first, second, kernel=kernel, n_permutations=199, random_state=0)
    assert found.p_value <= 0.01
    best = {(one.more_in, one.labels, *one.nodes.tolist()) for one in (found.witness[i] for i in range(3))}
    assert best == {("A", ("N",), 13), ("A", ("C",), 14), ("B", ("N",), 14)}
    for i in range(3):
        one = found.witness[i]
        assert one.t == 1
        assert (one.share_a, one.share_b) == ((1.0, 0.0) if one.more_in == "A" else (0.0, 1.0))
    assert (np.diff(found.witness.scores) <= 0).all()


def test_samples_of_one_distribution_are_not_told_apart():
    assert pk.compare(A, B, n_permutations=99).p_value > 0.05


def test_same_seed_same_result_whatever_the_threads():
    one, two = (pk.compare(A, B, n_permutations=50, random_state=4, n_jobs=n) for n in (1, 2))
    assert one.p_value == two.p_value
    np.testing.assert_array_equal(one.permuted, two.permuted)


def test_texts_and_tables():
    found = pk.compare(A, B, n_permutations=9)
    assert str(found).startswith("MMD^2 = ")
    assert len(found.witness.to_frame(3)) == 3
    assert found.witness[-1].contribution == found.witness.contributions[-1]
    with pytest.raises(IndexError, match="bins, not"):
        found.witness[len(found.witness)]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="two graphs are needed"):
        pk.compare(A[:1], B)
    with pytest.raises(ValueError, match="dot product"):
        pk.compare(A, B, kernel=pk.PropagationKernel(base_kernel="rbf"))
    with pytest.raises(ValueError, match="n_permutations"):
        pk.compare(A, B, n_permutations=0)


def test_blocks_average_the_statistic_of_their_graphs():
    found = pk.compare(A, B, kernel=pk.WeisfeilerLehman(t_max=1), n_blocks=10)
    assert len(found.blocks) == 10
    assert len(found.permuted) == 0
    assert found.statistic == pytest.approx(found.blocks.mean())
    assert found.witness.contributions.sum() == pytest.approx(found.statistic, abs=1e-9)
    assert str(found).splitlines()[0].endswith("(10 blocks)")


def test_statistics_of_blocks_are_those_of_their_rows():
    features = csr_array(np.random.default_rng(1).poisson(1.0, (60, 4)).astype(float))
    mean, blocks = block_contributions(features, 24, 10, 3)
    rng = np.random.default_rng(3)
    first, second = rng.permutation(24), 24 + rng.permutation(36)
    naive = [
        naive_mmd((part @ part.T).toarray(), len(a))
        for a, b in zip(np.array_split(first, 10), np.array_split(second, 10), strict=True)
        for part in [features[np.append(a, b)]]
    ]
    np.testing.assert_allclose(blocks, naive, atol=1e-12)
    assert mean.sum() == pytest.approx(np.mean(naive))


@pytest.mark.slow
def test_blocks_keep_the_level_and_find_differences():
    rng, n_false, n_right = np.random.default_rng(5), 0, 0
    for repetition in range(60):
        same = csr_array(rng.poisson(1.0, (200, 3)).astype(float))
        other = csr_array(
            np.concatenate([rng.poisson(1.0, (100, 3)), rng.poisson(1.8, (100, 3))]).astype(float)
        )
        for features, is_same in ((same, True), (other, False)):
            blocks = block_contributions(features, 100, 20, repetition)[1]
            rejected = ttest_1samp(blocks, 0.0, alternative="greater").pvalue <= 0.05
            n_false, n_right = n_false + (is_same and rejected), n_right + (not is_same and rejected)
    assert n_false <= 9
    assert n_right >= 57


def test_the_unit_of_a_kernel_does_not_change_the_p_value():
    parts = [pk.WeisfeilerLehman(t_max=1)]
    found = [
        pk.compare(
            A[:20],
            pk.datasets.make_molecules(20, random_state=2, mean_nodes=25).graphs,
            kernel=pk.SumKernel(parts, weights=[weight], normalize_parts=False),
            n_permutations=39,
        )
        for weight in (1.0, 2.0**-100)
    ]
    assert found[0].p_value == found[1].p_value
    assert found[0].statistic * 2.0**-100 == pytest.approx(found[1].statistic, rel=1e-9)


def test_blocks_without_a_difference_have_a_p_value():
    alike = pk.GraphDatabase(np.zeros((40, 40)), np.arange(41))
    assert pk.compare(alike[:20], alike[20:], n_blocks=10).p_value == 1
    assert p_value_of_blocks(np.full(10, 0.5)) == 0


def test_more_permutations_than_memory_are_refused():
    with pytest.raises(MemoryError, match="use fewer permutations"):
        pk.compare(A[:3], B[:3], n_permutations=2**60)
