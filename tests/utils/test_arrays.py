"""Offsets, index types and ranges; damaged sparse matrices; how much memory there is."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels._utils import arrays
from propkernels._utils.arrays import check_sparse, offsets
from tests.strategies import permute_nodes
from tests.zoo import labelled_zoo

lengths = st.lists(st.integers(0, 50), max_size=20)


@given(lengths, st.sampled_from([np.int8, np.int32, np.int64, np.uint64, bool]))
def test_offsets(values, dtype):
    array = np.array(values, dtype=dtype)
    computed = offsets(array)
    assert computed.dtype == np.int64
    assert computed.tolist() == [sum(array[:i].tolist()) for i in range(len(values) + 1)]
    assert offsets(values).tolist() == [sum(values[:i]) for i in range(len(values) + 1)]


INT = np.int32


def changed(matrix, **arrays):
    """A matrix with some of its arrays replaced, behind scipy's back."""
    for name, array in arrays.items():
        setattr(matrix, name, np.array(array, dtype=INT) if isinstance(array, list) else array)
    return matrix


def csr(kind=sp.csr_matrix, **arrays):
    """The matrix of a ring of three, with other arrays."""
    return changed(kind(np.roll(np.eye(3), 1, axis=1)), **arrays)


def bsr(**arrays):
    return changed(sp.bsr_matrix(np.ones((4, 4)), blocksize=(2, 2)), **arrays)


