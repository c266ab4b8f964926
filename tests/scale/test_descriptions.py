"""Descriptions of values: the same in every process, and other ones for other values."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import Diffusion, LabelPropagation
from propkernels.propagation.initial import Prior
from propkernels.scale.pure import described, digest_of

VALUE = {
    "scheme": Diffusion(laziness=0.5),
    "prior": Prior(("C", "N"), np.array([0.25, 0.75])),
    "list": [1, 2.5, None, True],
}


def test_digests_are_the_same_on_every_machine():
    """Pinned: folders of features that were written before must be recognized."""
    assert digest_of(VALUE, "x") == "27842ab0ab1e8a76874f4cca54e1205f2df37273d4610bb38c0df38b4186bdc6"
    graphs = pk.datasets.make_molecules(6, random_state=0).graphs
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0).fit(graphs)
    known = "b04b4b134569156a95520440358eb6aa13deb8354049b0f1e3a281ba025443ba"
    assert digest_of(features._coder, "_coder") == known


def test_other_values_have_other_descriptions():
    values = [1, 1.5, "1", None, [1], [[1]], {"a": 1}, np.ones(1), np.ones((1, 1)), np.ones(1, dtype=int)]
    values += [Diffusion(), Diffusion(laziness=0.5), LabelPropagation()]
    assert len({repr(described(value, "x")) for value in values}) == len(values)


@pytest.mark.parametrize(
    "value", [len, object(), float("nan"), {1}, np.array([None])], ids=lambda v: type(v).__name__
)
def test_values_that_cannot_be_told_apart_are_refused(value):
    with pytest.raises(
        TypeError, match=r"x=.* cannot be written down, so results could not be distinguished"
    ):
        described(value, "x")
