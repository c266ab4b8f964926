"""Collections of molecules at scale: ``python -m benchmarks.collections FOLDER [--only NAME...] [--write]``.

FOLDER has ``train.csv.gz``, ``test.csv.gz`` and ``test_scaffolds.csv.gz`` of the PyPI wheel ``molsets``
(MOSES, 1,936,962 molecules). They are read once, into Parquet files in FOLDER/parts. Each measurement is
added to ``docs/measured/results/collections.json``; ``--write`` makes docs/measured/collections.md of it.

Times are processor seconds, which other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from benchmarks import collection_checks, collection_peers
from benchmarks.machine import ROOT, memory, processor

RESULTS = ROOT / "docs" / "measured" / "results" / "collections.json"
PAGE = ROOT / "docs" / "measured" / "collections.md"
FILES = ("train", "test", "test_scaffolds")
PART = 100_000
N_QUERIES = 200
N_MILLION = 1_000_000
N_PEER, N_BUTINA, N_SAMPLE = 100_000, 10_000, 5_000
KERNEL = pk.WeisfeilerLehman(t_max=2, edge_labels=True)
Values = dict[str, Any]


def smiles_of(folder: Path, name: str) -> list[str]:
    """Return the SMILES of one file."""
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8") as stream:
        return [line.split(",")[0].strip() for line in stream][1:]


def all_smiles(folder: Path) -> list[str]:
    """Return the SMILES of all files."""
    return [one for name in FILES for one in smiles_of(folder, name)]


def read(smiles: list[str], n_jobs: int | None = None) -> pk.GraphDatabase:
    """Return molecules whose atoms are labeled by the invariants of ECFP."""
    return pk.from_smiles(smiles, node_labels="invariants", n_jobs=n_jobs)


def graphs_of(folder: Path, n_graphs: int | None = None) -> pk.GraphDatabase:
    """Return the first molecules, read from SMILES only once."""
    (folder / "parts").mkdir(exist_ok=True)
    parts, smiles, n_smiles = [], list[str](), 1_936_962
    wanted = n_smiles if n_graphs is None else n_graphs
    for number in range(-(-wanted // PART)):
        path = folder / "parts" / f"{number:03d}.parquet"
        if not path.exists():
            smiles = smiles or all_smiles(folder)
            read(smiles[number * PART : (number + 1) * PART], 2).to_parquet(path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
        parts.append(pk.GraphDatabase.from_parquet(path))
    return pk.GraphDatabase.concat(parts)[:wanted]


def index_of(graphs: pk.GraphDatabase) -> pk.GraphIndex:
    """Return the index that is measured."""
    return pk.GraphIndex(kernel=KERNEL, similarity="jaccard").fit(graphs)


def seconds(call: Callable[[], Any]) -> float:
    """Return the processor seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def each(call: Callable[[Any], Any], items: Any) -> Values:
    """Return median and longest processor milliseconds of calls, after one that is not counted."""
    call(items[0])
    times = [1e3 * seconds(lambda item=item: call(item)) for item in items]
    return {"median": float(np.median(times)), "longest": max(times)}


