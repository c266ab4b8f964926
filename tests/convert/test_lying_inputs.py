"""Objects that lie about shapes, types, numbers and offsets: a database, or one line that names the graph."""

import re
import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import propkernels as pk
from tests.fuzz.valid import check_database

pandas = pytest.importorskip("pandas")

EDGES = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
MATRIX = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


class Angry:
    """Raises an error of its own, whatever it is asked."""

    def refuse(self, *args, **options):
        raise LookupError("several\nlines\nof anger")

    __eq__ = __hash__ = __len__ = __iter__ = __float__ = __int__ = __index__ = __getitem__ = refuse
    __array__ = __bool__ = __lt__ = refuse
    __repr__ = object.__repr__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise LookupError("no such thing")


WRAPPING = [-1, 6, 99, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63)]
NUMBERS = [None, float("nan"), float("inf"), *WRAPPING, 2**63, 10**400, 1e200, 2.7, True]
OTHERS = ["text", "\udce9", b"x", [], [1, [2]], {}, (), {1}, object(), np.array(5), np.ones((2, 1)), Angry()]
ARRAYS = [
    np.array([]),
    np.array([[0, 9], [9, 0]]),
    np.array([[-1], [0]]),
    np.array([[2**63], [0]], dtype=np.uint64),
    np.full((3, 3), np.nan),
    np.full((3, 3), 1e200),
    np.full((3, 2), "a"),
    np.ones((3, 0)),
    np.ones((4, 2, 2)),
    np.array([[0, 1]] * 2, dtype=object),
    sparse.csr_array(MATRIX),
]
LIES = [*NUMBERS, *OTHERS, *ARRAYS]


def lies_about_pyg():
    for lie in LIES:
        for name in ("edge_index", "num_nodes", "x", "edge_attr", "edge_weight", "node_type", "edge_type"):
            fields = {"edge_index": EDGES, "num_nodes": 3, "x": np.eye(3), "edge_weight": np.ones(4)}
            yield SimpleNamespace(**(fields | {name: lie})), {}
        yield lie, {}
    for number in WRAPPING:
        yield SimpleNamespace(edge_index=np.where(EDGES == 2, number, EDGES)), {}


def lies_about_networkx():
    networkx = pytest.importorskip("networkx")
    for lie in LIES:
        for where in ("nodes", "edges"):
            for name in ("label", "attributes", "weight", "other"):
                graph = networkx.path_graph(3)
                (graph.nodes[1] if where == "nodes" else graph.edges[0, 1])[name] = lie
                yield graph, {"edge_attributes": ["other"]}
        yield lie, {}
    liar = networkx.path_graph(3)
    liar._adj[0][7] = {}
    yield liar, {}
    liar = networkx.path_graph(3)
    liar.adjacency = Angry().refuse
    yield liar, {}
    for number in WRAPPING:
        liar = networkx.path_graph(3)
        liar._adj[0] = {number: {}}
        liar.number_of_nodes = liar.size = lambda number=number: number
        yield liar, {}


BEYOND = ([0, 2**63 - 1, -2, 4], [0, 2**62, -(2**62), 4])
OFFSETS = (*BEYOND, [0, -1, 3, 4], [0, 4, 2, 4], [0, 3], [], [0, 2, 4, 99])


def lies_about_adjacency():
    good = ["C", "O", "N"]
    for lie in LIES:
        yield lie, {}
        yield MATRIX, {"node_labels": [good, lie, good]}
        yield MATRIX, {"node_labels": [good, [lie] * 3, good]}
        yield MATRIX, {"node_attributes": [np.ones(3), lie, np.ones(3)]}
    for offsets in OFFSETS:
        wrong = sparse.csr_array(MATRIX)
        wrong.indptr = np.array(offsets, dtype=np.int64)
        yield wrong, {}
    for number, kind in product(WRAPPING, (sparse.csr_array, sparse.coo_array)):
        wrong = kind(MATRIX)
        places = wrong.indices if kind is sparse.csr_array else wrong.coords[1]
        wide = places.astype(np.int64)
        wide[2] = number
        if kind is sparse.csr_array:
            wrong.indices = wide
        else:
            wrong.coords = (wrong.coords[0].astype(np.int64), wide)
        yield wrong, {}


def lies_about_edges():
    for lie in LIES:
        yield lie, {}
        yield [(0, 1), lie], {}
        yield [(0, 1, lie)], {}
        yield [(0, 1)], {"node_labels": [{}, {0: lie}, {}]}


def lies_about_points():
    for lie in LIES:
        yield lie, {}
        yield [[lie, 1.0, 2.0]] * 3, {}


def lies_about_smiles():
    texts = ["[#119]", "C\udce9", "C\0C", "[nH]", "c1cc", "C(C)(C)(C)(C)C", "*" * 50, "[999C]", "[C+99]"]
    for lie in [*LIES, *texts]:
        yield lie, {}
        yield lie, {"node_labels": ("symbol", "invariants", "pharmacophore"), "explicit_hydrogens": True}


