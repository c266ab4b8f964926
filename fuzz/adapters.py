"""Graphs of other libraries that lie, through every public ``from_*``; and there and back again."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Wrong, same, try_to
from fuzz.forging import pick
from fuzz.graphs import database, random_graphs
from fuzz.hostile import adjacency, attributes, labels, n_rows, thing
from fuzz.valid import check_database
from fuzz.values import near_power

Generator = np.random.Generator
WEIGHTS: tuple[Any, ...] = (1, 2.5, 0, -1, float("nan"), float("inf"), 10**400, 1e308, 5e-324, None, "3", "x")
WEIGHTS += (True, 1j, [1], np.float32(2), np.int8(3), b"1", 2**63)
KEYS: tuple[Any, ...] = (
    0,
    1,
    2,
    "a",
    "b",
    None,
    float("nan"),
    (0, 1),
    -1,
    2**64,
    1.5,
    True,
    "",
    b"k",
    "\ud800",
)
PIECES = (
    "C",
    "N",
    "O",
    "c1ccccc1",
    "[NH4+]",
    "[#119]",
    "[#0]",
    "*",
    "=",
    "#",
    "(",
    ")",
    "1",
    "%99",
    ".",
    "Cl",
)
PIECES += (
    "[13C@@H]",
    "/",
    "\\",
    "[",
    "]",
    "@",
    " ",
    "\t",
    "é",
    "[Xx]",
    "[C:1]",
    "->",
    "$",
    "[Cl-]",
    "\0",
    "Br",
)


def some(rng: Generator, pool: tuple[Any, ...], odd: float = 0.2) -> Any:
    """A value of a pool, or anything at all."""
    return thing(rng) if rng.random() < odd else pick(rng, pool)


def weight(rng: Generator) -> Any:
    return 1.0 if rng.random() < 0.6 else some(rng, WEIGHTS)


def key(rng: Generator) -> Any:
    return int(rng.integers(3)) if rng.random() < 0.7 else pick(rng, KEYS)


def from_adjacency(rng: Generator) -> Any:
    matrices = [adjacency(rng) for _ in range(int(rng.integers(1, 4)))]
    sizes = [n_rows(matrix) for matrix in matrices]
    given: dict[str, Any] = {}
    if rng.random() < 0.4:
        given["node_labels"] = pick(rng, ([labels(rng, n) for n in sizes], thing(rng)))
    if rng.random() < 0.3:
        given["node_attributes"] = pick(rng, ([attributes(rng, n) for n in sizes], thing(rng)))
    return pk.from_adjacency(some(rng, (matrices,), 0.05), **given, **options(rng))


def options(rng: Generator) -> dict[str, Any]:
    found: dict[str, Any] = {"errors": pick(rng, ("raise", "skip"))}
    if rng.random() < 0.1:
        found["ids"] = pick(rng, (["a", "b"], ["a", "a"], thing(rng)))
    return found


def from_networkx(rng: Generator) -> Any:
    import networkx as nx

    graphs = []
    for _ in range(int(rng.integers(1, 4))):
        graph = pick(rng, (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
        for _ in range(int(rng.integers(0, 5))):
            with_data = {} if rng.random() < 0.5 else {"weight": weight(rng)}
            if rng.random() < 0.3:
                with_data["label"] = some(rng, KEYS)
            u, v = (pick(rng, ("a", "b", 0, 1, (1, 2), 2**70)) for _ in "uv")
            graph.add_edge(u, v, **with_data)
        for node in list(graph):
            if rng.random() < 0.4:
                graph.nodes[node]["label"] = some(rng, KEYS)
            if rng.random() < 0.3:
                graph.nodes[node]["attributes"] = pick(rng, ([1.0], [1.0, 2.0], 3.0, thing(rng), "x"))
        graphs.append(graph if rng.random() < 0.95 else thing(rng))
    return pk.from_networkx(graphs, **options(rng))


def from_igraph(rng: Generator) -> Any:
    import igraph

    graphs = []
    for _ in range(int(rng.integers(1, 3))):
        n = int(rng.integers(1, 5))
        edges = [tuple(map(int, rng.integers(n, size=2))) for _ in range(int(rng.integers(0, 5)))]
        graph = igraph.Graph(n=n, edges=edges, directed=bool(rng.random() < 0.4))
        if rng.random() < 0.5:
            graph.vs["label"] = [some(rng, KEYS) for _ in range(n)]
        if rng.random() < 0.5:
            graph.es["weight"] = [weight(rng) for _ in edges]
        if rng.random() < 0.3:
            graph.vs["attributes"] = [pick(rng, ([1.0], [1.0, 2.0], 1.0, thing(rng))) for _ in range(n)]
        if rng.random() < 0.3:
            graph.es["label"] = [some(rng, KEYS) for _ in edges]
        graphs.append(graph if rng.random() < 0.95 else thing(rng))
    return pk.from_igraph(graphs, **options(rng))


def tensor(rng: Generator, n: int) -> Any:
    """An array with about n rows, of any type, sometimes something else."""
    if rng.random() < 0.1:
        return thing(rng)
    n = max(n + pick(rng, (0, 0, 0, 0, 1, -1)), 0)
    shape = pick(rng, ((n,), (n, 1), (n, 2), (n, 0), (n, 1, 2), ()))
    with np.errstate(all="ignore"):
        return (rng.normal(size=shape) * pick(rng, (1, 1, 10, 1e200, np.nan))).astype(
            pick(rng, ("f8", "f4", "i8", "i4", "u1", "?", "c8", "f2"))
        )


def from_pyg(rng: Generator) -> Any:
    graphs = []
    for _ in range(int(rng.integers(1, 4))):
        n = int(rng.integers(0, 4))
        m = int(rng.integers(0, 4))
        ends: Any = rng.integers(0, max(n, 1), size=(2, m))
        if rng.random() < 0.3:
            ends = pick(
                rng, (ends.T, ends.astype(float), ends - 1, ends + 2, ends[0], thing(rng), ends * 2**40)
            )
        numbers = (n, n, n, n + 1, -1, 2.7, None, near_power(rng), "3", np.int64(n), float("nan"))
        fields: dict[str, Any] = {"edge_index": ends, "num_nodes": pick(rng, numbers)}
        for name, length in (
            ("x", n),
            ("node_type", n),
            ("edge_attr", m),
            ("edge_type", m),
            ("edge_weight", m),
        ):
            if rng.random() < 0.25:
                fields[name] = tensor(rng, length)
        if rng.random() < 0.3:
            fields["y"] = tensor(rng, 1)
        graphs.append(SimpleNamespace(**fields) if rng.random() < 0.97 else thing(rng))
    target = "y" if rng.random() < 0.2 else None
    given = {"x": pick(rng, ("auto", "auto", "labels", "attributes", "ignore", "odd"))}
    return pk.from_pyg(graphs, target=target, **given, **options(rng))


def from_grakel(rng: Generator) -> Any:
    def edges() -> Any:
        pairs = [(key(rng), key(rng)) for _ in range(int(rng.integers(0, 5)))]
        return pick(
            rng,
            (
                pairs,
                {pair: weight(rng) for pair in pairs},
                [(*pair, weight(rng)) for pair in pairs],
                {u: [v] for u, v in pairs},
                {u: {v: weight(rng)} for u, v in pairs},
                set(pairs),
                adjacency(rng),
                thing(rng),
            ),
        )

    def marks() -> Any:
        return {key(rng): some(rng, KEYS) for _ in range(int(rng.integers(0, 5)))}

    graphs = [
        pick(rng, ([edges()], [edges(), marks()], [edges(), marks(), marks()], edges(), thing(rng)))
        for _ in range(int(rng.integers(1, 3)))
    ]
    return pk.convert.from_grakel(graphs, **options(rng))


def frame(rng: Generator, columns: tuple[str, ...], n: int) -> Any:
    """A table whose columns hold keys, weights and oddities."""
    import pandas as pd

    found = {}
    for name in columns:
        if rng.random() < 0.05:
            continue
        keys = [
            key(rng) if name in ("graph", "node", "source", "target") else some(rng, WEIGHTS)
            for _ in range(n)
        ]
        plain = [int(rng.integers(3)) for _ in range(n)]
        is_odd = rng.random() < 0.35
        found[name] = pd.Series(keys, dtype=object) if is_odd else pd.Series(plain)
    return pd.DataFrame(found)


def from_pandas(rng: Generator) -> Any:
    edges = frame(rng, ("graph", "source", "target", "weight", "label"), int(rng.integers(0, 5)))
    nodes = (
        None if rng.random() < 0.5 else frame(rng, ("graph", "node", "label", "a"), int(rng.integers(0, 6)))
    )
    graphs = None if rng.random() < 0.7 else frame(rng, ("graph", "y"), int(rng.integers(0, 4)))
    given: dict[str, Any] = {"weight": pick(rng, (None, "weight")), "edge_label": pick(rng, (None, "label"))}
    if nodes is not None:
        given |= {"label": pick(rng, (None, "label")), "attributes": pick(rng, ((), ("a",)))}
    given |= {"directed": bool(rng.random() < 0.5), "errors": pick(rng, ("raise", "skip"))}
    if graphs is not None:
        given["graph_target"] = pick(rng, (None, "y"))
    tables = [some(rng, (table,), 0.02) for table in (edges, nodes, graphs)]
    return pk.from_pandas(*tables, **given)


def from_contacts(rng: Generator) -> Any:
    columns = ("graph", "source", "target", "time", "length", "wait", "kind")
    contacts = frame(rng, columns, int(rng.integers(0, 5)))
    states = frame(rng, ("graph", "node", "time", "label"), int(rng.integers(0, 5)))
    given: dict[str, Any] = {"duration": pick(rng, (None, "length")), "delay": pick(rng, (None, "wait"))}
    given |= {"label": pick(rng, (None, "kind")), "node_labels": pick(rng, (None, states, thing(rng)))}
    given |= {"directed": bool(rng.random() < 0.5), "errors": pick(rng, ("raise", "skip"))}
    return pk.from_contacts(some(rng, (contacts,), 0.02), **given)


def from_points(rng: Generator) -> Any:
    clouds: list[Any] = []
    for _ in range(int(rng.integers(1, 4))):
        cloud = rng.normal(size=(int(rng.integers(0, 6)), pick(rng, (2, 2, 2, 3, 0, 1))))
        if cloud.size and rng.random() < 0.3:
            cloud.flat[int(rng.integers(cloud.size))] = pick(rng, (np.nan, np.inf, 1e200, -1e308, 5e-324))
        clouds.append(
            pick(
                rng,
                (cloud, cloud, cloud, np.zeros_like(cloud), cloud.tolist(), thing(rng), cloud.astype("U5")),
            )
        )
    given = {"k": pick(rng, (1, 2, 4, 0, -1, 2.5, near_power(rng)))}
    given |= {"normals": pick(rng, (None, None, False, clouds, thing(rng)))}
    given |= {"mutual": bool(rng.random() < 0.3), "weight": pick(rng, (None, "length", "x"))}
    return pk.from_points(clouds, **given, **options(rng))


def from_triples(rng: Generator) -> Any:
    triples: Any = [(key(rng), pick(rng, ("r", "s", 1)), key(rng)) for _ in range(int(rng.integers(0, 6)))]
    if rng.random() < 0.3:
        triples = pick(
            rng, (triples * 300, [*triples, (1, 2)], [*triples, ([1], 2, 3)], np.array(triples, object))
        )
    if rng.random() < 0.1:
        triples = thing(rng)
    entities = pick(rng, (None, None, [0, 1], [key(rng)], thing(rng)))
    given = {"radius": pick(rng, (0, 1, 2, 5, -1, 1.5, near_power(rng)))}
    given |= {"node_labels": pick(rng, (None, "entity", {0: "x", 1: some(rng, KEYS)}, thing(rng)))}
    return pk.from_triples(triples, entities, errors=pick(rng, ("raise", "skip")), **given)


def smiles(rng: Generator) -> Any:
    text = "".join(pick(rng, PIECES) for _ in range(int(rng.integers(1, 8))))
    return text if rng.random() < 0.9 else pick(rng, (None, "", 3, b"C", float("nan"), thing(rng)))


def from_smiles(rng: Generator) -> Any:
    texts = ["CCO", *(smiles(rng) for _ in range(int(rng.integers(1, 4))))]
    recipe = pick(
        rng, ("symbol", "symbol+aromatic", "invariants", "pharmacophore", "odd", ("symbol", "invariants"))
    )
    given = {"explicit_hydrogens": bool(rng.random() < 0.3), "stereo": bool(rng.random() < 0.3)}
    return pk.from_smiles(texts, node_labels=recipe, **given, **options(rng))


def from_rdkit(rng: Generator) -> Any:
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    mols = []
    for _ in range(int(rng.integers(1, 4))):
        mol = Chem.MolFromSmiles(
            pick(rng, ("CCO", "c1ccccc1", "C[N+](C)(C)C", "[Cl-]")), sanitize=rng.random() < 0.5
        )
        if rng.random() < 0.3:
            mol = Chem.RWMol(mol)
            mol.AddAtom(Chem.Atom(int(rng.integers(0, 119))))
            mol.AddBond(0, mol.GetNumAtoms() - 1, Chem.BondType.values[int(rng.integers(0, 22))])
        mols.append(pick(rng, (mol, mol, mol, mol, None, "C", thing(rng))))
    recipe = pick(rng, ("symbol", "symbol+aromatic", "invariants", "pharmacophore"))
    given = {"explicit_hydrogens": bool(rng.random() < 0.3), "target": pick(rng, (None, None, "y"))}
    return pk.from_rdkit(mols, node_labels=recipe, **given, **options(rng))


def cell(rng: Generator) -> Any:
    """A matrix of three vectors, sometimes without volume, or anything at all."""
    sizes = (1.0, 1.0, 2.5, 0.0, 1e-9, 1e300, float("nan"), float("inf"), -1.0)
    return some(rng, (np.diag([pick(rng, sizes) for _ in range(3)]), rng.normal(size=(3, 3))), 0.1)


def from_pymatgen(rng: Generator) -> Any:
    class Structure(list):
        lattice: Any
        frac_coords: Any

    structures = []
    for _ in range(int(rng.integers(1, 3))):
        n = int(rng.integers(0, 4))
        symbols = [some(rng, ("Na", "Cl"), 0.05) for _ in range(n)]
        sites = [SimpleNamespace(is_ordered=True, specie=SimpleNamespace(symbol=name)) for name in symbols]
        structure = Structure(sites)
        structure.lattice = SimpleNamespace(matrix=cell(rng), pbc=some(rng, ((True, True, False),), 0.1))
        structure.frac_coords = tensor(rng, n) if rng.random() < 0.2 else rng.random((n, 3))
        structures.append(structure if rng.random() < 0.95 else thing(rng))
    given = {"tolerance": some(rng, (0.1, 0.0, 1.0), 0.1), "cutoff": some(rng, (None, 1.5), 0.1)}
    return pk.from_pymatgen(structures, **given, **options(rng))


def from_ase(rng: Generator) -> Any:
    atoms = []
    for _ in range(int(rng.integers(1, 3))):
        n = int(rng.integers(0, 4))
        lattice, places = cell(rng), tensor(rng, n) if rng.random() < 0.2 else rng.random((n, 3))
        names = [some(rng, ("Na", "Cl"), 0.05) for _ in range(n)]
        one = SimpleNamespace(
            cell=SimpleNamespace(complete=lambda lattice=lattice: lattice),
            pbc=some(rng, ((True, True, False), True), 0.1),
            get_positions=lambda places=places: places,
            get_chemical_symbols=lambda names=names: names,
        )
        atoms.append(one if rng.random() < 0.95 else thing(rng))
    given = {"tolerance": some(rng, (0.1, 0.0, 1.0), 0.1), "cutoff": some(rng, (None, 1.5), 0.1)}
    return pk.from_ase(atoms, **given, **options(rng))


LYING = (
    from_adjacency,
    from_ase,
    from_contacts,
    from_pymatgen,
    from_networkx,
    from_igraph,
    from_pyg,
    from_grakel,
    from_pandas,
    from_points,
    from_triples,
    from_smiles,
    from_rdkit,
)


def lie(read: Callable[[Generator], Any], rng: Generator) -> None:
    """Graphs that lie are read as valid graphs, or refused in one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = try_to(lambda: read(rng), MemoryError)
    # an object in memory may declare as many nodes as fit; a file may not
    check_database(found[0] if isinstance(found, tuple) else found, 2**30)


