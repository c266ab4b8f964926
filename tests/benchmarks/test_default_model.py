"""The default model beside one folded kernel."""

import time

import pytest

import propkernels as pk
from benchmarks import default_model


def test_the_smallest_of_several_rounds_counts():
    calls = []

    def once():
        calls.append(1)
        until = time.process_time() + (0.02 if len(calls) == 1 else 0.002)
        while time.process_time() < until:
            pass

    (found,) = default_model.milliseconds([once], rounds=3)
    assert len(calls) == 4
    assert 2 <= found < 20


@pytest.mark.slow
def test_ratios_and_times_are_positive():
    data = pk.datasets.make_molecules(30, random_state=0)
    found = default_model.measure(data.graphs, data.target, pk.PropagationKernel(), rounds=1)
    assert set(found) == {"predict", "explain", "single, ms", "members"}
    assert min(found.values()) > 0
    assert found["members"] >= 1


def test_kernels_to_compare_with_fold():
    assert default_model.folded_kernel("BZR").attributes == "sum"
    assert default_model.folded_kernel("MUTAG").base_kernel == "linear"
