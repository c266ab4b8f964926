"""Kernels of attributed graphs: naive twins, invariances, no leak from new graphs, gaps, bad input."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import propkernels as pk
from propkernels.codes.codes import NO_BIN
from propkernels.propagation import Diffusion, GaussianMixtures, PropagatedAttributes
from tests import naive_attributes
from tests.strategies import databases, permute_graphs, permute_nodes
from tests.zoo import cycle_edges, hide_labels, one, path_edges, zoo

TREATMENTS = {
    "sum": "sum",
    "product": "product",
    "joint": "joint",
    "propagated": PropagatedAttributes(),
    "propagated product": PropagatedAttributes(laziness=0.2, combine="product"),
    "mixtures": GaussianMixtures(n_sample_points=7),
    "mixtures as in the paper": GaussianMixtures(n_sample_points=7, scale=None, ridge=0),
    "mixtures, each": GaussianMixtures(n_sample_points=7, scale="each"),
    "mixtures, joint": GaussianMixtures(n_sample_points=7, combine="joint"),
    "mixtures, product": GaussianMixtures(n_sample_points=7, combine="product"),
    "mixtures, refitted": GaussianMixtures(n_sample_points=7, refit_every=2, ridge=0.1),
}
every_treatment = pytest.mark.parametrize(
    "treatment", [pytest.param(treatment, id=name) for name, treatment in TREATMENTS.items()]
)
one_of_each = pytest.mark.parametrize(
    "treatment",
    [pytest.param(TREATMENTS[name], id=name) for name in ("sum", "joint", "propagated", "mixtures")],
)


def kernel(treatment="sum", **options):
    return pk.PropagationKernel(attributes=treatment, **{"t_max": 3, "random_state": 5, **options})


def graph(n, rng, dimensions=2, **options):
    values = rng.normal(size=(n, dimensions)) * [10**d for d in range(dimensions)]
    return one(n, cycle_edges(n) if n > 2 else path_edges(n), attributes=values, **options)


@cache
def some_graphs(seed=0, **options):
    """Graphs of several sizes; one of a single node, one without nodes, one directed, one weighted."""
    rng = np.random.default_rng(seed)
    several = [graph(n, rng, **options) for n in (3, 5, 8, 1, 4, 6)]
    directed = one(4, [(0, 1), (1, 2), (0, 3)], directed=True, attributes=rng.normal(size=(4, 2)))
    weighted = one(4, path_edges(4), weights=[0.5, 2.0, 3.0], attributes=rng.normal(size=(4, 2)))
    return pk.GraphDatabase.concat([*several, one(0), directed, weighted])


# naive twins


@pytest.mark.slow
@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
@pytest.mark.parametrize("metric", ["l1", "l2", "hellinger"])
@pytest.mark.parametrize("n_hashes", [1, 3])
def test_naive_twin(combine, metric, n_hashes):
    graphs = some_graphs()
    estimator = kernel(combine, attribute_metric=metric, n_hashes=n_hashes)
    computed = estimator.fit_transform_cumulative(graphs)
    x = naive_attributes.standardized(graphs.node_attributes)
    lsh = estimator._coder.attributes.lsh
    reference = naive_attributes.kernels(graphs, [x] * 4, lsh, combine, n_hashes)
    np.testing.assert_allclose(computed, reference, rtol=1e-12)


@pytest.mark.slow
@settings(max_examples=15)
@given(databases(min_graphs=2, n_attributes=2, directed=True))
def test_naive_twin_on_generated_graphs(graphs):
    for combine in ("sum", "product", "joint"):
        estimator = kernel(combine, standardize=False, attribute_bin_width=0.7)
        computed = estimator.fit_transform_cumulative(graphs)
        lsh = estimator._coder.attributes.lsh
        reference = naive_attributes.kernels(graphs, [graphs.node_attributes] * 4, lsh, combine)
        assert np.array_equal(computed, reference)


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_naive_twin_of_propagated_attributes(combine):
    graphs = some_graphs()
    estimator = kernel(PropagatedAttributes(laziness=0.3, combine=combine), n_hashes=2)
    computed = estimator.fit_transform_cumulative(graphs)
    x = naive_attributes.standardized(graphs.node_attributes)
    matrices = naive_attributes.spread(x, naive_attributes.transition(graphs, 0.3), 3)
    reference = naive_attributes.kernels(graphs, matrices, estimator._coder.attributes.lsh, combine, 2)
    np.testing.assert_allclose(computed, reference, rtol=1e-12)


@pytest.mark.parametrize("width", [0.1, 1.0, 30.0])
def test_width_of_the_attribute_bins(width):
    graphs = some_graphs()
    estimator = kernel("sum", attribute_bin_width=width)
    computed = estimator.fit_transform_cumulative(graphs)
    x = naive_attributes.standardized(graphs.node_attributes)
    reference = naive_attributes.kernels(graphs, [x] * 4, estimator._coder.attributes.lsh, "sum")
    assert np.array_equal(computed, reference)


def test_product_is_at_most_sum_and_sum_at_most_labels_a_dimension():
    graphs = some_graphs()
    labels = pk.PropagationKernel(t_max=3, random_state=5).fit_transform(graphs)
    added, multiplied = (kernel(combine).fit_transform(graphs) for combine in ("sum", "product"))
    assert (multiplied <= added).all()
    assert (added <= 2 * labels).all()


# labels of all kinds


@pytest.mark.slow
@every_treatment
@pytest.mark.parametrize("labels", ["degree", None])
def test_labels_of_the_nodes_are_not_looked_at(treatment, labels):
    graphs = some_graphs()
    reference = kernel(treatment, labels=labels).fit_transform(graphs)
    computed = kernel(treatment, labels=labels).fit_transform(graphs.with_labels(None))
    assert np.array_equal(computed, reference)


def test_constant_labels_at_t_0_compare_attributes_alone():
    """A LSH of the paper."""
    graphs = some_graphs()
    estimator = kernel("sum", labels=None, t_max=0)
    computed = estimator.fit_transform(graphs)
    x = naive_attributes.standardized(graphs.node_attributes)
    lsh = estimator._coder.attributes.lsh
    reference = naive_attributes.kernels(graphs.with_labels(None), [x], lsh, "sum")[0]
    assert np.array_equal(computed, reference)
    alone = graphs.with_labels(None)
    no_edges = pk.GraphDatabase(alone.adjacency * 0, alone.graph_ptr, None, alone.node_attributes)
    assert np.array_equal(kernel("sum", labels=None, t_max=0).fit_transform(no_edges), reference)


@every_treatment
def test_partially_labelled_graphs(treatment):
    graphs = hide_labels(some_graphs(), 0.4, random_state=0)
    estimator = kernel(treatment)
    matrix = estimator.fit_transform(graphs)
    assert np.array_equal(estimator.transform(graphs), matrix)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9 * matrix.max()
    assert estimator._coder.fills


@pytest.mark.parametrize("direction", ["follow", "reverse", "both"])
def test_attributes_walk_in_the_direction_of_the_labels(direction):
    graphs = one(2, [(0, 1)], labels=[0, 0], directed=True, attributes=[[-1.0], [1.0]])
    estimator = kernel(PropagatedAttributes(laziness=0), propagation=Diffusion(direction=direction))
    estimator.set_params(attribute_bin_width=1e-6).fit(graphs)
    nodes_alike = {"follow": 4, "reverse": 4, "both": 2}[direction]  # after one step, pairs that agree
    cumulative = estimator.fit_transform_cumulative(graphs)[:, 0, 0]
    assert (cumulative[1] - cumulative[0]) == nodes_alike


# invariances


@pytest.mark.slow
@every_treatment
@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_nodes_and_graphs(treatment, seed):
    graphs, rng = some_graphs(seed), np.random.default_rng(seed)
    reference = kernel(treatment).fit_transform(graphs)
    assert np.array_equal(kernel(treatment).fit_transform(permute_nodes(graphs, rng)), reference)
    permuted, order = permute_graphs(graphs, rng)
    assert np.array_equal(kernel(treatment).fit_transform(permuted), reference[np.ix_(order, order)])


@pytest.mark.slow
@every_treatment
def test_cumulative_kernels_are_those_of_smaller_t_max(treatment):
    graphs = some_graphs()
    for normalize in (False, True):
        several = kernel(treatment, normalize=normalize, n_hashes=2).fit_transform_cumulative(graphs)
        for t, computed in enumerate(several):
            reference = kernel(treatment, normalize=normalize, n_hashes=2, t_max=t).fit_transform(graphs)
            np.testing.assert_allclose(computed, reference, rtol=1e-14)


@pytest.mark.slow
@every_treatment
def test_features_give_the_kernel(treatment):
    graphs = some_graphs()
    for options in ({"normalize": True}, {"n_hashes": 2}):
        options_ = {"attributes": treatment, "t_max": 3, "random_state": 5, **options}
        reference = pk.PropagationKernel(**options_).fit_transform(graphs)
        features = pk.PropagationFeatures(**options_).fit(graphs)
        phi = features.transform(graphs)
        np.testing.assert_allclose((phi @ phi.T).toarray(), reference, rtol=1e-12)
        assert len(features.get_feature_names_out()) == phi.shape[1]
        hashed = pk.PropagationFeatures(**options_, n_features=2**22).fit(graphs).transform(graphs)
        np.testing.assert_allclose((hashed @ hashed.T).toarray(), reference, rtol=1e-12)


@pytest.mark.slow
@one_of_each
@pytest.mark.parametrize("base_kernel", ["rbf", "intersection", "tanimoto", "jaccard"])
def test_base_kernels(treatment, base_kernel):
    graphs = some_graphs()
    estimator = kernel(treatment, base_kernel=base_kernel)
    matrix = estimator.fit_transform(graphs)
    np.testing.assert_allclose(estimator.transform(graphs), matrix, rtol=1e-12)


# what comes from fit, and only from there


@pytest.mark.slow
@every_treatment
@pytest.mark.parametrize("normalize", [False, True])
def test_transform_of_a_graph_is_the_same_whatever_stands_beside_it(treatment, normalize):
    train, new = some_graphs(0), some_graphs(1)
    estimator = kernel(treatment, normalize=normalize).fit(train)
    together = estimator.transform(new)
    one_by_one = np.vstack([estimator.transform(new[[i]]) for i in range(len(new))])
    assert np.array_equal(together, one_by_one)
    far = new.with_attributes(new.node_attributes * 1000)
    estimator.transform(far)
    assert np.array_equal(estimator.transform(new), together), "nothing is learned in transform"
    beside = estimator.transform(pk.GraphDatabase.concat([new, far]))
    assert np.array_equal(beside[: len(new)], together)


@pytest.mark.slow
@every_treatment
@pytest.mark.parametrize("normalize", [False, True])
def test_transform_of_the_training_graphs_is_fit_transform(treatment, normalize):
    graphs = some_graphs()
    estimator = kernel(treatment, normalize=normalize, n_hashes=2)
    matrix = estimator.fit_transform(graphs)
    np.testing.assert_allclose(estimator.transform(graphs), matrix, rtol=1e-14)


@pytest.mark.parametrize("treatment", ["sum", PropagatedAttributes(), GaussianMixtures(scale=None)])
def test_fixed_options_make_transform_a_slice_of_the_whole(treatment):
    """Where fit learns the same from both, the kernel of new graphs is a block of the kernel of all."""
    train = some_graphs()
    new = train[[1, 4, 2]]  # the same attributes, so that the doubled training set differs by counts only
    estimator = kernel(treatment, standardize=False, labels="degree").fit(train)
    if treatment == "sum":
        whole = clone(estimator).fit_transform(pk.GraphDatabase.concat([train, some_graphs(1)]))
        assert np.array_equal(estimator.transform(some_graphs(1)), whole[len(train) :, : len(train)])
    assert np.array_equal(estimator.transform(new), estimator.transform(train)[[1, 4, 2]])


def test_standardising_comes_from_fit():
    train, new = some_graphs(0), some_graphs(1)
    estimator = kernel("sum").fit(train)
    x = train.node_attributes
    standard = estimator._coder.attributes.standardizer
    np.testing.assert_allclose(standard.mean, x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(standard.deviation, x.std(axis=0, ddof=1), rtol=1e-12)
    # the same, standardised by hand with the numbers of fit
    by_hand = kernel("sum", standardize=False).fit(train.with_attributes(standard(train)))
    reference = by_hand.transform(new.with_attributes(standard(new)))
    assert np.array_equal(estimator.transform(new), reference)


# streams that split nothing


def split_nothing():
    """Training graphs whose second attribute is the same everywhere, and new ones where it is not."""
    rng = np.random.default_rng(0)
    values = [np.column_stack([rng.normal(size=6), np.zeros(6)]) for _ in range(4)]
    train = pk.GraphDatabase.concat([one(6, cycle_edges(6), attributes=x) for x in values])
    new = pk.GraphDatabase.concat(
        [
            one(6, cycle_edges(6), attributes=x + [0, shift])
            for x, shift in zip(values, [0, 0.4, 5, 1e4], strict=True)
        ]
    )
    return train, new


@pytest.mark.parametrize("normalize", [False, True])
def test_sharing_rows_changes_no_kernel(normalize, monkeypatch):
    train, new = split_nothing()
    shared = kernel("sum", n_hashes=2, normalize=normalize)
    expected = shared.fit_transform(train)
    assert len({id(s.counts) for s in shared._counts}) < len(shared._counts)
    never_share(monkeypatch)
    plain = kernel("sum", n_hashes=2, normalize=normalize)
    assert np.array_equal(plain.fit_transform(train), expected)
    assert len({id(s.counts) for s in plain._counts}) == len(plain._counts)
    reference = plain.transform(new)
    monkeypatch.undo()
    assert np.array_equal(shared.transform(new), reference)
    assert (reference[3] < reference[0]).any(), "new graphs do split what training graphs did not"


def never_share(monkeypatch):
    from propkernels.codes import attribute_codes

    block = attribute_codes.AttributeCoder._block

    def unshared(self, *arguments):
        streams = block(self, *arguments)
        codes = np.array([codes for _, _, codes in streams.streams()])
        return attribute_codes.CodeStreams(codes, streams.iterations, streams.weights)

    monkeypatch.setattr(attribute_codes.AttributeCoder, "_block", unshared)


def test_what_training_graphs_split_and_a_new_graph_does_not():
    train, _ = split_nothing()
    single = one(1, attributes=[[0.3, 0.0]])
    estimator = kernel("sum").fit(train)
    block = next(iter(estimator._coder.codes(single)))
    assert (block.salts != NO_BIN).all(), "one node alone splits nothing"
    both = pk.GraphDatabase.concat([single, train])
    assert np.array_equal(estimator.transform(single)[0], estimator.transform(both)[0])


# missing attributes


@pytest.mark.slow
@every_treatment
def test_missing_values_everywhere(treatment):
    graphs = some_graphs()
    rng = np.random.default_rng(0)
    x = graphs.node_attributes.copy()
    x[rng.random(x.shape) < 0.3] = np.nan
    holes = graphs.with_attributes(x)
    estimator = kernel(treatment)
    matrix = estimator.fit_transform(holes)
    assert np.isfinite(matrix).all()
    assert np.array_equal(estimator.transform(holes), matrix)
    nodes = permute_nodes(holes, rng)
    assert np.array_equal(kernel(treatment).fit_transform(nodes), matrix)
    assert np.isfinite(estimator.transform(zoo()["only attributes"])).all()


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_missing_agrees_with_missing_only(combine):
    values = [[np.nan, np.nan], [np.nan, np.nan], [0.0, 0.0], [1e9, -1e9]]
    graphs = pk.GraphDatabase.concat([one(1, attributes=[x]) for x in values])
    matrix = kernel(combine, t_max=0, standardize=False, labels=None).fit_transform(graphs)
    contributions = 2 if combine == "sum" else 1
    assert (
        matrix.tolist()
        == (contributions * np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])).tolist()
    )


@pytest.mark.parametrize("treatment", [PropagatedAttributes(), GaussianMixtures()])
def test_gaps_are_filled_by_propagation(treatment):
    """A gap between two equal neighbours takes their value: the graph is like the one without the gap."""
    full, gap = np.full((3, 1), 2.0), np.array([[2.0], [np.nan], [2.0]])
    others = np.array([[-1.0], [0.5], [1.0]])
    graphs = pk.GraphDatabase.concat([one(3, path_edges(3), attributes=x) for x in (full, gap, others)])
    matrix = kernel(treatment, standardize=False).fit_transform(graphs)
    assert np.array_equal(matrix[0], matrix[1])


# as estimators


@pytest.mark.slow
@every_treatment
def test_pickle_and_clone(treatment):
    train, new = some_graphs(0), some_graphs(1)
    estimator = kernel(treatment).fit(train)
    reference = estimator.transform(new)
    assert np.array_equal(pickle.loads(pickle.dumps(estimator)).transform(new), reference)
    copy = clone(estimator)
    assert not hasattr(copy, "_counts")
    assert np.array_equal(copy.fit(train).transform(new), reference)


def test_grid_search_over_nested_parameters():
    graphs = pk.GraphDatabase.concat([some_graphs(seed) for seed in range(4)])
    target = np.arange(len(graphs)) % 2
    pipeline = make_pipeline(kernel(PropagatedAttributes()), SVC(kernel="precomputed"))
    grid = {
        "propagationkernel__attributes__laziness": [0.2, 0.7],
        "propagationkernel__attributes__combine": ["sum", "joint"],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(graphs, target)
    assert len(search.cv_results_["params"]) == 4
    best = clone(pipeline).set_params(**search.best_params_).fit(graphs, target)
    assert np.array_equal(search.predict(graphs), best.predict(graphs))


def test_features_for_a_linear_model():
    graphs = pk.GraphDatabase.concat([some_graphs(seed) for seed in range(3)])
    target = np.arange(len(graphs)) % 2
    model = make_pipeline(
        pk.PropagationFeatures(attributes="sum", t_max=2, n_features=2**12, random_state=0), LinearSVC(C=0.1)
    )
    learned, classifier = model.fit(graphs, target), model[-1]
    decisions = model[0].transform(graphs) @ classifier.coef_[0] + classifier.intercept_
    assert np.allclose(learned.decision_function(graphs), decisions)
    assert np.array_equal(learned.predict(graphs), decisions > 0)


@one_of_each
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(treatment, n_jobs):
    graphs = some_graphs()
    reference = kernel(treatment, n_hashes=2).fit_transform(graphs)
    assert np.array_equal(kernel(treatment, n_hashes=2, n_jobs=n_jobs).fit_transform(graphs), reference)


def test_treatments_are_left_as_they_were_given():
    treatment = GaussianMixtures(n_sample_points=5)
    before = dict(vars(treatment))
    kernel(treatment).fit(some_graphs())
    assert vars(treatment) == before


# bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"treatment": "mean"}, "attributes must be None, 'sum', 'product', 'joint', "),
        (
            {"treatment": PropagatedAttributes(combine="all")},
            "combine must be 'sum', 'product' or 'joint'; got 'all'",
        ),
        (
            {"treatment": PropagatedAttributes(laziness=1)},
            "laziness must be at least 0 and below 1, got 1",
        ),
        (
            {"treatment": GaussianMixtures(scale="x")},
            "scale must be one of None, 'initial', 'each'; got 'x'",
        ),
        ({"attribute_bin_width": 0}, "attribute_bin_width must be a finite number above 0, got 0"),
        ({"attribute_bin_width": -1.0}, "attribute_bin_width must be a finite number above 0, got -1.0"),
        ({"attribute_bin_width": np.inf}, "attribute_bin_width must be a finite number above 0, got inf"),
        (
            {"attribute_metric": "cosine"},
            "attribute_metric must be one of 'tv', 'hellinger', 'l1', 'l2'; got 'cosine'",
        ),
    ],
)
def test_bad_parameters_leave_the_estimator_unchanged(options, message):
    graphs = some_graphs()
    estimator = kernel().fit(graphs)
    reference, state = estimator.transform(graphs), dict(vars(estimator))
    treatment = options.get("treatment", "sum")
    rest = {name: value for name, value in options.items() if name != "treatment"}
    estimator.set_params(attributes=treatment, **rest)
    with pytest.raises(ValueError) as caught:
        estimator.fit(graphs)
    assert str(caught.value).startswith(message)
    assert str(caught.value).count("\n") == 0
    learned = [name for name in state if name.endswith("_")]
    assert all(getattr(estimator, name) is state[name] for name in learned)
    assert np.array_equal(estimator.transform(graphs), reference)


@every_treatment
def test_no_attributes(treatment):
    graphs = some_graphs()
    with pytest.raises(
        ValueError,
        match=r"^attributes are requested, but the graphs have no node attributes: use with_attributes$",
    ):
        kernel(treatment).fit(graphs.with_attributes(None))
    estimator = kernel(treatment).fit(graphs)
    with pytest.raises(
        ValueError,
        match=r"^attributes are requested, but the graphs have no node attributes: use with_attributes$",
    ):
        estimator.transform(graphs.with_attributes(None))


@every_treatment
def test_another_dimension_in_transform(treatment):
    graphs = some_graphs()
    estimator = kernel(treatment).fit(graphs)
    with pytest.raises(
        ValueError, match=r"^the graphs have 1 attribute dimension, but the kernel was fitted to 2$"
    ):
        estimator.transform(graphs.with_attributes(graphs.node_attributes[:, 0]))


@every_treatment
def test_a_graph_without_nodes_is_like_nothing(treatment):
    estimator = kernel(treatment).fit(some_graphs())
    assert (estimator.transform(one(0)) == 0).all()


def test_infinite_values():
    graphs = some_graphs()
    x = graphs.node_attributes.copy()
    x[4, 1] = np.inf
    with pytest.raises(
        ValueError, match=r"^node 1 of graph 1 has an infinite attribute in dimension 1: inf$"
    ):
        graphs.with_attributes(x)


@pytest.mark.slow
@every_treatment
def test_degenerate_attributes(treatment):
    graphs = some_graphs()
    n = graphs.n_nodes
    column = np.random.default_rng(0).normal(size=n)
    cases = {
        "constant": np.full((n, 2), 0.1),
        "one constant": np.column_stack([column, np.full(n, 0.1)]),
        "duplicated": np.column_stack([column, column]),
        "nearly duplicated": np.column_stack([column, column * (1 + 1e-14)]),
    }
    for name, values in cases.items():
        attributed = graphs.with_attributes(values)
        matrix = kernel(treatment).fit_transform(attributed)
        assert np.isfinite(matrix).all(), name
        permuted = permute_nodes(attributed, np.random.default_rng(1))
        assert np.array_equal(kernel(treatment).fit_transform(permuted), matrix), name
    alone = kernel(treatment).fit(graphs[[3]])
    assert alone.transform(graphs).shape == (len(graphs), 1)


@every_treatment
def test_equal_attributes_everywhere_add_nothing_to_the_labels(treatment):
    graphs = some_graphs()
    flat = graphs.with_attributes(np.full((graphs.n_nodes, 2), 0.1))
    labels = pk.PropagationKernel(t_max=3, random_state=5).fit_transform(graphs)
    estimator = kernel(treatment)
    computed = estimator.fit_transform(flat)
    contributions = len(estimator._counts) // 4
    assert np.array_equal(computed, contributions * labels)


def test_standardize_is_a_switch():
    database = pk.GraphDatabase(np.zeros((2, 2)), [0, 1, 2], node_attributes=[1.0, 2.0])
    with pytest.raises(TypeError, match="standardize must be True or False, got 'no'"):
        pk.PropagationKernel(attributes="sum", standardize="no").fit(database)
