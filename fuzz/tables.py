"""One table through all its readers, and data sets written in one form and read in another.

Readers of the same cells agree; a missing target stays missing; what was written gives the same kernel when
it is read, or is refused when it is written.
"""

from __future__ import annotations

import csv
import io
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Refused, Wrong, same, try_to
from fuzz.forging import pick
from fuzz.graphs import database, random_graphs
from fuzz.parts import scratch
from fuzz.values import near_power
from propkernels.datasets import Dataset, open_source
from propkernels.datasets.reading import Reading
from propkernels.datasets.sources import read_source, save_source
from propkernels.scale.partition import plan_sources
from propkernels.scale.reading_parts import iter_part

Generator = np.random.Generator
SMILES = ("CCO", "CN", "c1ccccc1", "CC(=O)O", "N", "CCl", "C#N", "OCC")
WORDS = (
    "NA",
    "None",
    "null",
    "nan",
    "NaN",
    "N/A",
    "yes",
    "no",
    "01",
    "1",
    "true",
    "é",
    "a b",
    'q"t',
    "x,y",
    "-",
)
POOLS: tuple[tuple[str, ...], ...] = (
    WORDS,
    ("0", "1"),
    ("yes", "no"),
    ("0.5", "1.25", "-3", "1e-9", "1e12"),
    ("1", "2", "3"),
    ("True", "False"),
    ("NA", "b"),
    ("nan", "1.5", "2.5"),
    ("01", "1", "1.0"),
    ("9007199254740993", "9007199254740992", "4"),
)


def cells(rng: Generator, n: int) -> list[str]:
    """Texts of one column; empty where a value is missing."""
    pool = pick(rng, POOLS)
    hidden = pick(rng, (0.0, 0.0, 0.2, 0.5))
    return ["" if rng.random() < hidden else pick(rng, pool) for _ in range(n)]


def as_text(rows: list[list[str]], separator: str) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def plain(values: Any) -> list[Any]:
    """Targets as Python values: None where missing, numbers as floats, all else as text."""
    array = np.asarray(values)
    found: list[Any] = []
    for value in array.tolist():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            found.append(None)
        elif isinstance(value, (bool, str)):
            found.append(str(value))
        else:
            found.append(float(value))
    return found


