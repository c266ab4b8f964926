"""From distributions to codes: the fused loop, the stepwise one, and the runs in which they work."""

import hashlib

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm

import propkernels as pk
from propkernels._utils.parallel import workers
from propkernels._utils.randomness import label_keys
from propkernels.codes import codes as module
from propkernels.codes.attribute_codes import _hash_columns
from propkernels.codes.codes import (
    NO_BIN,
    LocalitySensitiveHash,
    _fused,
    floor_codes,
    in_key_order,
    stream_numbers,
)
from propkernels.propagation import Diffusion, LabelPropagation
from propkernels.propagation.initial import Prior, initial_distributions, label_column
from propkernels.propagation.schemes import AffineOperator
from tests.zoo import labelled_zoo, one, path_edges

# Pairs of distributions over three labels at growing distances.
P = np.array([0.5, 0.3, 0.2])
OTHERS = [[0.5, 0.29, 0.21], [0.45, 0.33, 0.22], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]]


def cauchy_collision(c, w):
    """Probability that two points at l1 distance c share a bin of width w (Datar et al. 2004)."""
    return 2 * np.arctan(w / c) / np.pi - c / (np.pi * w) * np.log1p((w / c) ** 2)


def gaussian_collision(c, w):
    """Probability that two points at l2 distance c share a bin of width w (Datar et al. 2004)."""
    return 1 - 2 * norm.cdf(-w / c) - 2 * c / (np.sqrt(2 * np.pi) * w) * (1 - np.exp(-(w**2) / (2 * c**2)))


def distance(metric, p, q):
    """The distance that the hash is built on: l1 (twice the total variation), l2, l2 of square roots."""
    if metric in ("tv", "l1"):
        return np.abs(p - q).sum()
    return np.linalg.norm(np.sqrt(p) - np.sqrt(q) if metric == "hellinger" else p - q)


def codes(lsh, points, streams):
    roots = np.sqrt(points) if lsh.takes_root else points
    return floor_codes(roots @ lsh.vectors(label_keys(range(3)), streams) + lsh.offsets(streams))


def assert_share(hits, trials, probability):
    """The share of collisions lies within five standard deviations of its expectation."""
    bound = 5 * np.sqrt(probability * (1 - probability) / trials)
    assert abs(hits / trials - probability) < bound


@pytest.mark.parametrize("q", OTHERS)
@pytest.mark.parametrize("w", [0.05, 0.5])
@pytest.mark.parametrize("metric", ["tv", "l1", "l2", "hellinger"])
def test_collision_probability_over_streams(metric, w, q):
    law = cauchy_collision if metric in ("tv", "l1") else gaussian_collision
    trials = 40_000
    computed = codes(LocalitySensitiveHash(metric, w, seed=1), np.array([P, q]), np.arange(trials))
    assert_share((computed[0] == computed[1]).sum(), trials, law(distance(metric, P, np.array(q)), w))


def test_purposes_and_seeds_are_independent():
    keys, streams = label_keys(range(50)), stream_numbers(9, 1)
    families = [LocalitySensitiveHash("l2", 1.0, seed, purpose) for seed in (0, 1) for purpose in (0, 1)]
    draws = np.array([family.vectors(keys, streams).ravel() for family in families])
    assert np.abs(np.corrcoef(draws) - np.eye(4)).max() < 5 / np.sqrt(draws.shape[1])


# streams


def test_streams_are_ordered_by_iteration_then_hash():
    assert stream_numbers(2, 2).tolist() == [0, 1, 2**32, 2**32 + 1, 2 * 2**32, 2 * 2**32 + 1]


# codes


def test_codes_are_floors():
    values = np.array([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1e9 + 0.5, -1e9 - 0.5, np.nextafter(1, 0)])
    assert floor_codes(values).tolist() == [0, 0, 0, -1, 1, -1, 10**9, -(10**9) - 1, 0]
    assert floor_codes(values).dtype == np.int64


def test_codes_of_large_values_ignore_the_last_bits():
    rng = np.random.default_rng(0)
    values = rng.normal(size=200) * 10.0 ** rng.uniform(12, 300, size=200)
    computed = floor_codes(values)
    assert len(np.unique(computed)) == 200
    shaken = np.mean(floor_codes(values * (1 + 2**-52)) == computed)
    assert shaken > 0.98  # rounding seldom matters, although one unit in the last place is many bins wide
    assert (floor_codes(values * (1 + 2**-30)) != computed).all()


def test_values_are_large_from_2_to_36_on():
    edge = 2.0**36
    values = np.array([edge - 1, edge, 1 - edge, -edge])
    bits = values.view(np.int64) & -(2**16)
    assert floor_codes(values).tolist() == [2**36 - 1, bits[1], 1 - 2**36, bits[3]]


def test_compiled_codes_are_the_same():
    rng = np.random.default_rng(1)
    values = rng.normal(size=300) * 10.0 ** rng.uniform(-3, 300, size=300)
    edges = np.array([0.0, -0.0, 2.0**36, -(2.0**36), np.nextafter(2.0**36, 0), np.inf, -np.inf])
    values = np.concatenate([values, edges])
    codes = np.empty((1, len(values)), dtype=np.int64)
    _hash_columns(values[:, None], np.ones(1), np.zeros(1), codes)
    np.testing.assert_array_equal(codes[0], floor_codes(values))