def peak() -> float:
    """Return the peak memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def chosen(graphs: pk.GraphDatabase, number: int) -> list[Any]:
    """Return random graphs, one by one."""
    places = np.random.default_rng(0).choice(len(graphs), number, replace=False)
    return [graphs[int(place)] for place in places]


def measure_parsing(folder: Path) -> Values:
    """Seconds to read SMILES, from 20,000 molecules."""
    smiles = smiles_of(folder, "train")[:22_000]
    read(smiles[:2000])
    return {"seconds per million": seconds(lambda: read(smiles[2000:])) / 20_000 * 1e6}


def measure_search(folder: Path) -> Values:
    """Build an index of all molecules, and search it."""
    graphs = graphs_of(folder)
    index_of(graphs[:2000])
    start = time.process_time()
    index = index_of(graphs)
    found: Values = {"graphs": len(graphs), "build": time.process_time() - start, "peak": peak()}
    queries = chosen(graphs, N_QUERIES)
    found["k = 1000"] = each(lambda graph: index.query(graph, k=1000), queries)
    found["k = 10"] = each(lambda graph: index.query(graph, k=10), queries)
    for share in (0.7, 0.6):
        found[f"at least {share}"] = each(lambda graph, s=share: index.query(graph, at_least=s), queries)
    return found


def measure_million(folder: Path) -> Values:
    """Cluster one million molecules exactly, on two threads."""
    graphs = graphs_of(folder, N_MILLION)
    start, clock = time.process_time(), time.perf_counter()
    found = pk.SphereExclusion(threshold=0.6, kernel=KERNEL, n_jobs=2).fit(graphs)
    taken, wall = time.process_time() - start, time.perf_counter() - clock
    return {"seconds": taken, "wall": wall, "clusters": len(found.centers_), "peak": peak()}


def measure_clusters(folder: Path) -> Values:
    """Cluster 100,000 molecules exactly."""
    graphs = graphs_of(folder, N_PEER)
    model = pk.SphereExclusion(threshold=0.6, kernel=KERNEL)
    model.fit(graphs[:2000])
    start = time.process_time()
    found = model.fit(graphs)
    taken = time.process_time() - start
    return {"graphs": len(graphs), "seconds": taken, "clusters": len(found.centers_), "peak": peak()}


def measure_peers(folder: Path) -> Values:
    """Search and cluster beside RDKit, whose fingerprints are binary (Morgan, radius 2, 2,048 bits)."""
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator
    from rdkit.ML.Cluster import Butina

    smiles = smiles_of(folder, "train")[:N_PEER]
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    start = time.process_time()
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(one)) for one in smiles]
    built = time.process_time() - start

    def nearest(query: Any) -> Any:
        values = np.array(DataStructs.BulkTanimotoSimilarity(query, prints))
        return np.argpartition(-values, 1000)[:1000]

    def butina() -> Any:
        distances: list[float] = []
        for i in range(1, N_BUTINA):
            near = DataStructs.BulkTanimotoSimilarity(prints[i], prints[:i])
            distances.extend(1 - value for value in near)
        return Butina.ClusterData(distances, N_BUTINA, 0.4, isDistData=True)

    graphs = graphs_of(folder, N_PEER)
    index = index_of(graphs)
    few = graphs[:N_BUTINA]
    model = pk.SphereExclusion(threshold=0.6, kernel=KERNEL)
    model.fit(few[:2000])
    places = np.random.default_rng(0).choice(N_PEER, 50, replace=False)
    return {
        "RDKit build": built,
        "RDKit k = 1000": each(nearest, [prints[int(i)] for i in places]),
        "RDKit clusters": seconds(butina),
        "k = 1000": each(lambda graph: index.query(graph, k=1000), [graphs[int(i)] for i in places]),
        "clusters": seconds(lambda: model.fit(few)),
    }


def samples_of(folder: Path, number: int) -> tuple[pk.GraphDatabase, pk.GraphDatabase]:
    """Return random training molecules, and random test molecules without sulfur."""
    rng = np.random.default_rng(0)
    train = [*rng.permutation(smiles_of(folder, "train"))][:number]
    without = [one for one in rng.permutation(smiles_of(folder, "test")) if "S" not in one.upper()]
    return read(train), read(without[:number])


def measure_fingerprints(folder: Path) -> Values:
    """Search and split beside scikit-fingerprints."""
    smiles, graphs = smiles_of(folder, "train"), graphs_of(folder, collection_peers.N_SEARCHED)
    split = graphs[: collection_peers.N_SPLIT]
    return collection_peers.measure_fingerprints(smiles, graphs, split, KERNEL)


def measure_polygraph(folder: Path) -> Values:
    """Test beside polygraph-benchmark."""
    return collection_peers.measure_polygraph(samples_of(folder, 2 * collection_peers.N_TESTED)[0])


def measure_level(folder: Path) -> Values:
    """Level and power, of samples of 5,000 molecules."""
    return collection_checks.measure_level(*samples_of(folder, N_SAMPLE))


MEASURES: dict[str, Callable[[Path], Values]] = {
    "parsing": measure_parsing,
    "search": measure_search,
    "clusters": measure_clusters,
    "peers": measure_peers,
    "fingerprints": measure_fingerprints,
    "polygraph": measure_polygraph,
    "level": measure_level,
    "alignment": lambda folder: collection_checks.measure_alignment(),
    "folds": lambda folder: collection_checks.measure_folds(),
    "million": measure_million,
}


def stored() -> dict[str, Values]:
    """Return the measurements so far."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(MEASURES), default=list(MEASURES))
    parser.add_argument("--write", action="store_true", help="write docs/measured/collections.md")
    options = parser.parse_args()
    for name in options.only:
        found = MEASURES[name](options.folder)
        machine = {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory": memory(),
        }
        print(name, json.dumps(found, indent=1), flush=True)
        RESULTS.write_text(json.dumps(stored() | {name: found | {"machine": machine}}, indent=1) + "\n")
    if options.write:
        PAGE.write_text("\n".join(page(stored())) + "\n", encoding="utf-8")


