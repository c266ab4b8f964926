"""Contributions to decisions: a radial member is linear along a path."""

import numpy as np
import pytest

from propkernels.nodes.contributions import Tally, linear_along
from propkernels.nodes.members import RadialMember, Scaling
from propkernels.nodes.views import Block
from tests.nodes.test_members import decided


@pytest.mark.parametrize("gamma", [0.1, 5.0])
def test_the_linear_member_equals_the_radial_one_at_the_node(gamma):
    rng = np.random.default_rng(0)
    scaling = Scaling(rng.normal(size=5), rng.uniform(0.5, 2, size=5))
    blocks = (Block("attributes"), Block("structure"))
    weights, intercepts = rng.normal(size=(8, 2)), rng.normal(size=2)
    member = RadialMember(blocks, scaling, rng.normal(size=(8, 5)), gamma, weights, intercepts)
    parts, shares = [rng.normal(size=(1, 3)), rng.normal(size=(1, 2))], np.array([2.0, -1.0])
    linear = linear_along(member, parts, shares)
    assert decided(linear, parts).item() == pytest.approx((decided(member, parts) @ shares).item(), abs=1e-10)


def test_contributions_are_added_by_node_and_by_column():
    tally = Tally()
    tally.add("attributes", 1, np.array([2, 0]), np.array([1.0, 3.0]), np.array([4.0]), 3)
    tally.add("attributes", 1, np.array([2]), np.array([0.5]), np.array([0.5]), 3)
    assert tally.by_neighbor[1].tolist() == [3.0, 0.0, 1.5]
    assert tally.by_column["attributes", 1].tolist() == [4.5]
