"""Offsets, sizes and indices that wrap, are negative, huge, unsorted or short: a database, or one line."""

import inspect
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import propkernels as pk
from tests.convert.test_lying_inputs import refusal

MOST = 2**63 - 1
OFFSETS = [
    [0, MOST, -2, 6],
    [0, 2**62, -(2**62), 6],
    [0, -1, 3, 6],
    [-6, 0, 3, 6],
    [0, 2, 4, 2**62],
    [0, 4, 2, 6],
    [0, 3],
    [],
    [0, 2, 4, 99],
    [6],
]
SIZES = [(MOST, MOST, 5), (2**62, 2**62, 2), (-1, 3, 4), (2**40, 1, 1), (-(2**63), MOST, 7), (0, -6, 12)]
INDICES = [MOST, -(2**63), -1, 2**62, 2**32, 2**31, 6, 99]
EDGES = np.array([[0, 1, 2, 3, 4, 5], [1, 0, 3, 2, 5, 4]])


def batch(**fields):
    """Three graphs of two nodes each, as PyG puts them together."""
    good = {"edge_index": EDGES, "num_nodes": 6, "ptr": np.array([0, 2, 4, 6]), "x": np.eye(6)}
    return SimpleNamespace(**(good | {"batch": np.repeat(np.arange(3), 2)} | fields))


def wrong_pyg():
    for offsets in OFFSETS:
        for x in (np.eye(6), None):
            yield (batch(ptr=np.array(offsets, dtype=np.int64), x=x),), {}
            yield (batch(ptr=np.array(offsets, dtype=np.int64), x=x, num_nodes=None),), {}
        yield (batch(ptr=np.array(offsets).astype(np.uint64)),), {}
        yield (batch(ptr=np.array(offsets, dtype=np.float64)),), {}
    for sizes in SIZES:
        empty = np.empty((2, 0), dtype=np.int64)
        yield ([SimpleNamespace(edge_index=empty, num_nodes=size) for size in sizes],), {}
        yield (batch(num_nodes=sizes[0]),), {}
        yield (batch(num_nodes=sizes[0], x=None),), {}
    for number in INDICES:
        ends = EDGES.copy()
        ends[1, 2] = number
        yield (batch(edge_index=ends),), {}
        yield ([SimpleNamespace(edge_index=ends, num_nodes=6)],), {}
        yield ([SimpleNamespace(edge_index=ends)],), {}


def wrong_matrices():
    good = sparse.csr_array((np.ones(6), (EDGES[0], EDGES[1])), shape=(6, 6))
    for offsets in [*OFFSETS, [0, 1, MOST, -5, 4, 5, 6], [0, 1, 2, 3, 4, 5, 2**40]]:
        wrong = good.copy()
        wrong.indptr = np.array(offsets, dtype=np.int64)
        yield wrong
    for number in INDICES:
        wrong = good.astype(np.float64)
        wrong.indices = wrong.indices.astype(np.int64)
        wrong.indices[2] = number
        yield wrong
        pairs = sparse.coo_array(good)
        pairs.coords = (pairs.coords[0].astype(np.int64), pairs.coords[1].astype(np.int64))
        pairs.coords[1][3] = number
        yield pairs


def wrong_adjacency():
    return [(([matrix],), {}) for matrix in wrong_matrices()]


def wrong_edges():
    for number in (*INDICES, 10**30, float("nan")):
        yield ([[(0, number), (number, 1, number)]],), {}
        yield (np.array([[0, 1], [1, min(number, MOST)]], dtype=object),), {"directed": True}


def wrong_networkx():
    networkx = pytest.importorskip("networkx")
    for number in INDICES:
        graph = networkx.path_graph(3)
        graph._adj[0] = {number: {}}
        yield ([graph],), {}
        yield ([networkx.relabel_nodes(networkx.path_graph(3), {1: number})],), {}
    for sizes in SIZES:
        graph = networkx.path_graph(3)
        graph.number_of_nodes = graph.number_of_edges = graph.size = lambda sizes=sizes: sizes[0]
        yield ([graph],), {}


def wrong_pandas():
    pandas = pytest.importorskip("pandas")
    good = {"graph": [0, 0, 1], "source": [0, 1, 0], "target": [1, 2, 1]}
    for number in INDICES:
        for name in good:
            column = [good[name][0], number, good[name][2]]
            yield (pandas.DataFrame(good | {name: column}),), {}
            yield (pandas.DataFrame(good | {name: np.array(column).astype(np.float64)}),), {}


def wrong_contacts():
    pandas = pytest.importorskip("pandas")
    good = {"graph": [0, 0, 1], "source": [0, 1, 0], "target": [1, 2, 1], "time": [0, 1, 2]}
    for number in INDICES:
        for name in good:
            yield (pandas.DataFrame(good | {name: [good[name][0], number, good[name][2]]}),), {}
        yield (pandas.DataFrame(good | {"span": [1, number, MOST]}),), {"duration": "span"}
        yield (pandas.DataFrame(good | {"span": [1, number, MOST]}),), {"delay": "span"}


def wrong_points():
    for number in INDICES:
        yield ([np.eye(3)], number), {}
        yield ([np.full((3, 2), float(number))],), {}
    yield ([np.empty((0, 2**40))],), {}


def wrong_smiles():
    for number in INDICES:
        yield ([f"[C:{number}]C", f"[{number}C]", f"C%({number})CC%({number})"],), {"ids": [number] * 3}


def wrong_rdkit():
    chem = pytest.importorskip("rdkit.Chem")

    class Liar(chem.Mol):
        told = 0

        def GetNumAtoms(self, *arguments, **options):
            return self.told

        GetNumBonds = GetNumAtoms

    for number in INDICES:
        mol = Liar(chem.MolFromSmiles("CCO"))
        mol.told = number
        yield ([mol],), {}


ADAPTERS = sorted(name for name in dir(pk) if name.startswith("from_"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ADAPTERS)
def test_wrong_numbers_give_a_valid_database_or_one_line(name):
    """Every adapter of the package is found; one without wrong numbers of its inputs here fails."""
    adapter, n_cases = getattr(pk, name), 0
    for arguments, options in globals()[f"wrong_{name.removeprefix('from_')}"]():
        for errors in ("raise", "skip") if "errors" in inspect.signature(adapter).parameters else ("raise",):
            n_cases += 1
            error = refusal(adapter, arguments, options | {"errors": errors}, check)
            assert re.fullmatch(".{0,500}", "" if error is None else str(error)), (arguments, options)
    assert n_cases >= 12


def check(graphs):
    """Offsets and indices of a database lie where they should, counted in Python's integers."""
    ptr, rows = graphs.graph_ptr.tolist(), graphs.adjacency.indptr.tolist()
    assert ptr[0] == 0
    assert ptr[-1] == graphs.n_nodes == graphs.adjacency.shape[0]
    assert ptr == sorted(ptr)
    assert rows == sorted(rows)
    assert rows[-1] == len(graphs.adjacency.indices)
    assert all(0 <= place < graphs.n_nodes for place in graphs.adjacency.indices.tolist())
