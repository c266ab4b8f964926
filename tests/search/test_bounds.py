"""Search by bounds returns what reading all postings returns, to the bit."""

import numpy as np
import pytest

import propkernels as pk
from propkernels import _core
from propkernels.search import bounds
from propkernels.search.nearest import Query

GRAPHS = pk.datasets.make_molecules(160, random_state=4, mean_nodes=12).graphs
KERNEL = pk.WeisfeilerLehman(t_max=2)
QUERIES = pk.GraphDatabase.concat(
    [GRAPHS[:6], pk.datasets.make_molecules(3, random_state=9, mean_nodes=30).graphs]
)


@pytest.fixture(params=[1, 64], ids=["read", "looked up"])
def small(request, monkeypatch):
    """Segments of all sizes are searched by bounds, with few or many graphs looked up."""
    monkeypatch.setattr(bounds, "LEAST_GRAPHS", 1)
    monkeypatch.setattr(bounds, "MOST_LOOKED_UP", request.param)


def index(similarity, **others):
    return pk.GraphIndex(kernel=KERNEL, similarity=similarity, **others).fit(GRAPHS)


def reference(index, queries, k, above):
    """The k most similar graphs of all."""
    answers = []
    for query in Query.all(index._counter.count(queries, None), index._measure):
        values = index._file.similarities(query)
        order = np.lexsort((np.arange(len(values)), -values))
        order = order[values[order] >= above][:k]
        answers.append((values[order], order))
    return answers


def assert_same(found, expected):
    for values, ids, (right_values, right_ids) in zip(*found, expected, strict=True):
        np.testing.assert_array_equal(ids, right_ids)
        np.testing.assert_array_equal(values, right_values)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("similarity", ["jaccard", "intersection"])
@pytest.mark.parametrize("k", [1, 2, 10, 70, 160])
def test_nearest_graphs(similarity, k):
    known = index(similarity)
    assert_same(known.query(QUERIES, k), reference(known, QUERIES, k, -1.0))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("similarity", ["jaccard", "intersection"])
@pytest.mark.parametrize("at_least", [0.0, 0.05, 0.3, 0.5, 0.7, 0.95, 1.0])
def test_thresholds(similarity, at_least):
    known = index(similarity)
    assert_same(known.query(QUERIES, at_least=at_least), reference(known, QUERIES, 999, at_least))
    assert_same(known.query(QUERIES, 3, at_least=at_least), reference(known, QUERIES, 3, at_least))


@pytest.mark.usefixtures("small")
def test_removed_graphs_are_not_found():
    known = index("jaccard").remove(range(0, 60, 2))
    for found in (known.query(QUERIES, 20), known.query(QUERIES, at_least=0.4)):
        for ids in found.ids:
            assert not set(ids.tolist()) & set(range(0, 60, 2))
    assert_same(known.query(QUERIES, 20), reference(known, QUERIES, 20, 0.0))


@pytest.mark.usefixtures("small")
def test_segments_agree():
    added = pk.GraphIndex(kernel=KERNEL, similarity="jaccard").fit(GRAPHS[:120]).add(GRAPHS[120:])
    assert_same(added.query(QUERIES, 9), reference(index("jaccard"), QUERIES, 9, -1.0))
    assert_same(added.query(QUERIES, at_least=0.4), reference(index("jaccard"), QUERIES, 999, 0.4))


@pytest.mark.usefixtures("small")
def test_a_query_without_known_levels_finds_nothing():
    stranger = pk.GraphDatabase(np.array([[0, 1], [1, 0]]), [0, 2], node_labels=["?", "?"])
    assert [len(ids) for ids in index("jaccard").query(stranger, at_least=0.1).ids] == [0]


