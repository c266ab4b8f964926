"""Times of 100,000 graphs of the size of molecules through each adapter: ``python -m benchmarks.adapters``.

Graphs are those of ``make_molecules`` (or of a CSV file of SMILES, ``--smiles FILE COLUMN``); each format is
prepared first and not timed, and each adapter runs once more than ``--repeats``; the best time counts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

import propkernels as pk
from propkernels._utils.text_tables import format_table
from propkernels.convert.atoms import VIEWS
from propkernels.convert.parquet import from_parquet, to_parquet

Case = tuple[str, Callable[[], Any], Callable[[Any], Any]]


def cases(graphs: Any, folder: Path) -> Iterator[Case]:
    """Yield the name of each adapter, how its input is made, and what is timed."""
    labels, sizes = graphs.label_column, graphs.graph_sizes
    starts = graphs.graph_ptr

    def matrices() -> list[Any]:
        return [graph.adjacency for graph in graphs]

    def node_labels() -> list[Any]:
        return np.split(graphs.node_labels, starts[1:-1])

    yield "networkx", lambda: pk.convert.to_networkx(graphs), pk.from_networkx
    yield "networkx by check_graphs", lambda: pk.convert.to_networkx(graphs), pk.check_graphs
    yield "igraph", lambda: pk.convert.to_igraph(graphs), pk.from_igraph
    yield "GraKeL dictionaries", lambda: pk.convert.to_grakel(graphs), pk.convert.from_grakel
    yield "PyTorch Geometric (numpy)", lambda: _data(graphs, labels), pk.from_pyg
    yield "PyTorch Geometric Batch (numpy)", lambda: _batch(graphs, labels), pk.from_pyg
    yield (
        "scipy matrices, labels",
        lambda: (matrices(), node_labels()),
        lambda parts: pk.from_adjacency(parts[0], node_labels=parts[1]),
    )
    yield (
        "(adjacency, labels) tuples",
        lambda: list(zip(matrices(), node_labels(), strict=True)),
        pk.check_graphs,
    )
    yield "dense stack (n, 16, 16)", lambda: _stack(len(graphs)), pk.from_adjacency
    yield (
        "pandas",
        lambda: pk.convert.to_pandas(graphs),
        lambda tables: pk.from_pandas(*tables, label="label"),
    )
    yield "points, k = 4, curvature", lambda: _clouds(sizes), pk.from_points
    yield "triples, radius 1", lambda: _triples(len(graphs)), pk.from_triples
    file = folder / "graphs.parquet"
    yield "to Parquet", lambda: graphs, lambda some: to_parquet(some, file)
    yield "from Parquet", lambda: file, from_parquet
    yield "save", lambda: graphs, lambda some: some.save(folder / "graphs.pk")
    yield "load", lambda: folder / "graphs.pk", pk.GraphDatabase.load
    yield "to_networkx", lambda: graphs, pk.convert.to_networkx
    yield "to_igraph", lambda: graphs, pk.convert.to_igraph
    yield "to_pandas", lambda: graphs, pk.convert.to_pandas


def molecule_cases(smiles: list[str]) -> Iterator[Case]:
    """Yield the adapters of molecules, and features from SMILES beside RDKit's counts of ECFP."""
    from rdkit import Chem, rdBase
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    fingerprint = GetMorganGenerator(radius=2, fpSize=2048).GetCountFingerprintAsNumPy
    refine = pk.WeisfeilerLehmanFeatures(t_max=2, edge_labels=True).fit_transform

    def parse(texts: list[str]) -> list[Any]:
        with rdBase.BlockLogs():
            return [mol for mol in map(Chem.MolFromSmiles, texts) if mol is not None]

    yield "RDKit parsing SMILES", lambda: smiles, parse
    for recipe in ("symbol", "symbol+aromatic", "invariants", "pharmacophore"):
        yield (
            f"from_rdkit, {recipe}",
            lambda: parse(smiles),
            lambda mols, recipe=recipe: pk.from_rdkit(mols, node_labels=recipe),
        )
    yield "ECFP counts of molecules, RDKit", lambda: parse(smiles), lambda mols: list(map(fingerprint, mols))
    yield "from_smiles, symbol", lambda: smiles, _quiet
    yield "from_smiles, three labels", lambda: smiles, lambda texts: _quiet(texts, VIEWS)
    for jobs in [2**power for power in range(1, 6) if 2**power <= (os.cpu_count() or 1)]:
        yield (
            f"from_smiles, three labels, {jobs} processes",
            lambda: smiles,
            lambda texts, jobs=jobs: _quiet(texts, VIEWS, jobs),
        )
    yield "SMILES to refined symbols", lambda: smiles, lambda texts: refine(_quiet(texts))
    yield "SMILES to ECFP counts, RDKit", lambda: smiles, lambda texts: list(map(fingerprint, parse(texts)))