def quietly(run: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return try_to(run, OSError, RuntimeError)


def target_of(path: Path) -> list[Any]:
    """What ``fit`` and the other commands read as the target."""
    return plain(quietly(lambda: open_source(path, smiles_column="smiles", target_column="y")).target)


def featurized(path: Path, out: Path) -> list[Any]:
    """What ``featurize`` reads as the target."""
    plan = quietly(lambda: pk.partition(path, smiles_column="smiles", target_column="y"))
    rows = pk.PropagationFeatures(n_features=64, t_max=0, random_state=0)
    return plain(quietly(lambda: pk.featurize(plan, rows, out)).target)


def readers_agree(rng: Generator, seed: int) -> None:
    """CSV and TSV, by open_source and by featurize: one target."""
    n = int(rng.integers(4, 12))
    targets = cells(rng, n)
    rows = [["smiles", "y"], *([pick(rng, SMILES), cell] for cell in targets)]
    files = {"m.csv": as_text(rows, ","), "m.tsv": as_text(rows, "\t")}
    with scratch(str(seed), files) as folder:
        expected = target_of(folder / "m.csv")
        found = {
            "TSV": target_of(folder / "m.tsv"),
            "featurize": featurized(folder / "m.csv", folder / "out"),
        }
    for name, values in found.items():
        if values != expected:
            raise Wrong(f"{targets}: {values} by {name}, {expected} by open_source of CSV"[:300])
    are_numbers = all(value is None or isinstance(value, float) for value in expected)
    empty = ("", "nan", "NaN") if are_numbers else ("",)
    if [cell in empty for cell in targets] != [value is None for value in expected]:
        raise Wrong(f"{targets}: read as {expected}"[:300])


def parquet_agrees(rng: Generator, seed: int) -> None:
    """A target with gaps in Parquet: the same numbers or texts, and the gaps."""
    graphs = pk.datasets.make_molecules(
        int(rng.integers(4, 9)), random_state=seed % 1000, mean_nodes=4
    ).graphs
    pool: tuple[Any, ...] = pick(
        rng, ((0.5, 1.25, 1e-9), ("a", "b", "NA"), (1, 2), (True, False), ("None", "x"))
    )
    target = [None if rng.random() < 0.3 else pick(rng, pool) for _ in range(len(graphs))]
    with scratch(str(seed), {}) as folder:
        folder.mkdir(exist_ok=True)
        path = folder / "g.parquet"
        quietly(lambda: graphs.to_parquet(path, target=target))
        found = plain(quietly(lambda: open_source(path)).target)
        parts = plain(quietly(lambda: pk.featurize(path, _hashed(), folder / "out")).target)
    expected = plain(np.array(target, dtype=object))
    if found != expected or parts != expected:
        raise Wrong(f"{target}: {found} by open_source, {parts} by featurize"[:300])


def _hashed() -> Any:
    return pk.PropagationFeatures(n_features=64, t_max=0, random_state=0)


LABELS: tuple[tuple[Any, ...], ...] = (
    ("01", "1", "001"),
    ("None", "null", "NA", "nan"),
    (0, 1, 2),
    (1, "1"),
    ("a", "b"),
    (2**63, 2**63 + 1, 5),
    (2**53, 2**53 + 1),
    (1.5, 2.5),
    (True, False),
    (("a", 1), ("a", "1")),
    ("", " ", "a"),
    ("é", "e\u0301"),
    ("x,y", 'x"y', "x\ny"),
    (-1, 0),
)


def converted(rng: Generator, seed: int) -> None:
    """A data set written as a table, Parquet or TU files and read again: the same kernel, or refused."""
    graphs = random_graphs(rng, int(rng.integers(2, 5)))
    data = database(graphs)
    pool = pick(rng, LABELS)
    labels = np.empty(data.n_nodes, dtype=object)
    labels[:] = [pick(rng, pool) for _ in range(data.n_nodes)]
    data = try_to(lambda: pk.GraphDatabase(data.adjacency, data.graph_ptr, labels, data.node_attributes))
    target = np.array([pick(rng, (0, 1)) for _ in range(len(data))])
    name = pick(rng, ("g.parquet", "g.zip", "g_edges.csv", "TUDATA"))
    with scratch(str(seed), {}) as folder:
        folder.mkdir(exist_ok=True)
        path = folder / name
        given = Dataset("g", data, target)
        quietly(lambda: save_source(given, path))
        again = quietly(lambda: open_source(path))
    if len(again.graphs) != len(data):
        raise Wrong(f"{name}: {len(again.graphs)} graphs instead of {len(data)}, labels {pool}")
    kernel = pk.WeisfeilerLehman(t_max=1)
    same(kernel.fit_transform(again.graphs), kernel.fit_transform(data), f"{name}, labels {pool}")
    if plain(again.target) != plain(target):
        raise Wrong(f"{name}: targets {plain(again.target)} instead of {plain(target)}")


def saved_parquet(rng: Generator, seed: int) -> None:
    """What to_parquet takes, from_parquet gives back."""
    data = database(random_graphs(rng))
    ids = pick(rng, (None, [f"g{i}" for i in range(len(data))], [near_power(rng) for _ in range(len(data))]))
    if ids is not None:
        data = try_to(lambda: data.with_ids(ids))
    with scratch(str(seed), {}) as folder:
        folder.mkdir(exist_ok=True)
        path = folder / "g.parquet"
        try_to(lambda: data.to_parquet(path))
        again = pk.GraphDatabase.from_parquet(path)
    if again != data:
        raise Wrong("another database comes back from Parquet")


CELLS = (
    *WORDS,
    "",
    " lead",
    "tab\tx",
    "line\nbreak",
    "x\x85y",
    "\u2028x",
    "\x0b",
    "> <y>",
    "M  END",
    "$$$$",
    "9" * 25,
)


def sdf_of(rng: Generator, rows: list[list[str]]) -> bytes:
    """Molecules of rows (SMILES, target, name) as an SDF file; a property may be left out of a record."""
    from rdkit import Chem

    records = []
    for smiles, *cells_of_row in rows:
        mol = Chem.MolFromSmiles(smiles)
        block = "no\n\n\nmolecule\nM  END\n" if mol is None else Chem.MolToMolBlock(mol)
        heads = [pick(rng, (f"> <{name}>", f">  25 <{name}> (MD-0)")) for name in ("y", "name")]
        kept = [f"{h}\n{c}\n\n" for h, c in zip(heads, cells_of_row, strict=True) if rng.random() < 0.8]
        records.append(pick(rng, ("", "", "M  END")) + block + "".join(kept) + "$$$$\n")
    text = "".join(records).replace("\n", pick(rng, ("\n", "\n", "\r\n")))
    return text.encode()[: -int(rng.integers(1, 7)) if rng.random() < 0.2 else None]


def molecules_of(rng: Generator, suffix: str) -> bytes:
    """A file of molecules with hostile targets and names; some molecules cannot be read."""
    pool = pick(rng, (SMILES, (*SMILES, "xyz", "", "*")))
    words = [pick(rng, CELLS) for _ in range(3)]
    n = int(rng.integers(1, 9))
    rows = [[pick(rng, pool), pick(rng, words), pick(rng, (*words, f"m{i}"))] for i in range(n)]
    if suffix == "sdf":
        return sdf_of(rng, rows)
    if suffix == "smi":
        return "".join(f"{row[0] or 'C'} {row[2]}".replace("\n", " ") + "\n" for row in rows).encode()
    if suffix in ("csv", "tsv"):
        return as_text([["smiles", "y", "name"], *rows], "," if suffix == "csv" else "\t")
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream, names = io.BytesIO(), ("smiles", "y", "name")
    columns = [
        [cell if rng.random() < 0.9 else None for cell in column] for column in zip(*rows, strict=True)
    ]
    arrays = {name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)}
    pq.write_table(pa.table(arrays), stream, row_group_size=int(rng.integers(1, 4)))
    return stream.getvalue()