@pytest.mark.usefixtures("small")
def test_graphs_not_met_are_less_similar():
    """With ``n_needed`` levels read, the best graph without a common level stays below the similarity."""
    known = index("jaccard")
    for query in Query.all(known._counter.count(QUERIES, None), known._measure):
        (search,) = known._file.searches(query)
        plan, values = bounds.Plan.of(search), search.similarities()
        reader = bounds._Reader(search, plan)
        reader.read(plan.n_lists // 2)
        unmet = values[reader.common == 0].max(initial=0.0)
        reachable = [s for s in np.linspace(0.01, 1, 50) if plan.n_needed(s, True) <= reader.n_read]
        assert all(unmet < s for s in reachable)


def test_counts_are_read_whole():
    known = pk.GraphIndex(kernel=KERNEL).fit(GRAPHS)
    (query,) = Query.all(known._counter.count(GRAPHS[:1], None), known._measure)
    assert bounds.Plan.of(*known._file.searches(query)) is None


@pytest.mark.parametrize("least_graphs", [1, 50, 999])
@pytest.mark.parametrize("similarity", ["jaccard", "cosine"])
def test_later_graphs_are_those_after_a_graph(similarity, least_graphs, monkeypatch):
    monkeypatch.setattr(bounds, "LEAST_GRAPHS", least_graphs)
    known = (
        pk.GraphIndex(kernel=KERNEL, similarity=similarity).fit(GRAPHS[:90]).add(GRAPHS[90:]).remove([100])
    )
    for graph in (0, 50, 95, 158, 159):
        (query,) = Query.all(known._counter.count(GRAPHS[[graph]], None), known._measure)
        values = known._file.similarities(query)
        for above in (0.3, -1.0):
            expected = [i for i in range(graph + 1, 160) if values[i] > above]
            assert sorted(known._file.later(query, graph, above).tolist()) == expected


RNG = np.random.default_rng(0)
LISTS = [np.flatnonzero(RNG.random(50) < share) for share in (0.02, 0.1, 0.3, 0.5)]
ROWS = (RNG.random((2, 50)) < 0.6).astype(np.uint8)
WORDS = np.concatenate([(own << 8) | 1 for own in LISTS]).astype(np.uint32)
ENDS = np.cumsum([0, *map(len, LISTS)])
COMMON = np.sum([np.isin(np.arange(50), own) for own in LISTS], axis=0)


def test_common_levels_of_all_graphs():
    common = np.zeros(50, dtype=np.uint16)
    _core.count_common(ENDS[:-1], ENDS[1:], WORDS, 0, common)
    np.testing.assert_array_equal(common, COMMON)


@pytest.mark.parametrize("start", [0, 1, 17, 49, 50])
def test_common_levels_of_later_graphs(start):
    first, common = ENDS[:-1].copy(), np.zeros(50 - start, dtype=np.uint16)
    _core.skip_graphs(first, ENDS[1:], WORDS, start)
    _core.count_common(first, ENDS[1:], WORDS, start, common)
    np.testing.assert_array_equal(common, COMMON[start:])


@pytest.mark.parametrize("least", [-1.0, 0.3, 0.6])
@pytest.mark.parametrize("is_ratio", [True, False])
def test_looked_up_graphs(least, is_ratio):
    places = np.arange(0, 50, 3)
    lengths = RNG.integers(6, 10, len(places)).astype(float)
    total = COMMON + ROWS.sum(axis=0)
    expected = total[places]
    below = 6 + lengths - expected if is_ratio else np.sqrt(6 * lengths)
    stays = expected / below >= least
    first, last = np.append(ENDS[:-1], [0, 0]), np.append(ENDS[1:], [0, 0])
    levels = (first, last, np.array([-1, -1, -1, -1, 0, 1]))
    found, common = places.copy(), np.zeros(len(places), dtype=np.int64)
    bound = (6.0, least * (1 - 1e-9), is_ratio)
    n = _core.look_up(found, common, lengths.copy(), levels, WORDS, ROWS, bound)
    np.testing.assert_array_equal(found[:n], places[stays])
    np.testing.assert_array_equal(common[:n], expected[stays])


@pytest.mark.parametrize("is_ratio", [True, False])
def test_marked_graphs_are_those_whose_bound_allows_it(is_ratio):
    squares = RNG.integers(1, 12, 50) * 0.5
    marks = np.empty(50, dtype=bool)
    _core.mark_possible(COMMON.astype(np.uint16), squares, 2, 0.5, (6.0, 0.4, is_ratio), marks)
    most, lengths = COMMON + 2.0, squares / 0.5
    bound = (1 + 0.4) * most >= 0.4 * (6 + lengths) if is_ratio else most >= 0.4 * np.sqrt(6 * lengths)
    np.testing.assert_array_equal(marks, bound)
    _core.mark_possible(COMMON.astype(np.uint16), squares, 2, 0.5, (6.0, -1.0, is_ratio), marks)
    assert marks.all()