@cache
def pairs() -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """Every public pair of ``to_X`` and ``from_X`` that needs no torch."""
    names = ("networkx", "igraph", "grakel", "pandas")
    return {name: (getattr(pk, f"to_{name}"), getattr(pk, f"from_{name}")) for name in names}


def there_and_back(rng: Generator) -> None:
    """Graphs that another library took give the same kernel when they come back."""
    graphs = database([graph for graph in random_graphs(rng, 3) if graph.n] or random_graphs(rng, 1))
    name = pick(rng, sorted(pairs()))
    to, back = pairs()[name]
    other = try_to(lambda: to(graphs))
    if name == "pandas":
        edges, nodes, table = other.edges, other.nodes, other.graphs
        columns = {"label": "label"} if "label" in nodes.columns else {}
        columns |= {"weight": "weight"} if "weight" in edges.columns else {}
        again = back(edges, nodes, table, directed=bool(edges.attrs["directed"]), **columns)
    else:
        again = back(other)
    if name == "grakel" and graphs.label_column is None:
        return  # GraKeL wants labels: attributes, or zeros, take their place
    kernel = pk.WeisfeilerLehman(t_max=2)
    if again.graph_ptr.tolist() != graphs.graph_ptr.tolist():
        raise Wrong(f"{name}: {again.graph_ptr.tolist()} instead of {graphs.graph_ptr.tolist()}")
    same(kernel.fit_transform(again), kernel.fit_transform(graphs), f"to and from {name}")


CHECKS: dict[str, Callable[[Generator], None]] = {
    **{read.__name__: lambda rng, read=read: lie(read, rng) for read in LYING},
    "there_and_back": there_and_back,
}
NAMES = list(CHECKS)


def missing() -> set[str]:
    """Public adapters that no check of this family calls."""
    public = {name for name in pk.__all__ if name.startswith("from_")}
    return public - {read.__name__ for read in LYING}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 24])
    return Case("adapters", seed, NAMES[int(rng.integers(len(NAMES)))])


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 25]))
