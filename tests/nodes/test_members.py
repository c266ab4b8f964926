"""Members: machines in mapped coordinates, folded back onto columns or landmarks."""

from dataclasses import replace

import numpy as np
import pytest

from propkernels.models.least_squares import Linear
from propkernels.nodes.members import LinearMember, NodeRule, RadialMember, Scaling, ViewMap, radial
from propkernels.nodes.views import Block, View
from propkernels.storage.classes import check_object

RNG = np.random.default_rng(0)
BLOCKS = (Block("attributes"), Block("structure"))


def decided(member, parts):
    """Decisions of a member about features, block by block."""
    if isinstance(member, RadialMember):
        return radial(member.scaling.apply(parts), member.landmarks, member.gamma) @ member.weights
    return sum(part @ w for part, w in zip(parts, member.weights, strict=True))


def features(n, widths=(3, 2)):
    return [RNG.normal(size=(n, width)) for width in widths]


def machine_of(width, decisions=2):
    return Linear(RNG.normal(size=(width, decisions)), RNG.normal(size=decisions))


def test_scaled_rows_have_the_mean_square_norm_one():
    parts = features(40)
    rows = Scaling.learn(parts, BLOCKS).apply(parts)
    assert np.mean((rows**2).sum(axis=1)) == pytest.approx(1.0)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)


def test_constant_columns_count_nothing():
    parts = [np.column_stack([np.full(10, 3.0), RNG.normal(size=10)])]
    rows = Scaling.learn(parts, BLOCKS[:1]).apply(parts)
    assert (rows[:, 0] == 0).all()


@pytest.mark.parametrize(("n", "gamma"), [(40, 0.0), (4, 0.0), (20, 1.5)])  # 4: fewer nodes than columns
def test_a_member_decides_as_its_machine(n, gamma):
    parts, others = features(n), features(6)
    view_map = ViewMap(View(BLOCKS, gamma), parts, 0)
    machine = machine_of(view_map.known.shape[1])
    member, intercepts = view_map.member(machine)
    assert isinstance(member, RadialMember if gamma else LinearMember)
    expected = machine.decisions(view_map.rows(others))
    np.testing.assert_allclose(decided(member, others) + intercepts, expected, atol=1e-9)
    np.testing.assert_allclose(decided(member.scaled(0.5), others) + intercepts / 2, expected / 2, atol=1e-9)


def test_coordinates_of_a_radial_view_have_its_dot_products():
    parts = features(20)
    view_map = ViewMap(View(BLOCKS, gamma=0.7), parts, 0)
    rows = view_map.scaling.apply(parts)
    np.testing.assert_allclose(view_map.known @ view_map.known.T, radial(rows, rows, 0.7), atol=1e-6)


def test_units_are_positive():
    Scaling(np.zeros(2), np.array([1.0, np.inf]))._check_parts()
    for wrong in (0.0, -1.0, np.nan, 1e-300):
        with pytest.raises(ValueError, match="units are positive"):
            Scaling(np.zeros(2), np.array([1.0, wrong]))._check_parts()


def test_members_with_constant_columns_can_be_saved(tmp_path):
    parts = [np.column_stack([np.full(10, 3.0), RNG.normal(size=(10, 2))]), RNG.normal(size=(10, 4))]
    view_map = ViewMap(View(BLOCKS, gamma=1.5), parts, 0)
    member, _ = view_map.member(machine_of(view_map.known.shape[1]))
    assert np.isinf(member.scaling.unit[0])
    check_object(member.scaling)
    check_object(member)


def test_widths_are_those_of_the_blocks():
    linear = LinearMember(BLOCKS, (np.zeros((3, 2)), np.zeros((4, 2))))
    linear.check_widths([3, 4])
    scaling = Scaling(np.zeros(7), np.ones(7))
    radial_member = RadialMember(BLOCKS, scaling, np.zeros((5, 7)), 1.0, np.zeros((5, 2)))
    radial_member.check_widths([3, 4])
    for member in (linear, radial_member):
        with pytest.raises(ValueError, match="blocks have other columns"):
            member.check_widths([3, 5])
    for wrong, word in (
        (replace(radial_member, landmarks=np.zeros(5)), "landmarks"),
        (replace(linear, weights=()), "weights"),
    ):
        with pytest.raises(ValueError, match=f"{word} do not fit"):
            wrong._check_parts()


def test_members_of_a_rule_have_its_decisions():
    linear = LinearMember(BLOCKS, (np.zeros((3, 2)), np.zeros((4, 2))))
    NodeRule([linear], np.zeros(2))._check_parts()
    for wrong, word in (([], "needs members"), ([linear], "other decisions")):
        with pytest.raises(ValueError, match=word):
            NodeRule(wrong, np.zeros(3))._check_parts()
