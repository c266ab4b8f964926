"""Memory grows with size where it should be linear; allocations are counted, not timed."""

import pytest

from fuzz.costs import OPERATIONS, STEEPEST, Operation, bytes_of, exponent

SIZES = (100, 400)
NOT_TESTED = ("novelty", "SMILES of a chain")  # their lowest cost hides growth at these sizes


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.name not in NOT_TESTED], ids=lambda o: o.name
)
def test_memory_is_linear(operation):
    costs = [float(bytes_of(operation, size)) for size in SIZES]
    assert exponent(SIZES, costs) < STEEPEST


def test_a_square_is_found():
    square = Operation("square", lambda n: n, lambda n: bytearray(n * n))
    sizes = (1000, 4000)
    assert exponent(sizes, [float(bytes_of(square, size)) for size in sizes]) > 1.8
