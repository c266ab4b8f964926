"""Numbers at the edge of floats, inputs of the wrong kind, and faults that users meet elsewhere."""

import itertools

import numpy as np
import pytest

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
from tests.zoo import cycle_edges, one, path_edges

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
GRIDS = pk.GridDatabase([np.zeros((3, 3), dtype=int)] * 2)


def refused(message, function, kind=ValueError):
    with pytest.raises(kind, match=message) as error:
        function()
    assert "\n" not in str(error.value)
    assert "object has no attribute" not in str(error.value)
    return str(error.value)


def kernel(**parameters):
    return pk.PropagationKernel(**{"t_max": 4, "random_state": 0, **parameters})


def with_attributes(scale):
    return [(PATH, [0, 1, 2], np.array([[-1.0], [0.5], [1.0]]) * scale)]


def nested(depth, label=0):
    for _ in range(depth):
        label = (label,)
    return label


# the edge of floats


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000, 1019])
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_the_scale_of_weights_does_not_matter_to_the_last_bit(scheme, exponent, metric):
    graphs = [(WEIGHTED, [0, 1, 2, 0]), (WEIGHTED[:3, :3], [2, 1, 0])]
    scaled = [(np.ldexp(matrix, exponent), labels) for matrix, labels in graphs]
    reference = kernel(propagation=scheme, metric=metric).fit_transform(graphs)
    assert np.array_equal(kernel(propagation=scheme, metric=metric).fit_transform(scaled), reference)


def test_a_tiny_weight_beside_usual_ones_is_welcome():
    graph = np.array([[0, 1, 5e-324], [1, 0, 1], [5e-324, 1, 0]])
    labels = [0, 1, 0]  # not degrees, which count neighbors whatever their weights
    assert np.array_equal(kernel().fit_transform([(graph, labels)]), kernel().fit_transform([(PATH, labels)]))


def test_a_large_rate_of_absorption():
    few, many = (kernel(propagation=PartialAbsorption(rate=rate)) for rate in (1e290, 1.7e308))
    graphs = [(PATH, [0, 1, 2])]
    assert np.array_equal(many.fit_transform(graphs), few.fit_transform(graphs))


@pytest.mark.parametrize("base_kernel", ["linear", "rbf", "intersection", "tanimoto", "jaccard"])
def test_graphs_without_nodes_have_any_base_kernel(base_kernel):
    estimator = pk.WeisfeilerLehman(base_kernel=base_kernel, t_max=2)
    computed = estimator.fit_transform([np.zeros((0, 0))] * 2)
    assert np.array_equal(computed, np.full((2, 2), 3.0 if base_kernel == "rbf" else 0.0))
    assert estimator.fit([np.zeros((0, 0))]).transform([np.zeros((0, 0)), PATH]).shape == (2, 1)


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


@pytest.mark.parametrize(
    "cls", [AttributeKernel, pk.ShortestPath, GraphHopper, SubgraphMatching], ids=lambda cls: cls.__name__
)
def test_without_standardizing_the_bound_is_the_same_for_all(cls):
    estimator = cls(attributes="gaussian", standardize=False)
    refused("a node attribute is -?1e.200", lambda: estimator.fit_transform(with_attributes(1e200)))
    assert np.isfinite(estimator.fit_transform(with_attributes(1e140))).all()


SHARED = 0
for _ in range(60):
    SHARED = (SHARED, SHARED)
TOO_DEEP = "^graph 0: node_labels: the label of node 1 is nested more than 50 deep$"
UNKNOWN = [(PATH, [0, None, 1])]
SUMS = Diffusion(0.5, "none")
GROWING = "grow up to 1e.300 times in each of 4 steps|step 2 of Diffusion returned a value that is not finite"
MANY = "must be at most 1048576"
FIT, TRANSFORM = "fit", "fit_transform"


def of(make, data, method=FIT):
    """A call of an estimator, which is made when it is called."""
    return lambda: getattr(make() if isinstance(make, type) else make, method)(data)


