"""Digests of kernel matrices, predictions and explanations."""

import pytest

import propkernels as pk
from benchmarks import same_bits
from tests.test_contract_discovery import NOT_UNDER_CONTRACT


def test_cases_that_differ_or_are_missing():
    found = [{"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "0"}]
    assert same_bits.compare(found) == (["a"], ["b", "c"])


def test_names_are_found_wherever_they_are_and_missing_ones_are_an_error():
    assert same_bits.find("Diffusion") is pk.propagation.Diffusion
    assert same_bits.find("GraphHopper") is pk.kernels.GraphHopper
    with pytest.raises(LookupError, match="no public name Nothing"):
        same_bits.find("Nothing")


def test_every_public_kernel_is_tried():
    kernels = {
        name
        for module in (pk, pk.kernels, pk.nodes)
        for name in module.__all__
        if hasattr(getattr(module, name), "fit_transform")
    }
    assert kernels - set(same_bits.KERNELS) - {"SumKernel", "LabelImputer"} <= set(NOT_UNDER_CONTRACT)


def test_a_digest_depends_on_arrays_alone():
    graphs = pk.datasets.make_molecules(8, random_state=0).graphs
    one, same, other = (
        same_bits.digest(pk.PropagationKernel(t_max=t, random_state=0).fit_transform(graphs))
        for t in (2, 2, 3)
    )
    assert one == same != other
