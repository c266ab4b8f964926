"""Digests of kernel matrices."""

import propkernels as pk
from benchmarks import same_bits


def test_cases_that_differ_or_are_missing():
    found = [{"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "0"}]
    assert same_bits.compare(found) == (["a"], ["b", "c"])


def test_every_public_kernel_is_tried():
    tried = {kind for kind, _, _ in same_bits.kernels()}
    kernels = {name for name in pk.__all__ if hasattr(getattr(pk, name), "fit_transform")}
    of_nodes = {"CoincidingWalkKernel", "NodeFeatures"}
    assert kernels - tried <= {"LabelImputer", "MoleculesToGraphs"} | of_nodes


def test_a_digest_depends_on_matrices_alone():
    graphs = pk.datasets.make_molecules(8, random_state=0).graphs
    one, same, other = (pk.PropagationKernel(t_max=t, random_state=0) for t in (2, 2, 3))
    assert same_bits._digest(one, graphs, graphs) == same_bits._digest(same, graphs, graphs)
    assert same_bits._digest(one, graphs, graphs) != same_bits._digest(other, graphs, graphs)
    assert same_bits._digest(pk.AttributeKernel(), graphs, graphs) == "ValueError"