HUGE, ABSURD = 2**31, 10**400
DENSE = [(PATH, None, row) for row in np.random.default_rng(0).random((40, 3, 30)) * 1e-40]
UNNORMALIZED = LabelImputer(propagation=Diffusion(normalization="none"))
TOO_FAR = with_attributes(1e140)
REFUSED = [  # message, call
    ("^graph 1: the weights add up to more than", of(kernel(), [PATH, 1e308 * PATH], TRANSFORM)),
    ("^graph 1: the weights add up to more than", of(pk.ShortestPath(), [PATH, 1e308 * PATH], TRANSFORM)),
    ("graph 0: the weights at node 0 add up to less", of(kernel(), [1e-310 * PATH])),
    *(
        (GROWING, of(kernel(propagation=SUMS, metric=metric), [(1e300 * PATH, [0, 1, 2])]))
        for metric in ("tv", "l2", "hellinger")
    ),
    ("a value that is not finite", of(UNNORMALIZED, [(9 * np.ones((3, 3)), [0, None, 1])], TRANSFORM)),
    (
        "a node attribute is",
        lambda: AttributeKernel().fit(with_attributes(1.0)).transform(with_attributes(1e300)),
    ),
    (
        "of two graphs is larger",
        of(pk.ShortestPath(attributes="linear", standardize=False), TOO_FAR, TRANSFORM),
    ),
    (
        "of two graphs is larger",
        of(SubgraphMatching(attributes="linear", standardize=False), TOO_FAR, TRANSFORM),
    ),
    ("densities reach exp", of(pk.P2K(standardize=False, random_state=0), DENSE)),
    ("prior weights add up to", of(kernel(prior={0: 1e308, 1: 1.7e308}), UNKNOWN)),
    ("prior weights add up to", of(kernel(prior={0: 1e-320}), UNKNOWN)),
    ("adds up to", lambda: pk.LabelDistributions(np.array([[0.5, 0.5], [1.7e308, 1.7e308]]))),
    *(
        (f"{name} must be at least 1e-100", of(kernel(**{name: width}), [PATH]))
        for name in ("bin_width", "attribute_bin_width")
        for width in (5e-324, 1e-101)
    ),
    *(
        (MANY, of(cls(t_max=t), [PATH]))
        for cls in (pk.PropagationKernel, pk.PropagationFeatures, pk.WeisfeilerLehman)
        for t in (2**20, HUGE, ABSURD)
    ),
    (MANY, of(kernel(n_hashes=2**40), [PATH])),
    (MANY, lambda: pk.PropagationClassifier(t_max=HUGE).fit([PATH] * 4, [0, 1, 0, 1])),
    ("n_features must be at most 2147483647", of(pk.PropagationFeatures(n_features=HUGE), [PATH])),
    ("n_features must be at most 2147483647", of(pk.PropagationFeatures(n_features=ABSURD), [PATH])),
    ("k must be at most 1000", of(SubgraphMatching(k=HUGE), [PATH])),
    ("too large for a float", of(kernel(), [(PATH, None, [ABSURD, 1, 2])])),
    ("matrix of numbers", of(kernel(), [([[ABSURD]],)])),
    ("bin_width must be a number that a float can hold", of(kernel(bin_width=ABSURD), [PATH])),
    *((TOO_DEEP, lambda d=d: kernel().fit([(PATH, [0, nested(d), 1])])) for d in (60, 5000, 200_000)),
    (TOO_DEEP, of(kernel(), [(PATH, [0, SHARED, 1])])),
    (
        "edge_labels: the label of edge .0, 1. of graph 0 is nested",
        lambda: one(2, [(0, 1)], edge_labels=[nested(60)]),
    ),
    ("stores pixels, not edges", lambda: pk.ShortestPath().fit([PATH]).transform(GRIDS)),
    ("stores pixels, not edges", of(ShortestPathFeatures(n_jobs=2), GRIDS, TRANSFORM)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("message", "call"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_no_float_holds_is_refused_in_one_sentence(message, call):
    refused(message, call, (TypeError, ValueError))


def test_what_is_large_but_not_too_large_is_welcome():
    assert kernel(propagation=SUMS).fit_transform([(1e50 * PATH, [0, 1, 2])]).shape == (1, 1)
    assert kernel().fit_transform([(PATH, [0, nested(40), 1])]).shape == (1, 1)
    huge = kernel().fit_transform([(PATH, [10**400, -(2**70), 1])])
    assert huge == kernel().fit_transform([(PATH, [5, 6, 7])])


# inputs of the wrong kind


@pytest.mark.parametrize("name", sorted(discover()))
def test_grids_are_taken_or_refused_in_one_sentence(name):
    estimator, said = make(discover()[name]), ""
    try:
        estimator.fit_transform(GRIDS)
    except (TypeError, ValueError) as error:
        said = str(error)
    assert "\n" not in said
    assert "object has no attribute" not in said


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


FOREIGN = [object(), Rude(), 3, "graphs", b"graphs", {}, {1}, None, itertools.count(), [Rude()], [None], [[]]]
FOREIGN += [[(PATH, object())], [(PATH, None, object())], [(PATH, None, None, None)], np.zeros((3, 3)), [3.5]]
FOREIGN += [[("abc",)], [(PATH, "abc")], [(PATH, {0: 1})], lambda: 0, [(Rude(), [1])]]
FOREIGN += [[(PATH, [[1], [2], [3]])]]


@pytest.mark.parametrize("position", range(len(FOREIGN)))
def test_foreign_objects_are_refused_in_one_sentence(position):
    refused(".", lambda: kernel().fit(FOREIGN[position]), (TypeError, ValueError))


@pytest.mark.parametrize("value", [Rude(), [], "many", 1 + 2j, object(), np.zeros(3), None, float("nan")])
@pytest.mark.parametrize("name", ["t_max", "bin_width", "n_hashes", "metric", "base_kernel"])
def test_foreign_parameters_are_refused_in_one_sentence(name, value):
    refused(name, lambda: kernel(**{name: value}).fit([PATH]), (TypeError, ValueError))


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
    long = np.array([10**400, 10**400], dtype=object)
    assert len(refused("normalize", lambda: kernel(normalize=long).fit([PATH]), TypeError)) < 150


# faults that users meet elsewhere


def molecules():
    """Six small graphs with string labels."""
    rng = np.random.default_rng(0)
    edges = [path_edges, cycle_edges]
    return pk.GraphDatabase.concat(
        [one(n, edges[n % 2](n), rng.choice(["C", "N", "O"], n).tolist()) for n in range(3, 9)]
    )


def test_set_params_after_fit_takes_effect_at_the_next_fit():
    changes = {"t_max": 2, "metric": "hellinger", "bin_width": 0.5, "n_hashes": 2, "normalize": True}
    changes |= {"base_kernel": "tanimoto", "labels": "degree", "propagation": Diffusion(laziness=0.5)}
    for name, value in changes.items():
        fitted = pk.PropagationKernel(random_state=0)
        before = fitted.fit_transform(molecules())
        computed = fitted.set_params(**{name: value}).fit_transform(molecules())
        reference = pk.PropagationKernel(random_state=0, **{name: value}).fit_transform(molecules())
        assert np.array_equal(computed, reference)
        assert not np.array_equal(computed, before), name
    features = pk.PropagationFeatures(random_state=0, n_features=32)
    expected = features.fit_transform(molecules()).toarray()
    features.set_params(n_features=None, t_max=1)  # what was learned stays consistent
    assert np.array_equal(features.transform(molecules()).toarray(), expected)
    assert len(features.get_feature_names_out()) == 32


@pytest.mark.parametrize("integer", [np.int8, np.int32, np.int64, np.uint16])
def test_numpy_integers_are_integers(integer):
    reference = kernel(t_max=3, n_hashes=2, random_state=1).fit_transform(molecules())
    same = kernel(t_max=integer(3), n_hashes=integer(2), random_state=integer(1))
    assert np.array_equal(same.fit_transform(molecules()), reference)
    features = pk.PropagationFeatures(n_features=integer(8), random_state=integer(1))
    assert features.fit_transform(molecules()).shape == (6, 8)