OPERATORS = {
    "walk": Diffusion(),
    "lazy": Diffusion(laziness=0.25),
    "symmetric": Diffusion(normalization="symmetric"),
    "summed": Diffusion(normalization="none", laziness=0.5),
    "vanish": Diffusion(isolated="vanish"),
    "reverse": Diffusion(direction="reverse"),
    "clamp after": LabelPropagation(),
    "clamp before": LabelPropagation(clamp="before"),
}


def all_codes(coder, graphs, n_jobs=None):
    with workers(n_jobs):
        (block,) = coder.codes(graphs)
    return block.codes


def codes_of(graphs, scheme, n_jobs=None, **parameters):
    kernel = pk.PropagationKernel(propagation=scheme, t_max=5, random_state=1, **parameters).fit(graphs)
    return all_codes(kernel._coder, graphs, n_jobs)


@pytest.mark.parametrize("n_hashes", [1, 5])
@pytest.mark.parametrize("name", OPERATORS)
def test_threads_share_large_graphs(name, n_hashes, monkeypatch):
    graphs = labelled_zoo()
    reference = codes_of(graphs, OPERATORS[name], n_hashes=n_hashes)
    monkeypatch.setattr(module, "NODES_IN_CACHE", 5)
    monkeypatch.setattr(module, "ENTRIES_OF_A_LARGE_GRAPH", 0)
    monkeypatch.setattr(module, "threads_for", lambda work: 3)
    work = module.Work.of(graphs, graphs.adjacency.indptr, 1)
    assert work.large
    assert len(work.runs) > 2
    runs = [*work.blocks.tolist(), *((part[0], part[-1]) for part in work.large)]
    assert sorted(node for first, last in runs for node in range(first, last)) == list(range(graphs.n_nodes))
    assert np.array_equal(codes_of(graphs, OPERATORS[name], 3, n_hashes=n_hashes), reference)


@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_nodes_that_vanish_have_no_bin_from_the_first_step_on(metric):
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1)]), one(1)])
    computed = codes_of(graphs, Diffusion(isolated="vanish"), metric=metric, n_hashes=2)
    assert (computed[:2] != NO_BIN).all()
    assert (computed[2:, [2, 3]] == NO_BIN).all()
    assert (computed[2:, [0, 1]] != NO_BIN).all()


# what every later version must reproduce: the first bytes of the SHA-256 of all codes

STABLE = {
    ("tv", 1e-3): "83dccfb2596b8eb8",
    ("tv", 1e-13): "8a7572b52d7455ee",
    ("l2", 1e-3): "6c7946d30129c831",
    ("hellinger", 1e-3): "ff7d37658aea4f38",
}


def digest(codes):
    return hashlib.sha256(np.ascontiguousarray(codes, dtype="<i8").tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(("metric", "bin_width"), STABLE)
def test_codes_stay_what_they_were(metric, bin_width):
    graphs = pk.GraphDatabase.concat([one(6, path_edges(6), [0, 1, 2, 0, 1, 2]), one(3, [(0, 1)], [2, 1, 0])])
    computed = codes_of(graphs, "diffusion", metric=metric, bin_width=bin_width, n_hashes=2)
    assert digest(computed) == STABLE[metric, bin_width]


def test_codes_over_labeled_edges_stay_what_they_were():
    graphs = one(6, path_edges(6), [0, 1, 2, 0, 1, 2], edge_labels=list("abcab"))
    assert digest(codes_of(graphs, "diffusion", edge_labels=True, n_hashes=2)) == "749c3db8a7d78b67"


def chain(weight, restart=None):
    """One step along an edge of a weight, between two nodes."""
    adjacency = csr_array(np.array([[0.0, weight], [0.0, 0.0]]))
    ones = np.ones(2)
    return AffineOperator(adjacency, ones, 0 * ones, restart, is_unweighted=weight == 1.0)


@pytest.mark.parametrize(
    ("operator", "start", "n_steps", "overflows"),
    [
        (chain(2.0**100), 2.0**10, 10, False),
        (chain(2.0**100), 2.0**30, 10, True),
        (chain(2.0**100), -(2.0**30), 10, True),
        (chain(1.0), 1.0, 2000, False),
        (chain(1.0, np.ones(2)), 1.0, 1000, False),
        (chain(1.0, np.ones(2)), 1.0, 1021, True),
    ],
)
def test_values_that_could_overflow_are_refused(operator, start, n_steps, overflows):
    projected = np.array([[start], [0.0]])
    if overflows:
        with pytest.raises(ValueError, match="may grow up to"):
            module._check_growth(operator, projected, n_steps)
    else:
        module._check_growth(operator, projected, n_steps)


# Values are dyadic, so that all sums are exact.
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
    codes = _fused(graphs, operator, initial, vectors, offsets, n_hashes, edge_labels)
    start = np.asarray((initial.table @ vectors)[initial.rows])
    np.testing.assert_array_equal(codes, expected_codes(operator, start, offsets, n_hashes, edge_labels))