def coo(rows, columns):
    matrix = sp.coo_matrix((np.ones(3), ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    return changed(matrix, coords=(np.array(rows, dtype=INT), np.array(columns, dtype=INT)))


def lil(row, value):
    matrix = sp.lil_matrix(np.eye(3))
    matrix.rows[1], matrix.data[1] = row, value
    return matrix


def dok(key):
    matrix = sp.dok_matrix((3, 3))
    matrix._dict[key] = 1.0
    return matrix


BROKEN = {
    "csr column too large": lambda: csr(indices=[1, 5, 0]),
    "csr column far outside": lambda: csr(indices=[1, 2_000_000_000, 0]),
    "csr column negative": lambda: csr(indices=[1, -1, 0]),
    "csr_array column": lambda: csr(sp.csr_array, indices=[1, 3, 0]),
    "csr offsets fall": lambda: csr(indptr=[0, 3, 1, 3]),
    "csr offsets beyond": lambda: csr(indptr=[0, 1, 2, 9]),
    "csr offsets negative": lambda: csr(indptr=[-4, 1, 2, 3]),
    "csr offsets short": lambda: csr(indptr=[0, 1]),
    "csr offsets float": lambda: csr(indptr=np.array([0.0, 1, 2, 3])),
    "csr data short": lambda: csr(data=np.ones(1)),
    "csr float indices": lambda: csr(indices=np.array([0.0, 1, np.nan])),
    "csc row too large": lambda: csr(sp.csc_matrix, indices=[1, 7, 0]),
    "csc row negative": lambda: csr(sp.csc_array, indices=[1, -3, 0]),
    "bsr block outside": lambda: bsr(indices=[0, 9, 0, 1]),
    "bsr block outside in 32 bits inside": lambda: bsr(indices=np.array([0, 2**32, 0, 1])),
    "bsr offsets": lambda: bsr(indptr=[0, 2, 400]),
    "coo row outside": lambda: coo([0, 1, 3], [1, 2, 0]),
    "coo column outside": lambda: coo([0, 1, 2], [1, 10**9, 0]),
    "coo negative": lambda: coo([0, -1, 2], [1, 2, 0]),
    "coo short": lambda: coo([0, 1], [1, 2]),
    "dia offsets": lambda: changed(sp.dia_matrix(np.eye(3)), offsets=[0, 1, 2]),
    "lil column": lambda: lil([0, 8], [1.0, 1.0]),
    "lil negative": lambda: lil([-2], [1.0]),
    "lil lengths": lambda: lil([0, 1, 2], [1.0]),
    "dok key": lambda: dok((1, 12)),
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("form", ["check", "bare", "tuple", "database", "attributes", "distributions"])
def test_every_way_in_has_the_door(fault, form):
    matrix = BROKEN[fault]()
    n = matrix.shape[0]
    ring = sp.csr_array(np.roll(np.eye(n), 1, axis=1))
    ways = {
        "check": lambda: check_sparse(matrix, "adjacency"),
        "bare": lambda: pk.check_graphs([ring, matrix]),
        "tuple": lambda: pk.check_graphs([(matrix, list(range(n)))]),
        "database": lambda: pk.GraphDatabase(matrix, [0, n]),
        "attributes": lambda: pk.check_graphs([(ring, None, matrix)]),
        "distributions": lambda: pk.GraphDatabase(ring, [0, n], node_labels=matrix),
    }
    with pytest.raises(ValueError, match=r"damaged: [^\n]*$"):
        ways[form]()


def test_spare_room_behind_the_last_entry_is_not_looked_at():
    matrix = sp.csr_matrix(np.eye(3))
    matrix.data, matrix.indices = np.append(matrix.data, 7.0), np.append(matrix.indices, INT(99))
    assert pk.check_graphs([matrix]).adjacency.nnz == 3


def arrays_of(graphs):
    yield from (graphs.adjacency.data, graphs.adjacency.indices, graphs.adjacency.indptr, graphs.graph_ptr)
    yield from (graphs.degrees, graphs.graph_ids, graphs.label_column.ids, graphs.node_attributes)


def attributed(graphs):
    return graphs.with_attributes(np.arange(graphs.n_nodes, dtype=float))


COPIES = {
    "itself": lambda graphs: graphs,
    "slice": lambda graphs: graphs[1:4],
    "mask": lambda graphs: graphs[[3, 1]],
    "join": lambda graphs: pk.GraphDatabase.concat([graphs, graphs]),
    "pickle": lambda graphs: pickle.loads(pickle.dumps(graphs)),
    "deep copy": copy.deepcopy,
    "tuples": lambda graphs: pk.check_graphs(
        [(g.adjacency, g.node_labels, g.node_attributes) for g in graphs[:3]]
    ),
    "permuted": lambda graphs: permute_nodes(graphs, np.random.default_rng(0)),
}


@pytest.mark.parametrize("way", COPIES)
def test_the_arrays_of_a_database_are_read_only(way):
    for array in arrays_of(COPIES[way](attributed(labelled_zoo()))):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_arrays_of_grids_are_read_only():
    mask = np.array([[True, False], [True, True]])
    grids = pk.GridDatabase([np.zeros((2, 2), dtype=int)] * 2, [mask, None])
    for grid in (grids, pickle.loads(pickle.dumps(grids)), grids[1:], grids[:1]):
        for array in (grid.shapes, grid.graph_ptr, grid.pixel_ptr, grid.label_column.ids):
            assert not array.flags.writeable
    assert not grids.inside.flags.writeable
    assert mask.flags.writeable


def test_label_distributions_are_read_only():
    known = np.array([True, True])
    labels = pk.LabelDistributions(np.array([[0.5, 0.5], [1.0, 0.0]]), known=known)
    for same in (labels, pickle.loads(pickle.dumps(labels))):
        for array in (same.probabilities.data, same.probabilities.indices, same.known, same.observed):
            assert not array.flags.writeable
    assert known.flags.writeable


def test_what_the_caller_gave_stays_writeable():
    adjacency = sp.csr_matrix(np.ones((3, 3)))
    labels, attributes, ptr = np.arange(3), np.ones((3, 2)), np.array([0, 3])
    pk.GraphDatabase(adjacency, ptr, labels, attributes)
    pk.check_graphs([(adjacency, labels, attributes)])
    given = (adjacency.data, adjacency.indices, adjacency.indptr, labels, attributes, ptr)
    assert all(array.flags.writeable for array in given)
    adjacency.data[:] = 5


# memory


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_the_innermost_limit_and_those_around_it(tmp_path):
    root = tmp_path / "cgroup"
    write(root / "a", memory__max="max\n", memory__current="7\n")
    write(
        root / "a/b", memory__max="1000\n", memory__current="400\n", memory__stat="anon 1\ninactive_file 50\n"
    )
    processes = tmp_path / "self"
    processes.write_text("0::/a/b\n")
    assert list(arrays._control_groups(processes, root)) == [650]
    (root / "a/memory.max").write_text("500\n")
    assert sorted(arrays._control_groups(processes, root)) == [493, 650]


LIMITED = """
import resource, sys
import numpy as np
from propkernels._utils.arrays import available_memory, check_room
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))
assert 2**28 < available_memory() <= 2**29, available_memory()
try:
    check_room(10_000, 10_000)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux only")
def test_the_limit_of_the_process_counts():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False)
    assert "10000 x 10000 needs 800.0 MB of memory" in done.stdout, done.stderr