def _quiet(texts: list[str], labels: Any = "symbol", jobs: int = 1) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pk.from_smiles(texts, errors="skip", node_labels=labels, n_jobs=jobs)


def _data(graphs: Any, labels: Any) -> list[Any]:
    hot = np.eye(len(labels.values), dtype=np.float32)[labels.ids]
    found = []
    for i, graph in enumerate(graphs):
        ends = np.stack(graph.adjacency.tocoo().coords).astype(np.int64)
        rows = hot[graphs.graph_ptr[i] : graphs.graph_ptr[i + 1]]
        found.append(SimpleNamespace(edge_index=ends, x=rows, num_nodes=len(rows)))
    return found


def _batch(graphs: Any, labels: Any) -> Any:
    hot = np.eye(len(labels.values), dtype=np.float32)[labels.ids]
    ends = np.stack(graphs.adjacency.tocoo().coords).astype(np.int64)
    return SimpleNamespace(edge_index=ends, x=hot, ptr=graphs.graph_ptr, num_nodes=len(hot))


def _stack(n: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(0).random((n, 16, 16)) < 0.13, 1)
    return (upper | upper.transpose(0, 2, 1)).astype(np.int8)


def _clouds(sizes: np.ndarray) -> list[np.ndarray]:
    points = np.random.default_rng(0).normal(size=(int(sizes.sum()), 3))
    return np.split(points, np.cumsum(sizes)[:-1])


def _triples(n: int) -> list[tuple[int, str, int]]:
    """About four facts per entity."""
    rng = np.random.default_rng(0)
    ends, relations = rng.integers(0, n, size=(2, 4 * n)).tolist(), rng.integers(0, 20, size=4 * n).tolist()
    return [(u, f"r{r}", v) for u, v, r in zip(*ends, relations, strict=True)]


def measure(case: Case, repeats: int) -> tuple[str, str, str]:
    """Best processor and wall seconds of several runs; those of other processes are wall seconds only."""
    name, prepare, call = case
    thing, processor, wall = prepare(), [], []
    for _ in range(repeats + 1):
        before, start = time.process_time(), time.perf_counter()
        call(thing)
        processor.append(time.process_time() - before)
        wall.append(time.perf_counter() - start)
    return name, f"{min(processor):.2f}", f"{min(wall):.2f}"


def read_smiles(path: Path, column: str) -> list[str]:
    """A column of a CSV file."""
    import csv

    with path.open(encoding="utf-8", newline="") as stream:
        return [row[column] for row in csv.DictReader(stream)]


def main() -> None:
    """Print one table of all adapters."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adapters", description=__doc__)
    parser.add_argument("--graphs", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the names of adapters to measure")
    parser.add_argument(
        "--smiles", nargs=2, metavar=("FILE", "COLUMN"), help="measure molecules of this CSV file"
    )
    options = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder:
        if options.smiles:
            texts = read_smiles(Path(options.smiles[0]), options.smiles[1])
            title, several = f"{len(texts)} molecules", list(molecule_cases(texts))
        else:
            graphs = pk.datasets.make_molecules(options.graphs, random_state=0).graphs
            title, several = repr(graphs), list(cases(graphs, Path(folder)))
        for case in several:
            if options.only in case[0]:
                rows.append(measure(case, options.repeats))
                print(*rows[-1], flush=True)
    print(f"\n{title}\n")
    print(format_table(["adapter", "processor s", "wall s"], rows, left=["adapter"]))


if __name__ == "__main__":
    main()
