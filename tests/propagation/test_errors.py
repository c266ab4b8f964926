"""Parameters that are refused, each in one sentence, and leave a fitted estimator as it was."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import propkernels as pk
from propkernels.propagation import (
    AbsorbingWalk,
    AnisotropicDiffusion,
    BeliefPropagation,
    Convolution,
    Diffusion,
    GaussianMixtures,
    LabelImputer,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
    PropagatedAttributes,
    PropagationScheme,
)
from propkernels.propagation.attributes import Standardizer, required_attributes
from tests.zoo import cycle_edges, one, zoo

NAN = float("nan")
GRAPHS = one(
    6, cycle_edges(6), [0, 0, 0, 2, None, None], attributes=np.arange(6.0), edge_labels=list("ababab")
)
GAPS = GRAPHS.with_attributes(np.array([[np.nan, 1.0], [1.0, np.nan]] * 3))
GRIDS = pk.GridDatabase([np.eye(3, dtype=int)])
PLAIN = one(2, [(0, 1)])
SET = "absorbing must be 'observed', a collection of labels, or a function"
NO_SCHEME = "propagation must be a name, a scheme with the methods prepare and step, or a function"
WEIGHTS = "prior weights must be finite, nonnegative numbers"
SQUARE = "a square matrix of numbers, got shape"
EYE = np.eye(2)


class AlongNoEdges(PropagationScheme):
    affine = True

    def prepare(self, graphs, initial):
        return None

    def step(self, prepared, current, initial):
        return current


class AlongSomeEdges(Diffusion):
    def prepare(self, graphs, initial):
        operator = super().prepare(graphs, initial)
        kept = csr_array(operator.adjacency.multiply(np.tri(graphs.n_nodes)))
        kept.eliminate_zeros()
        return type(operator)(kept, operator.spread, operator.keep)


SCHEMES = [
    ("magic", ValueError, "propagation must be one of 'auto', 'diffusion', .*; got 'magic'"),
    (Diffusion, TypeError, f"{NO_SCHEME}.*Diffusion"),
    (None, TypeError, f"{NO_SCHEME}.*None"),
    (lambda P, T: P[:, :1], ValueError, "must return an array of the shape of P"),
    (lambda P, T: np.full_like(P, np.inf), ValueError, "not finite"),
    (Diffusion(-0.1), ValueError, "laziness .*-0.1"),
    (Diffusion(1), ValueError, "laziness .*got 1"),
    (Diffusion("half"), TypeError, "laziness .*'half'"),
    (Diffusion(normalization="column"), ValueError, "normalization .*'column'"),
    (Diffusion(isolated="drop"), ValueError, "isolated .*'drop'"),
    (Diffusion(direction="up"), ValueError, "direction .*'up'"),
    (LabelPropagation("sideways"), ValueError, "clamp must be one of 'after', 'before'; got 'sideways'"),
    (LabelPropagation(direction="up"), ValueError, "direction must be one of 'follow', 'reverse', 'both'"),
    (AbsorbingWalk("C"), TypeError, f"{SET}.*got 'C'"),
    (AbsorbingWalk(3), TypeError, f"{SET}.*got 3"),
    (AbsorbingWalk(np.array(3)), TypeError, f"{SET}.*got array"),
    (BeliefPropagation(labels=[0, 1]), ValueError, "labels name the rows of compatibility, which is not"),
    (AbsorbingWalk(lambda graphs: np.ones(3)), ValueError, "must return one bool per node"),
    (AbsorbingWalk(alpha=1.5), ValueError, "alpha must be at most 1, got 1.5"),
    (AbsorbingWalk(alpha=0), ValueError, "alpha must be a finite number above 0, got 0"),
    (PartialAbsorption(1.0), ValueError, r"alpha must be at least 0 and below 1, got 1\.0"),
    (PartialAbsorption(NAN), ValueError, "alpha must be at least 0 and below 1, got nan"),
    (PartialAbsorption("0.5"), TypeError, "alpha must be a number, got '0.5'"),
    (PartialAbsorption(rate=0), ValueError, "rate must be a finite number above 0, got 0"),
    (PartialAbsorption(direction=None), ValueError, "direction must be one of .*; got None"),
    (LabelSpreading(1), ValueError, "alpha must be at least 0 and below 1, got 1"),
    (LabelSpreading(True), TypeError, "alpha must be a number, got True"),
    (BeliefPropagation([[1, -1], [-1, 1]]), ValueError, "finite, nonnegative numbers"),
    (BeliefPropagation([[1, NAN], [NAN, 1]]), ValueError, "finite, nonnegative numbers"),
    (BeliefPropagation(np.ones((2, 3))), ValueError, rf"{SQUARE} \(2, 3\)"),
    (BeliefPropagation([["a"]]), ValueError, rf"{SQUARE} \(1, 1\)"),
    (BeliefPropagation([[1, 2], [3, 1]]), ValueError, "symmetric: edges have no direction"),
    (BeliefPropagation([[0, 0], [0, 1]]), ValueError, "a row of zeros"),
    (BeliefPropagation(EYE, labels=["a"]), ValueError, "2 rows but 1 labels name them"),
    (BeliefPropagation(EYE, labels=["a", "a"]), ValueError, "labels must be distinct labels"),
    (BeliefPropagation(homophily=0), ValueError, "homophily must be a finite number above 0, got 0"),
    (BeliefPropagation(damping=1.0), ValueError, r"damping must be at least 0 and below 1, got 1\.0"),
    (BeliefPropagation(damping="half"), TypeError, "damping must be a number, got 'half'"),
    (Convolution(), TypeError, "Convolution requires a GridDatabase, got a GraphDatabase"),
    (AnisotropicDiffusion(), TypeError, "AnisotropicDiffusion requires a GridDatabase"),
]
ON_GRIDS = [
    (Convolution(boundary="mirror"), "boundary must be one of 'renormalize', 'zero', 'wrap', 'reflect'"),
    (Convolution(clamp="always"), "clamp must be one of None, 'after', 'before'"),
    (Convolution(mirror="yes"), "mirror must be one of False, True"),
    (Convolution(np.ones((2, 2))), "odd lengths"),
    (AnisotropicDiffusion(contrast=0), "contrast must be a finite number above 0"),
    (AnisotropicDiffusion(rate=1.5), "rate must be between 0 and 1"),
    (Diffusion(), "stores pixels, not edges"),
    (Diffusion(direction="both"), "stores pixels, not edges"),
]
ATTRIBUTES = [
    ("mean", ValueError, "attributes must be None, 'sum', 'product', 'joint', "),
    (GaussianMixtures, ValueError, "attributes must be None"),
    (Diffusion(), ValueError, "attributes must be None"),
    (PropagatedAttributes(combine="mean"), ValueError, "combine must be 'sum', 'product' or 'joint'; got"),
    (GaussianMixtures(combine=None), ValueError, "combine must be 'sum', 'product' or 'joint'; got None"),
    (PropagatedAttributes(laziness=1), ValueError, "laziness must be at least 0 and below 1, got 1"),
    (PropagatedAttributes(laziness="half"), TypeError, "laziness must be a number, got 'half'"),
    (GaussianMixtures(n_sample_points=0), ValueError, "n_sample_points must be at least 1, got 0"),
    (GaussianMixtures(n_sample_points=1.5), TypeError, "n_sample_points must be a whole number, got 1.5"),
    (GaussianMixtures(scale="all"), ValueError, "scale must be one of None, 'initial'; got 'all'"),
    (GaussianMixtures(ridge=-1), ValueError, "ridge must be a finite number.*got -1"),
    (GaussianMixtures(ridge="1"), TypeError, "ridge must be a number, got '1'"),
    (GaussianMixtures(refit_every=0), ValueError, "refit_every must be at least 1, got 0"),
    (GaussianMixtures(laziness=1), ValueError, "laziness must be at least 0 and below 1, got 1"),
]
PRIORS = [
    ("flat", "prior must be one of 'uniform', 'frequency'; got 'flat'"),
    ([0.5, 0.25, 0.25], r"prior has shape \(3,\) but the training graphs have 2 labels"),
    ([[0.5, 0.5]], r"prior has shape \(1, 2\)"),
    (None, r"prior has shape \(\)"),
    ([1, -1], f"{WEIGHTS}; got"),
    ([1, np.inf], f"{WEIGHTS}; got"),
    ({0: "x"}, f"{WEIGHTS}; got"),
    ([0, 0], "prior weights are all zero"),
    ({}, "prior weights are all zero"),
    ({None: 1}, "prior must be distinct labels"),
    ([1e-320, 1e-320], "prior weights add up to .*multiply them by a constant"),
]
EDGE_LABELS = [
    (PLAIN, {}, "no edge labels"),
    (GRIDS, {}, "no edge labels"),
    (GRAPHS, {"metric": "hellinger"}, "tv, l1 or l2"),
    (GRAPHS, {"propagation": BeliefPropagation()}, "affine"),
    (GRAPHS, {"propagation": AlongNoEdges()}, "affine"),
    (GRAPHS, {"propagation": AlongSomeEdges()}, "along the edges of the graphs"),
]
CASES = [
    *[(GRAPHS, {"propagation": scheme}, kind, words) for scheme, kind, words in SCHEMES],
    *[(GRIDS, {"propagation": scheme}, ValueError, words) for scheme, words in ON_GRIDS],
    *[(GRAPHS, {"attributes": given}, kind, words) for given, kind, words in ATTRIBUTES],
    *[(GRAPHS, {"prior": prior}, ValueError, words) for prior, words in PRIORS],
    *[(g, {"edge_labels": True} | given, ValueError, words) for g, given, words in EDGE_LABELS],
    (GRAPHS, {"edge_labels": "yes"}, TypeError, "edge_labels must be True or False, got 'yes'"),
    (PLAIN, {"attributes": "sum"}, ValueError, "but the graphs have no node attributes: use with_attributes"),
    (GRIDS, {"attributes": "sum"}, ValueError, r"use GridDatabase\(images, attributes="),
    (GAPS, {"attributes": GaussianMixtures()}, ValueError, "every node has a missing attribute"),
]


@pytest.mark.parametrize(("graphs", "parameters", "kind", "words"), CASES)
def test_bad_parameters_leave_a_fitted_kernel_as_it_was(graphs, parameters, kind, words):
    kernel = pk.PropagationKernel(t_max=2, random_state=0).fit(GRAPHS)
    state = {name: value for name, value in vars(kernel).items() if name.endswith("_")}
    with pytest.raises(kind, match=words) as error:
        kernel.set_params(**parameters).fit(graphs)
    assert "\n" not in str(error.value)
    assert all(vars(kernel)[name] is value for name, value in state.items())


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"tolerance": 0}, ValueError, "tolerance must be a finite number above 0, got 0"),
        ({"tolerance": "tiny"}, TypeError, "tolerance must be a number, got 'tiny'"),
        ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
        ({"propagation": "magic"}, ValueError, "propagation must be one of .*; got 'magic'"),
        ({"propagation": LabelSpreading(2)}, ValueError, "alpha must be at least 0 and below 1, got 2"),
        ({"prior": [1, 2, 3]}, ValueError, "the training graphs have 2 labels"),
    ],
)
def test_bad_parameters_leave_a_fitted_imputer_as_it_was(parameters, kind, words):
    imputer = LabelImputer().fit(GRAPHS)
    before = imputer.transform(GRAPHS)
    imputer.set_params(**parameters)
    with pytest.raises(kind, match=words):
        imputer.fit(GRAPHS[::-1])
    assert imputer.set_params(**LabelImputer().get_params()).transform(GRAPHS) == before


def test_nothing_to_fill_in_with():
    for graphs in (zoo()["unobserved labels"], zoo()["no labels"]):
        with pytest.raises(ValueError, match=r"^no node label is observed in the graphs: give at least one"):
            LabelImputer().fit(graphs)
    with pytest.raises(NotFittedError):
        LabelImputer().transform(GRAPHS)


def test_attributes_of_another_dimension():
    fitted = Standardizer.learn(PLAIN.with_attributes([[0.0, 1.0], [2.0, 3.0]]), True)
    with pytest.raises(ValueError, match="have 1 attribute dimension, but the kernel was fitted to 2"):
        fitted(PLAIN.with_attributes([1.0, 2.0]))
    with pytest.raises(ValueError, match="have no node attributes"):
        required_attributes(PLAIN.with_attributes(np.empty((2, 0))))