def parts_agree(rng: Generator, seed: int) -> None:
    """A file of molecules read whole and part by part: the same graphs, targets and names."""
    suffix = pick(rng, ("sdf", "sdf", "csv", "tsv", "parquet", "smi"))
    how = Reading(
        id_column=None if suffix == "smi" else pick(rng, (None, "name")),
        standardize=pick(rng, ((), ("fragment",), ("charge",))),
        descriptors=pick(rng, ((), (), ("tpsa",), ("nosuch",))),
        target_required=False,
        errors=pick(rng, ("raise", "skip", "empty")),
    )
    with scratch(str(seed), {f"m.{suffix}": molecules_of(rng, suffix)}) as folder:
        path = folder / f"m.{suffix}"
        whole = _answer(lambda: _at_once(path, how))
        parts = _answer(lambda: _by_part(path, how, int(rng.integers(1, 20))))
    if isinstance(whole, Refused) and isinstance(parts, Refused):
        raise whole
    if isinstance(whole, Refused) or isinstance(parts, Refused):
        if not (isinstance(whole, Refused) and parts[0] == 0):  # of parts, all may be empty
            raise Wrong(f"{suffix}: {whole} at once, {parts} by part"[:300])
        raise whole
    if whole != parts:
        raise Wrong(f"{suffix}: {whole} at once, {parts} by part"[:300])


def _answer(run: Callable[[], Any]) -> Any:
    try:
        return quietly(run)
    except Refused as error:
        return error


def _at_once(path: Path, how: Reading) -> tuple[Any, ...]:
    """Number of graphs, their edges, targets and names."""
    data = read_source(path, how)
    ids = data.graphs.ids if how.id_column or path.suffix == ".smi" else None
    names = list(range(len(data.graphs))) if ids is None else ids.tolist()
    return len(data.graphs), data.graphs.adjacency.nnz, plain(data.target.ravel()), list(map(str, names))


def _by_part(path: Path, how: Reading, nodes_per_part: int) -> tuple[Any, ...]:
    plan = plan_sources(path, nodes_per_part, how, has_names=True)
    blocks = [block for part in plan for block in iter_part(part)]
    target = [value for block in blocks for value in block.target or ()]
    is_named = any(block.names is not None for block in blocks)
    names = [name for block in blocks for name in (block.names or block.ids.tolist())]
    n_graphs = sum(len(block.graphs) for block in blocks)
    listed = names if is_named or how.id_column else range(n_graphs)
    edges = sum(block.graphs.adjacency.nnz for block in blocks)
    return n_graphs, edges, plain(np.array(target, dtype=object)), list(map(str, listed))


CHECKS: dict[str, Callable[[Generator, int], None]] = {
    function.__name__: function
    for function in (readers_agree, parquet_agrees, converted, saved_parquet, parts_agree)
}
NAMES = list(CHECKS)


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 26])
    return Case("tables", seed, NAMES[int(rng.integers(len(NAMES)))])


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 27]), case.seed)
