import numpy as np
import pytest

from propkernels import _core
from propkernels.codes.attribute_codes import AttributeCoder
from propkernels.codes.codes import NO_BIN, CodeStreams, LocalitySensitiveHash, join_codes
from propkernels.propagation.attributes import FixedAttributes, Standardizer
from tests import naive_attributes
from tests.zoo import one


def coder(dimensions, combine="sum", metric="l1", width=1.0, seed=0):
    """Attributes as they are, not standardised."""
    plain = Standardizer(np.zeros(dimensions), np.ones(dimensions))
    return AttributeCoder(
        plain, FixedAttributes(combine), combine, LocalitySensitiveHash(metric, width, seed, 1)
    )


def label_streams(codes, n_hashes=1):
    """Label codes of t = 0, 1, ..., one row per iteration and hash."""
    codes = np.asarray(codes, dtype=np.int64)
    iterations = np.repeat(np.arange(len(codes) // n_hashes), n_hashes)
    return CodeStreams(codes, iterations, np.full(len(codes), 1.0 / n_hashes))


def joined(attributes, labels, **options):
    graphs = one(len(attributes), attributes=np.asarray(attributes, dtype=float))
    n_hashes = options.pop("n_hashes", 1)
    made = coder(graphs.node_attributes.shape[1], **options)
    return list(made.join(graphs, label_streams(labels, n_hashes))), made


def stream_codes(block):
    """The codes of each stream, whether it has a row of its own or shares one."""
    return [codes for _, _, codes in block.streams()]


def partition(codes):
    return np.unique(codes, return_inverse=True)[1]


def same_partition(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(a[:, None] == a, b[:, None] == b)


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
@pytest.mark.parametrize("n_hashes", [1, 3])
def test_partition_of_the_naive_twin(combine, n_hashes):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(40, 3)), rng.integers(0, 2, size=(2 * n_hashes, 40))
    blocks, made = joined(x, labels, combine=combine, n_hashes=n_hashes)
    for t, block in enumerate(blocks):
        bins = []
        for h in range(n_hashes):
            drawn = naive_attributes.draws(made.lsh, t, h, 3)
            several = naive_attributes.attribute_bins(x, drawn, 1.0, combine)
            bins += [list(zip(labels[t * n_hashes + h], column, strict=True)) for column in several]
        assert len(block.iterations) == len(bins)
        for computed, reference in zip(stream_codes(block), bins, strict=True):
            numbers = {key: i for i, key in enumerate(dict.fromkeys(reference))}
            assert same_partition(computed, [numbers[key] for key in reference])


def test_fresh_hashes_for_each_iteration_repetition_and_dimension():
    x = np.repeat(np.linspace(-3, 3, 200)[:, None], 2, axis=1)
    blocks, _ = joined(x, np.zeros((6, 200)), n_hashes=3)
    bins = {tuple(partition(codes)) for block in blocks for codes in stream_codes(block)}
    assert len(bins) == 2 * 3 * 2


# missing values


def test_joint_takes_a_vector_with_any_gap_as_missing():
    x = [[np.nan, 1.0], [5.0, np.nan], [0.0, 1.0], [0.0, 1.0]]
    blocks, _ = joined(x, [[0, 0, 0, 0]], combine="joint")
    assert same_partition(stream_codes(blocks[0])[0], [0, 0, 1, 1])


# streams that tell no nodes apart


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_one_value_everywhere_has_the_code_that_it_has_beside_others(combine):
    """Also where its stream shares the row of the labels; another value has another code."""
    x, labels = np.full((4, 2), 0.25), np.array([[0, 1, 0, 1]])
    more = np.vstack([x, [[1e9, -1e9]]]), np.append(labels, [[0]], axis=1)
    several = [joined(*given, combine=combine)[0][0] for given in ((x, labels), more, (x + 1e6, labels))]
    assert [(block.salts != NO_BIN).all() for block in several] == [True, False, True]
    for shared, beside, other in zip(*map(stream_codes, several), strict=True):
        assert np.array_equal(shared, beside[:4])
        assert (shared != other).all()
    nothing = joined(np.empty((0, 2)), np.empty((1, 0)), combine=combine)[0][0]
    assert nothing.codes.shape[1] == 0


def test_hellinger_compares_square_roots():
    x, labels = np.array([[4.0, 0.25], [9.0, 0.0], [2.25, -1.0]]), np.zeros((2, 3))
    computed, _ = joined(x, labels, metric="hellinger", width=0.1)
    expected, _ = joined(np.sqrt(np.maximum(x, 0)), labels, metric="l2", width=0.1)
    for a, b in zip(computed, expected, strict=True):
        assert np.array_equal(stream_codes(a), stream_codes(b))


def test_nodes_that_are_not_counted_stay_so():
    labels = [[0, NO_BIN, 1]]
    x = np.column_stack([np.full(3, 0.25), np.arange(3) * 1e6])
    for codes in stream_codes(joined(x, labels)[0][0]):
        assert codes[1] == NO_BIN
        assert codes[0] != NO_BIN


def hashed_columns(values, vectors, offsets, labels=None, scales=None, threads=1):
    codes, single = np.zeros(values.T.shape, dtype=np.int64), np.empty(values.shape[1], dtype=np.int64)
    bounds = np.arange(threads + 1) * len(codes) // threads
    _core.hash_columns(values, scales, vectors, offsets, -99, labels, bounds, codes, single, threads)
    return codes, single


@pytest.mark.parametrize("threads", [1, 2])
def test_columns_are_hashed_each_by_itself(threads):
    generator = np.random.default_rng(0)
    values = generator.normal(size=(600, 3))
    values[:, 1] = 0.25
    values[5, 2] = np.nan
    vectors, offsets = np.array([2.0, 1.0, -3.0]), np.array([0.5, 0.0, 0.25])
    expected = np.where(np.isnan(values), -99, np.floor(np.nan_to_num(values) * vectors + offsets)).T
    labels = generator.integers(-5, 5, 600)
    labels[::9] = NO_BIN
    for scales in (None, np.array([1.0, 4.0, 0.5])):
        scaled = values if scales is None else values * scales
        for own in (None, labels):
            codes, single = hashed_columns(scaled, vectors, offsets, own, scales, threads)
            joined = expected if own is None else join_codes(labels, expected.astype(np.int64))
            np.testing.assert_array_equal(codes, joined)
            assert single.tolist() == [NO_BIN, 0, NO_BIN]
