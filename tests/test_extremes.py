"""Numbers at the edge of floats, and inputs of the wrong kind: right, or refused in one sentence."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.kernels import AttributeKernel, GraphHopper, ShortestPathFeatures, SubgraphMatching
from propkernels.propagation import (
    BeliefPropagation,
    Diffusion,
    LabelImputer,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
    PropagatedAttributes,
)
from tests.test_contract_discovery import discover, make

PATH = np.array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]])
WEIGHTED = np.array([[0, 0.3, 0, 0.7], [0.3, 0, 0.9, 0], [0, 0.9, 0, 0.1], [0.7, 0, 0.1, 0]])
SCHEMES = [
    Diffusion(),
    Diffusion(0.3, "symmetric"),
    LabelPropagation(),
    LabelPropagation("before"),
    LabelSpreading(),
    PartialAbsorption(),
    BeliefPropagation(),
]


def refused(message, function, kind=ValueError):
    with pytest.raises(kind, match=message) as error:
        function()
    assert "\n" not in str(error.value)
    return str(error.value)


def kernel(**parameters):
    return pk.PropagationKernel(**{"t_max": 4, "random_state": 0, **parameters})


# weights


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000, 1019])
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_the_scale_of_weights_does_not_matter_to_the_last_bit(scheme, exponent, metric):
    graphs = [(WEIGHTED, [0, 1, 2, 0]), (WEIGHTED[:3, :3], [2, 1, 0])]
    scaled = [(np.ldexp(matrix, exponent), labels) for matrix, labels in graphs]
    reference = kernel(propagation=scheme, metric=metric).fit_transform(graphs)
    assert np.array_equal(kernel(propagation=scheme, metric=metric).fit_transform(scaled), reference)


def test_graphs_of_very_different_scales_side_by_side():
    graphs = [(np.ldexp(WEIGHTED, e), [0, 1, 2, 0]) for e in (-1000, 0, 1000)]
    computed = kernel().fit_transform(graphs)
    assert len(set(computed.ravel())) == 1
    assert computed[0, 0] == kernel().fit_transform([(WEIGHTED, [0, 1, 2, 0])])[0, 0]


@pytest.mark.parametrize("estimator", [kernel(), pk.ShortestPath(), kernel(propagation=LabelSpreading())])
def test_weights_whose_sum_is_not_finite_are_refused(estimator):
    graphs = [PATH, 1e308 * PATH]
    refused("^graph 1: the weights add up to more than", lambda: estimator.fit_transform(graphs))


def test_degrees_that_are_not_normal_are_refused():
    refused("graph 0: the weights at node 0 add up to less", lambda: kernel().fit_transform([1e-310 * PATH]))
    refused("node 1 of graph 0 add up", lambda: pk.GraphDatabase(np.array([[0, 1e-310], [0, 0]]).T, [0, 2]))


def test_a_tiny_weight_beside_usual_ones_is_welcome():
    graph = np.array([[0, 1, 5e-324], [1, 0, 1], [5e-324, 1, 0]])
    labels = [0, 1, 0]  # not degrees, which count neighbors whatever their weights
    assert np.array_equal(kernel().fit_transform([(graph, labels)]), kernel().fit_transform([(PATH, labels)]))


@pytest.mark.parametrize("metric", ["tv", "l2", "hellinger"])
def test_sums_that_grow_beyond_all_numbers_are_refused(metric):
    estimator = kernel(propagation=Diffusion(0.5, "none"), metric=metric)
    message = (
        "grow up to 1e.300 times in each of 4 steps|step 2 of Diffusion returned a value that is not finite"
    )
    refused(message, lambda: estimator.fit_transform([(1e300 * PATH, [0, 1, 2])]))
    assert estimator.fit_transform([(1e50 * PATH, [0, 1, 2])]).shape == (1, 1)


def test_a_large_rate_of_absorption():
    reference = kernel(propagation=PartialAbsorption(rate=1e290)).fit_transform([(PATH, [0, 1, 2])])
    computed = kernel(propagation=PartialAbsorption(rate=1.7e308)).fit_transform([(PATH, [0, 1, 2])])
    assert np.array_equal(computed, reference)


# attributes


def with_attributes(scale):
    return [(PATH, [0, 1, 2], np.array([[-1.0], [0.5], [1.0]]) * scale)]


ATTRIBUTED = [
    AttributeKernel(),
    pk.ShortestPath(attributes="gaussian"),
    GraphHopper(attributes="gaussian"),
    SubgraphMatching(attributes="gaussian"),
    kernel(attributes="sum"),
    kernel(attributes=PropagatedAttributes()),
    pk.P2K(random_state=0, t_max=2),
]


@pytest.mark.parametrize("estimator", ATTRIBUTED, ids=lambda e: type(e).__name__)
def test_deviations_that_overflow_or_vanish_are_refused(estimator):
    for scale in (1e154, 1e200, 1.7e308):
        refused("dimension 0 runs from .*, too far", lambda s=scale: estimator.fit(with_attributes(s)))
    for scale in (1e-308, 1e-160):
        refused("dimension 0 runs from .*, too little", lambda s=scale: estimator.fit(with_attributes(s)))
    for scale in (2.0**480, 2.0**-480):
        values = estimator.fit_transform(with_attributes(scale))
        np.testing.assert_allclose(values, estimator.fit_transform(with_attributes(1.0)), rtol=1e-12)


@pytest.mark.parametrize("estimator", ATTRIBUTED[:4], ids=lambda e: type(e).__name__)
def test_without_standardizing_the_bound_is_the_same_for_all(estimator):
    estimator.set_params(standardize=False)
    try:
        refused("a node attribute is -?1e.200", lambda: estimator.fit_transform(with_attributes(1e200)))
        assert np.isfinite(estimator.fit_transform(with_attributes(1e140))).all()
    finally:
        estimator.set_params(standardize=True)


def test_new_graphs_far_from_the_training_graphs_are_refused():
    fitted = AttributeKernel().fit(with_attributes(1.0))
    refused("a node attribute is", lambda: fitted.transform(with_attributes(1e300)))


@pytest.mark.parametrize("cls", [pk.ShortestPath, SubgraphMatching])
def test_a_kernel_value_that_no_float_holds_is_refused(cls):
    estimator = cls(attributes="linear", standardize=False)
    refused("kernel of two graphs is larger", lambda: estimator.fit_transform(with_attributes(1e140)))


def test_densities_that_no_float_holds_are_refused():
    rng = np.random.default_rng(0)
    graphs = [(PATH, None, rng.random((3, 30)) * 1e-40) for _ in range(40)]
    estimator = pk.P2K(standardize=False, random_state=0)
    refused("densities reach exp", lambda: estimator.fit(graphs))


def test_a_huge_gamma_compares_for_equality():
    computed = AttributeKernel(gamma=1e308).fit_transform(with_attributes(1.0))
    assert computed[0, 0] == pytest.approx(1 / 3)


def test_priors_and_distributions_of_odd_size_are_refused():
    for prior in ({0: 1e308, 1: 1.7e308}, {0: 1e-320}):
        estimator = kernel(prior=prior)
        refused("prior weights add up to", lambda e=estimator: e.fit([(PATH, [0, None, 1])]))
    for row in ([1.7e308, 1.7e308], [1e-320, 0]):
        refused("adds up to", lambda r=row: pk.LabelDistributions(np.array([[0.5, 0.5], r])))


# parameters


@pytest.mark.parametrize("width", [1e-308, 5e-324, 1e-101])
@pytest.mark.parametrize("name", ["bin_width", "attribute_bin_width"])
def test_bins_of_no_width_are_refused(name, width):
    refused(f"{name} must be at least 1e-100", lambda: kernel(**{name: width}).fit([PATH]))


@pytest.mark.parametrize("t_max", [2**31, 2**40, 10**5000, 2**20], ids=["31", "40", "huge", "20"])
def test_more_steps_than_memory_are_refused(t_max):
    message = "must be at most 1048576"
    refused(message, lambda: kernel(t_max=t_max).fit([PATH]))
    refused(message, lambda: kernel(t_max=2, n_hashes=t_max).fit([PATH]))
    refused(message, lambda: pk.PropagationFeatures(t_max=t_max).fit([PATH]))
    refused(message, lambda: pk.WeisfeilerLehman(t_max=t_max).fit([PATH]))
    data = pk.datasets.make_molecules(20, random_state=0)
    refused(message, lambda: pk.PropagationClassifier(t_max=t_max).fit(data.graphs, data.target))


def test_more_columns_than_indices_are_refused():
    for number in (2**31, 2**63, 10**400):
        features = pk.PropagationFeatures(n_features=number)
        refused("n_features must be at most 2147483647", lambda f=features: f.fit([PATH]))
    refused("k must be at most 1000", lambda: SubgraphMatching(k=2**31).fit([PATH]))


# inputs of the wrong kind

GRIDS = pk.GridDatabase([np.zeros((3, 3), dtype=int)] * 2)


@pytest.mark.parametrize("name", sorted(discover()))
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grids_are_taken_or_refused_in_one_sentence(name, n_jobs):
    estimator = make(discover()[name])
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=n_jobs)
    said = ""
    try:
        estimator.fit_transform(GRIDS)
    except (TypeError, ValueError) as error:
        said = str(error)
    assert "\n" not in said
    assert "object has no attribute" not in said


def test_grids_in_a_pipeline_and_to_fitted_kernels():
    data = pk.datasets.make_molecules(6, random_state=0)
    refused("stores pixels, not edges", lambda: pk.ShortestPath().fit(data.graphs).transform(GRIDS))
    pipeline = make_pipeline(ShortestPathFeatures(n_jobs=2), LogisticRegression())
    refused("stores pixels, not edges", lambda: pipeline.fit(GRIDS, [0, 1]))


@pytest.mark.parametrize("base_kernel", ["linear", "rbf", "intersection", "tanimoto", "jaccard"])
def test_graphs_without_nodes_have_any_base_kernel(base_kernel):
    estimator = pk.WeisfeilerLehman(base_kernel=base_kernel, t_max=2)
    computed = estimator.fit_transform([np.zeros((0, 0))] * 2)
    assert np.array_equal(computed, np.full((2, 2), 3.0 if base_kernel == "rbf" else 0.0))
    mixed = estimator.fit([np.zeros((0, 0))]).transform([np.zeros((0, 0)), PATH])
    assert mixed.shape == (2, 1)


def test_numbers_beyond_64_bits():
    graphs = [(PATH, [10**400, -(2**70), 1])]
    assert kernel().fit_transform(graphs)[0, 0] == kernel().fit_transform([(PATH, [5, 6, 7])])[0, 0]
    refused("too large for a float", lambda: kernel().fit([(PATH, None, [10**400, 1, 2])]))
    refused("matrix of numbers", lambda: kernel().fit([([[10**400]],)]), TypeError)
    refused("bin_width must be a number that a float can hold", lambda: kernel(bin_width=10**400).fit([PATH]))
    refused("random_state must be", lambda: kernel(random_state=2**70).fit([PATH]))


def nested(depth, start=0):
    label = start
    for _ in range(depth):
        label = (label,)
    return label


@pytest.mark.slow
def test_labels_nested_too_deep_are_refused_before_they_are_hashed():
    message = "^graph 0: node_labels: the label of node 1 is nested more than 50 deep$"
    for depth in (60, 5000, 200_000):
        refused(message, lambda d=depth: kernel().fit([(PATH, [0, nested(d), 1])]))
    shared = 0
    for _ in range(60):
        shared = (shared, shared)
    refused(message, lambda: kernel().fit([(PATH, [0, shared, 1])]))
    assert kernel().fit_transform([(PATH, [0, nested(40), 1])]).shape == (1, 1)


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


FOREIGN = [object(), Rude(), 3, "graphs", b"graphs", {}, {1}, None, itertools.count(), [Rude()], [None], [[]]]
FOREIGN += [[(PATH, object())], [(PATH, None, object())], [(PATH, None, None, None)], np.zeros((3, 3)), [3.5]]
FOREIGN += [
    [("abc",)],
    [(PATH, "abc")],
    [(PATH, {0: 1})],
    lambda: 0,
    [(Rude(), [1])],
    [(PATH, [[1], [2], [3]])],
]


@pytest.mark.parametrize("position", range(len(FOREIGN)))
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_foreign_objects_are_refused_in_one_sentence(position, n_jobs):
    refused(".", lambda: kernel(n_jobs=n_jobs).fit(FOREIGN[position]), (TypeError, ValueError))


@pytest.mark.parametrize("value", [Rude(), [], "many", 1 + 2j, object(), np.zeros(3), None, float("nan")])
@pytest.mark.parametrize("name", ["t_max", "bin_width", "n_hashes", "metric", "base_kernel"])
def test_foreign_parameters_are_refused_in_one_sentence(name, value):
    refused(name, lambda: kernel(**{name: value}).fit([PATH]), (TypeError, ValueError))


# what the harness found


def test_an_imputer_reads_an_iterator_once():
    graphs = [(PATH, ["a", None, "b"]), (PATH, [None, "a", "a"])]
    assert LabelImputer().fit_transform(iter(graphs)) == LabelImputer().fit_transform(graphs)


def test_an_imputer_whose_values_grow_without_end_says_so():
    imputer = LabelImputer(propagation=Diffusion(normalization="none"))
    triangle = np.ones((3, 3))
    refused(
        "returned a value that is not finite", lambda: imputer.fit_transform([(9 * triangle, [0, None, 1])])
    )


def test_masks_that_are_not_a_list_are_refused():
    image = np.zeros((2, 2), dtype=int)
    for masks in (1.5, "mask", {0: image}, {1}):
        refused("masks must be a list", lambda m=masks: pk.GridDatabase([image], m), TypeError)


@pytest.mark.parametrize("name", ["normalize", "n_jobs"])
def test_a_long_value_is_shown_shortly(name):
    estimator = kernel(**{name: np.array([10**400, 10**400], dtype=object)})
    assert len(refused(name, lambda: estimator.fit([PATH]), TypeError)) < 150


@pytest.mark.parametrize("name", sorted(discover()))
def test_no_parameter_is_shown_on_several_lines(name):
    matrix, cls, said = np.zeros((3, 3)), discover()[name], {}
    for parameter in sorted(set(cls._get_param_names()) - {"n_jobs"}):
        try:
            make(cls, **{parameter: [matrix]}).fit([(PATH, ["a", "b", "a"], np.eye(3))])
        except (TypeError, ValueError) as error:
            said[parameter] = str(error)
    assert said
    assert [parameter for parameter, text in said.items() if "\n" in text] == []


def test_a_bad_edge_label_of_graphs_without_edges_is_refused_by_its_position():
    message = "edge_labels: the label of entry 0 is nested more than 50 deep"
    refused(message, lambda: pk.GraphDatabase(np.zeros((2, 2)), [0, 2], edge_labels=[nested(60)]))
