"""Two collections: the statistic from its definition, level, power, and a witness that adds up."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.sets.two_samples import contributions_of, exchanged_statistics

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
        LabelHistogram(normalize=True),
    ],
    ids=str,
)
def test_the_statistic_is_that_of_the_kernel_matrix(kernel):
    found = pk.two_sample_test(A, B, kernel=kernel, n_permutations=9)
    expected = naive_mmd(kernel.fit_transform(pk.GraphDatabase.concat([A, B])), len(A))
    assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.witness.contributions.sum() == pytest.approx(found.statistic, rel=1e-9, abs=1e-9)


def test_permuted_statistics_are_those_of_permuted_rows():
    rng = np.random.default_rng(0)
    features = csr_array(rng.integers(0, 3, (9, 5)).astype(float))
    for n_first in (4, 6):
        observed, permuted = exchanged_statistics(features, n_first, 20, 7)
        assert observed == pytest.approx(contributions_of(features, n_first).sum())
        rng = np.random.default_rng(np.random.SeedSequence(7).spawn(1)[0])
        for value in permuted:
            order = rng.permutation(9)
            assert value == pytest.approx(contributions_of(features[order], n_first).sum())


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
    found = pk.two_sample_test(first, second, kernel=kernel, n_permutations=199, random_state=0)
    assert found.p_value <= 0.01
    best = {(one.more_in, one.labels, *one.nodes.tolist()) for one in (found.witness[i] for i in range(3))}
    assert best == {("A", ("N",), 13), ("A", ("C",), 14), ("B", ("N",), 14)}
    for i in range(3):
        one = found.witness[i]
        assert one.t == 1
        assert (one.share_a, one.share_b) == ((1.0, 0.0) if one.more_in == "A" else (0.0, 1.0))
    assert (np.diff(found.witness.scores) <= 0).all()


def test_texts_and_tables():
    found = pk.two_sample_test(A, B, n_permutations=99)
    assert str(found).startswith("MMD^2 = ")
    assert found._repr_html_().count("<tr") == 1 + 10
    assert found.p_value > 0.05
    assert len(found.witness.to_frame(3)) == 3
    assert found.witness[-1].contribution == found.witness.contributions[-1]
    with pytest.raises(IndexError, match="bins, not"):
        found.witness[len(found.witness)]


def test_the_unit_of_a_kernel_does_not_change_the_p_value():
    parts = [pk.WeisfeilerLehman(t_max=1)]
    found = [
        pk.two_sample_test(
            A[:20],
            pk.datasets.make_molecules(20, random_state=2, mean_nodes=25).graphs,
            kernel=pk.SumKernel(parts, weights=[weight], normalize_parts=False),
            n_permutations=39,
        )
        for weight in (1.0, 2.0**-100)
    ]
    assert found[0].p_value == found[1].p_value
    assert found[0].statistic * 2.0**-100 == pytest.approx(found[1].statistic, rel=1e-9)


@pytest.mark.parametrize("sizes", [(200, 4), (4, 200), (2, 1000)])
@pytest.mark.parametrize("normalize", [True, False])
def test_equal_graphs_have_a_p_value_of_1(sizes, normalize):
    """All statistics are 0, up to rounding errors, which decide nothing."""
    graphs = A[np.zeros(sum(sizes), dtype=int)]
    kernel = pk.PropagationKernel(t_max=3, random_state=0, normalize=normalize)
    found = pk.two_sample_test(graphs[: sizes[0]], graphs[sizes[0] :], kernel=kernel, n_permutations=99)
    assert found.p_value == 1
    assert found.statistic == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("n_first", "options", "error", "word"),
    [
        (1, {}, ValueError, "two graphs are needed"),
        (9, {"kernel": pk.PropagationKernel(base_kernel="rbf")}, ValueError, "dot product"),
        (9, {"n_permutations": 0}, ValueError, "n_permutations"),
        (9, {"n_permutations": 2**60}, MemoryError, "use fewer permutations"),
    ],
)
def test_what_cannot_be_compared_is_refused(n_first, options, error, word):
    with pytest.raises(error, match=word):
        pk.two_sample_test(A[:n_first], B, **options)
