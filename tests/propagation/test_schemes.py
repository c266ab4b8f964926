"""The protocol: schemes by name, schemes of the user's own, and the contract that all of them satisfy."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils.randomness import label_keys
from propkernels.codes.codes import LocalitySensitiveHash, label_codes, stream_numbers
from propkernels.propagation import (
    AbsorbingWalk,
    BeliefPropagation,
    Diffusion,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
    PropagationScheme,
)
from propkernels.propagation.initial import initial_distributions, label_column, learn_prior
from propkernels.propagation.schemes import resolve_scheme
from tests import naive
from tests.propagation import dense
from tests.propagation.test_twins import TWINS
from tests.zoo import labelled_zoo, one, path_edges

NAMES = {
    "diffusion": Diffusion(),
    "lazy_diffusion": Diffusion(laziness=0.5),
    "label_propagation": LabelPropagation(),
    "absorbing_walk": AbsorbingWalk(),
    "partial_absorption": PartialAbsorption(),
    "label_spreading": LabelSpreading(),
    "belief_propagation": BeliefPropagation(),
}
OTHERS = {
    "clamp before": LabelPropagation("before"),
    "absorbing labels": AbsorbingWalk({0, 2}),
    "absorption by degree": PartialAbsorption(rate=1.5),
    "spreading both ways": LabelSpreading(0.5, direction="both"),
    "damped beliefs": BeliefPropagation([[3, 1], [1, 2]], damping=0.5),
    "reverse walk": Diffusion(direction="reverse"),
}
SCHEMES = {**NAMES, **OTHERS}
every_scheme = pytest.mark.parametrize("name", SCHEMES)
every_metric = pytest.mark.parametrize("metric", ["tv", "hellinger"])


# the engine


@pytest.mark.slow
@every_metric
@pytest.mark.parametrize("n_hashes", [1, 2])
@pytest.mark.parametrize("name", [name for name in TWINS if "reverse" not in name])
def test_codes_are_those_of_the_dense_distributions(name, n_hashes, metric):
    """Projected first or not, compiled or not: codes are floor((P_t v + b) / w) of the formula's P_t."""
    graphs = dense.moderate_zoo() if "none" in name else dense.partial_zoo()  # 2^36 ends whole codes
    start = dense.start(graphs)
    lsh, streams = LocalitySensitiveHash(metric, 1e-3, 5), stream_numbers(3, n_hashes)
    vectors, offsets = lsh.vectors(label_keys(start.values), streams), lsh.offsets(streams)
    column = label_column(graphs, "node")
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    scheme, step = TWINS[name]
    computed = label_codes(graphs, scheme, initial, lsh, 3, n_hashes)
    history = dense.dense_history(step(start, graphs), start.distributions, 3)
    for s, t in enumerate(computed.iterations):
        reference = naive.calculate_lsh(history[t], vectors[:, s], offsets[s], 1.0, metric)
        assert np.array_equal(computed.codes[s], reference)


@every_scheme
def test_projecting_first_changes_nothing(name, monkeypatch):
    """The same scheme, once known to be affine and once not, graph by graph."""
    monkeypatch.setattr("propkernels.codes.codes.VALUES_IN_MEMORY", 1)

    class Plain(PropagationScheme):
        affine = False

        def prepare(self, graphs, initial):
            return SCHEMES[name].prepare(graphs, initial)

        def step(self, prepared, current, initial):
            return SCHEMES[name].step(prepared, current, initial)

    reference, computed = (
        pk.PropagationKernel(propagation=scheme, t_max=4, random_state=2).fit_transform(dense.partial_zoo())
        for scheme in (Plain(), SCHEMES[name])
    )
    assert np.array_equal(computed, reference)


# by name or object


@pytest.mark.parametrize("name", NAMES)
def test_names_stand_for_objects(name):
    for cls in (pk.PropagationKernel, pk.PropagationFeatures):
        outputs = [
            cls(propagation=propagation, random_state=0, t_max=3).fit_transform(dense.partial_zoo())
            for propagation in (name, NAMES[name])
        ]
        assert abs(outputs[0] - outputs[1]).sum() == 0


# schemes of the user's own


class DuckDiffusion:
    """Diffusion, without subclassing anything and without saying that it is affine."""

    def prepare(self, graphs, initial):
        return pk.propagation.transition_matrix(graphs)

    def step(self, prepared, current, initial):
        return prepared @ current


class AffineDuck(DuckDiffusion):
    affine = True


@every_metric
@pytest.mark.parametrize("duck", [DuckDiffusion, AffineDuck])
def test_a_scheme_needs_no_base_class(duck, metric):
    parameters = {"t_max": 4, "random_state": 0, "metric": metric}
    pk.propagation.check_scheme(duck())
    reference = pk.PropagationKernel(propagation="diffusion", **parameters).fit_transform(labelled_zoo())
    computed = pk.PropagationKernel(propagation=duck(), **parameters).fit_transform(labelled_zoo())
    assert np.array_equal(computed, reference)
    assert resolve_scheme(duck()).affine == hasattr(duck, "affine")
    assert hasattr(duck(), "affine") == hasattr(duck, "affine")


@every_metric
@pytest.mark.parametrize(
    ("function", "scheme"),
    [(lambda P, T: T @ P, Diffusion()), (lambda P, T: (P + T @ P) / 2, Diffusion(laziness=0.5))],
)
def test_a_function_is_a_scheme(function, scheme, metric):
    parameters = {"t_max": 4, "random_state": 0, "metric": metric}
    graphs = dense.moderate_zoo()
    computed = pk.PropagationKernel(propagation=function, **parameters).fit(graphs)
    reference = pk.PropagationKernel(propagation=scheme, **parameters).fit(graphs)
    assert np.array_equal(computed.transform(graphs), reference.transform(graphs))


def test_prepare_is_told_labels_and_what_was_observed():
    seen = {}

    class Curious(DuckDiffusion):
        def prepare(self, graphs, initial):
            seen["initial"] = initial
            return super().prepare(graphs, initial)

    graphs = one(3, path_edges(3), ["a", None, "b"])
    pk.PropagationKernel(propagation=Curious(), random_state=0).fit(graphs)
    initial = seen["initial"]
    assert sorted(initial.values) == ["a", "b"]
    assert initial.observed.tolist() == [True, False, True]
    assert initial.to_dense()[1].tolist() == [0.5, 0.5]


# the contract


class NotAffine(AffineDuck):
    def step(self, prepared, current, initial):
        following = prepared @ current
        return following + 1e-6 * following**2