def page(found: dict[str, Values]) -> Iterator[str]:
    """Yield the lines of docs/measured/collections.md."""
    yield from HEAD.format(**_machine(found)).splitlines()
    yield from ["", "| question | aim | measured |", "|---|---|---|"]
    yield from (f"| {question} | {aim} | {measured} |" for question, aim, measured in _rows(found))
    if "peers" in found:
        yield from ["", *PEERS.splitlines(), *_peer_rows(found["peers"])]
    if "fingerprints" in found:
        yield from ["", *collection_peers.fingerprint_lines(found["fingerprints"])]
    if "polygraph" in found:
        yield from ["", *collection_peers.polygraph_lines(found["polygraph"])]
    if {"level", "alignment", "folds"} & set(found):
        yield from ["", *collection_checks.check_lines(found)]
    yield from ["", *TAIL.splitlines()]


def _machine(found: dict[str, Values]) -> Values:
    return next(iter(found.values()))["machine"]


def _rows(found: dict[str, Values]) -> Iterator[tuple[str, str, str]]:
    """Yield question, aim and measured figure, for what has been measured."""
    if "parsing" in found and "search" in found:
        search, per_million = found["search"], found["parsing"]["seconds per million"]
        n_graphs = search["graphs"]
        total = per_million * n_graphs / 1e6 + search["build"]
        yield (
            f"build an index of {n_graphs:,} molecules from SMILES",
            "10 minutes on 2 cores, 8 GB",
            f"{total:.0f} s of processors ({search['build']:.0f} s for the index; reading of SMILES timed on "
            f"20,000 molecules), {search['peak']:.1f} GB",
        )
    for name, aim in (
        ("k = 1000", "20 ms"),
        ("at least 0.7", "10 ms"),
        ("at least 0.6", "-"),
        ("k = 10", "-"),
    ):
        if "search" in found:
            times = found["search"][name]
            measured = f"{times['median']:.1f} ms (median; longest {times['longest']:.1f} ms)"
            yield f"search with {name}, one core", aim, measured
    if "million" in found:
        one = found["million"]
        measured = (
            f"{one['seconds']:.0f} s of processors ({one['wall']:.0f} s by the clock), "
            f"{one['clusters']:,} clusters, {one['peak']:.1f} GB"
        )
        yield "cluster one million exactly at 0.6", "15 minutes on 2 cores, 8 GB", measured
    if "clusters" in found:
        one = found["clusters"]
        measured = f"{one['seconds']:.0f} s of processors, {one['clusters']:,} clusters"
        yield f"cluster {one['graphs']:,} exactly at 0.6", "-", measured


def _peer_rows(peers: Values) -> Iterator[str]:
    """Yield the rows of the table beside RDKit."""
    ours, theirs = peers["k = 1000"]["median"], peers["RDKit k = 1000"]["median"]
    yield f"| k = 1000 among {N_PEER:,}, one core | {ours:.1f} ms | {theirs:.1f} ms |"
    ours, theirs = peers["clusters"], peers["RDKit clusters"]
    yield f"| clusters of {N_BUTINA:,} at 0.6, one core | {ours:.1f} s | {theirs:.1f} s |"


HEAD = """# Collections at scale

Exact search and clusters among the 1,936,962 molecules of MOSES (Polykovskiy et al., 2020), by the Jaccard
similarity of counts (Weisfeiler-Lehman, t_max = 2, atoms by the invariants of ECFP, bonds by type), which
chemists call the Tanimoto similarity of count fingerprints. Nothing is approximated: results are those of
comparing all pairs. Written by `python -m benchmarks.collections FOLDER --write` on {processor} ({cores}
cores, {memory}), with other work beside it; times are processor time.
"""
PEERS = """## vs. RDKit

RDKit compares binary Morgan fingerprints of 2,048 bits, in which neighborhoods may share a bit;
ours are counts. chemfp 1.6.1, the only version on PyPI, is for Python 2: its extension does not load
(undefined symbol PyString_FromStringAndSize), and it was not measured.

| task | propkernels | RDKit |
|---|---|---|"""
TAIL = """## Again

Download the wheel of molsets (`pip download molsets --no-deps`), unpack `moses/dataset/data`, and run the
command above with this folder. `--only search` measures one part."""


if __name__ == "__main__":
    main()