def lies_about_rdkit():
    chem = pytest.importorskip("rdkit.Chem")
    raw = [
        chem.MolFromSmiles(text, sanitize=False) for text in ("CCO", "c1ccccc1", "[#119]", "C(C)(C)(C)(C)C")
    ]

    class Liar(chem.Mol):
        told = 0

        def GetNumAtoms(self, *arguments, **options):
            return self.told

        GetNumBonds = GetNumAtoms

    liars = [Liar(chem.MolFromSmiles("CCO")) for _ in WRAPPING]
    for liar, number in zip(liars, WRAPPING, strict=True):
        liar.told = number
    for lie in [*raw, *liars, *LIES]:
        for options in ({}, {"node_labels": "invariants"}, {"explicit_hydrogens": True}, {"stereo": True}):
            yield lie, options
    yield chem.MolFromSmiles("CC"), {"node_labels": lambda atom: Angry()}
    yield chem.MolFromSmiles("CC"), {"node_labels": lambda atom: [1]}


def in_a_list(lies, good):
    """Two good graphs around each lie."""
    return [([good(), lie, good()], options) for lie, options in lies]


def with_a_lie(good):
    """Tables of which one cell, in the second row of one column, is a lie."""
    for lie, name in product(LIES, good):
        column = pandas.Series([None] * len(good[name]), dtype=object)
        for i, value in enumerate(good[name]):
            column.iat[i] = lie if i == 1 else value
        yield pandas.DataFrame(good | {name: column})


def tables():
    edges = {"graph": [0, 0, 1], "source": [0, 1, 0], "target": [1, 2, 1], "w": [1, 1, 1], "l": list("abc")}
    nodes = {"graph": [0, 0, 1, 1], "node": [0, 1, 0, 1], "label": list("abcd"), "a": [1.0, 2.0, 3.0, 4.0]}
    two = pandas.DataFrame({"graph": [0, 1], "source": [0, 0], "target": [1, 1]})
    for table in with_a_lie(edges):
        yield (table,), {"weight": "w", "edge_label": "l"}
    for table in with_a_lie(nodes):
        yield (two, table), {"label": "label", "attributes": ["a"]}


def tables_of_contacts():
    good = {"graph": [0, 0, 1], "source": [0, 1, 0], "target": [1, 2, 1], "time": [1, 2, 3]}
    states = {"graph": [0, 0, 1], "node": [0, 0, 1], "time": [1, 2, 3], "label": list("aba")}
    for table in with_a_lie(good):
        yield (table,), {}
    for table in with_a_lie(states):
        yield (pandas.DataFrame(good),), {"node_labels": table}
    for number in WRAPPING:
        yield (pandas.DataFrame(good | {"time": [1, number, 2**63 - 1]}),), {}


def cases_of(name):
    """Arguments and options of all lying calls of one adapter."""
    if name == "from_pandas":
        return list(tables())
    if name == "from_contacts":
        return list(tables_of_contacts())
    good = {
        "from_pyg": lambda: SimpleNamespace(
            edge_index=EDGES, num_nodes=3, x=np.eye(3), edge_weight=np.ones(4)
        ),
        "from_networkx": lambda: pytest.importorskip("networkx").path_graph(3),
        "from_adjacency": lambda: MATRIX,
        "from_edges": lambda: [(0, 1), (1, 2)],
        "from_points": lambda: np.eye(3),
        "from_smiles": lambda: "CCO",
        "from_rdkit": lambda: pytest.importorskip("rdkit.Chem").MolFromSmiles("CCO"),
    }[name]
    lies = globals()[f"lies_about_{name.removeprefix('from_')}"]()
    return [((several,), options) for several, options in in_a_list(lies, good)]


TABLES = ("from_contacts", "from_pandas")  # refused as a whole
ADAPTERS = sorted(name for name in dir(pk) if name.startswith("from_"))
NAMED = {
    "from_pandas": r"(graph|row) -?[\w']",
    "from_contacts": r"row \d",
    "from_points": r"cloud \d",
    "from_smiles": r"molecule \d",
    "from_rdkit": r"molecule \d",
}


def refusal(adapter, args, options):
    """The error of a call, or None if it gives a valid database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = adapter(*args, **options)
        except (TypeError, ValueError, MemoryError) as error:
            return error
    assert isinstance(found, pk.GraphDatabase)
    check_database(found)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", ADAPTERS)
def test_a_lie_is_read_or_refused_in_one_line_that_names_the_graph(name):
    for args, options in cases_of(name):
        error = refusal(getattr(pk, name), args, options)
        if error is not None:
            shown = (str(error), args, options)
            assert re.fullmatch(rf".*({NAMED.get(name, 'graph [0-9]')}).*", str(error)), shown
            assert len(str(error)) < 500
        if name not in TABLES:
            assert refusal(getattr(pk, name), args, {**options, "errors": "skip"}) is None, (args, options)


@pytest.mark.slow
def test_a_lying_igraph_graph_is_read_or_refused_in_one_line():
    igraph = pytest.importorskip("igraph")
    good = igraph.Graph([(0, 1), (1, 2)])
    for lie in LIES:
        for where in ("vs", "es"):
            for name in ("label", "attributes", "weight"):
                graph = igraph.Graph([(0, 1), (1, 2)])
                getattr(graph, where)[name] = [lie] * len(getattr(graph, where))
                error = refusal(pk.check_graphs, ([good, graph, good],), {})
                if error is not None:
                    assert re.fullmatch(".*graph [0-9].{0,400}", str(error)), (lie, error)
