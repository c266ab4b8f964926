from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation.attributes.base import FixedAttributes, resolve_attributes
from tests.zoo import one, path_edges


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_a_name_is_the_attributes_as_they_are(combine):
    treatment = resolve_attributes(combine)
    assert isinstance(treatment, FixedAttributes)
    assert treatment.combine == combine


def test_fixed_attributes_are_the_same_at_every_t():
    graphs = one(3, path_edges(3))
    attributes = np.array([[1.0], [np.nan], [2.0]])
    learned = FixedAttributes().learn(graphs, attributes, 3, "follow", 0)
    assert all(matrix is attributes for matrix in islice(learned.matrices(graphs, attributes), 5))


@pytest.mark.parametrize("treatment", [pk.PropagatedAttributes(), pk.GaussianMixtures(combine="joint")])
def test_an_object_is_taken_as_it_is(treatment):
    assert resolve_attributes(treatment) is treatment


@pytest.mark.parametrize(
    "wrong", ["mean", "", 5, 0, True, object(), pk.GaussianMixtures, pk.Diffusion(), ["sum"]]
)
def test_anything_else_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^attributes must be None, 'sum', 'product', 'joint', "):
        resolve_attributes(wrong)


@pytest.mark.parametrize("wrong", ["mean", None, 1, ["sum"]])
@pytest.mark.parametrize("treatment", [pk.PropagatedAttributes, pk.GaussianMixtures])
def test_an_unknown_combination_is_refused(treatment, wrong):
    with pytest.raises(ValueError, match=r"^combine must be 'sum', 'product' or 'joint'; got "):
        resolve_attributes(treatment(combine=wrong))
