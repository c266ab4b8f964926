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
from fuzz.cases import Case, Wrong, same, try_to
from fuzz.forging import pick
from fuzz.graphs import database, random_graphs
from fuzz.parts import scratch
from fuzz.values import near_power
from propkernels.datasets import Dataset, open_source
from propkernels.datasets.sources import save_source

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
    are_numbers = any(isinstance(value, float) for value in expected)
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


CHECKS: dict[str, Callable[[Generator, int], None]] = {
    function.__name__: function for function in (readers_agree, parquet_agrees, converted, saved_parquet)
}
NAMES = list(CHECKS)


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 26])
    return Case("tables", seed, NAMES[int(rng.integers(len(NAMES)))])


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 27]), case.seed)
