"""What all converters share: missing packages, inputs that are no collections."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.build import Faults, FlatGraphs, build


@pytest.mark.parametrize("name", [name for name in dir(pk) if name.startswith("from_")])
@pytest.mark.parametrize("what", [5.0, None, np.float64(3)])
def test_what_is_not_a_collection_is_refused_in_one_sentence(name, what):
    with pytest.raises((TypeError, ImportError), match=r"^(expected|edges must|.* must be|.* needs)"):
        getattr(pk, name)(what)


def test_no_points():
    assert len(pk.from_points([])) == 0


def test_the_first_fault_is_raised_with_the_graph_named():
    faults = Faults("raise", 3, None, first=10)
    with pytest.raises(ValueError, match=r"^graph 12 cannot be read \(.*why.*\)$"), faults.reading(2):
        raise KeyError("why")
    with pytest.raises(TypeError, match=r"^graph 'b': is strange$"):
        Faults("raise", 2, ["a", "b"]).add(1, "is strange", TypeError)
    with pytest.raises(MemoryError), faults.reading(0):
        raise MemoryError


def test_faulty_graphs_are_left_out_on_request():
    faults = Faults("skip", 3, ["a", "b", "c"])
    faults.add(1, "is strange")
    ends = np.array([0, 0, 0]), np.array([1, 1, 1])
    flat = FlatGraphs(np.full(3, 2), np.ones(3, dtype=np.int64), *ends, True)
    with pytest.warns(UserWarning, match="skipped 1 of 3 graphs"):
        graphs = build(flat, faults)
    assert graphs.ids.tolist() == ["a", "c"]
    assert graphs.graph_sizes.tolist() == [2, 2]
