"""Measure seconds and memory, and write docs/measured/benchmarks.md: ``make bench``.

Every row is measured in a fresh process and kept in docs/measured/results/benchmarks.json with its date and
tree; ``--only WORD ...`` measures the rows whose name contains a word, ``--page`` writes the page from what
is kept. Processor seconds of one thread are the figures to compare: other programs disturb them least.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.machine import (
    ROOT,
    Call,
    child,
    describe,
    fastest,
    is_present,
    load,
    megabytes,
    number,
    table,
)
from propkernels._utils.safe_files import atomic_write

RESULTS = ROOT / "docs" / "measured" / "results" / "benchmarks.json"
PAGE = ROOT / "docs" / "measured" / "benchmarks.md"
MEAN_NODES, BLOCK = 25, 1_000_000


def kernel(name: str, **parameters: Any) -> Callable[[Any, int], Call]:
    """``NAME(...).fit_transform(graphs)``."""

    def prepare(data: Any, threads: int) -> Call:
        from propkernels import kernels

        model = getattr(kernels, name)(n_jobs=threads, **parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return lambda: model.fit_transform(data.graphs)

    return prepare


def fit(data: Any, threads: int) -> Call:
    import propkernels as pk

    model = pk.PropagationClassifier(random_state=0, n_jobs=threads)
    return lambda: model.fit(data.graphs, data.target)


def learned(method: str) -> Callable[[Any, int], Call]:
    """A method of the default classifier for all graphs of a data set."""

    def prepare(data: Any, threads: int) -> Call:
        import propkernels as pk

        model = pk.PropagationClassifier(random_state=0, n_jobs=threads).fit(data.graphs, data.target)
        return lambda: getattr(model, method)(data.graphs)

    return prepare


def index(step: str) -> Callable[[Any, int], Call]:
    """A step of the index of graphs; queries ask for the ten nearest of one graph, each time of another."""

    def prepare(data: Any, threads: int) -> Call:
        import propkernels as pk

        if step == "build":
            return lambda: pk.GraphIndex(random_state=0, n_jobs=threads).fit(data.graphs)
        made = pk.GraphIndex(random_state=0, n_jobs=threads).fit(data.graphs)
        if step == "query":
            graphs = cycle([data.graphs[i] for i in range(0, len(data.graphs), 401)])
            return lambda: made.query(next(graphs), k=10)
        if step == "add":
            return lambda: made.add(data.graphs[[7]])

        def save_and_load() -> None:
            with tempfile.TemporaryDirectory() as folder:
                pk.save_model(made, Path(folder) / "index.pk")
                pk.load_model(Path(folder) / "index.pk")

        return save_and_load

    return prepare


def clusters(data: Any, threads: int) -> Call:
    import propkernels as pk

    return lambda: pk.SphereExclusion(threshold=0.6, n_jobs=threads).fit(data.graphs)


PK, WL = kernel("PropagationKernel", t_max=10), kernel("WeisfeilerLehman", t_max=10)
HASHED = kernel("PropagationFeatures", t_max=10, n_features=2**20)
SUM, P2K = kernel("PropagationKernel", t_max=10, attributes="sum"), kernel("P2K", t_max=10)
SP, GH = kernel("ShortestPath"), kernel("GraphHopper")
GH_GAUSSIAN = kernel("GraphHopper", attributes="gaussian")
CSM, CSM_7 = kernel("SubgraphMatching", k=3), kernel("SubgraphMatching", k=7, attributes="truncated")
# what, data set, (data, threads) -> the call
JOBS: tuple[tuple[str, str, Callable[[Any, int], Call]], ...] = (
    *(("PropagationKernel", name, PK) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1", "DD")),
    *(("PropagationFeatures, hashed", name, HASHED) for name in ("NCI1", "HIV")),
    *(("PropagationKernel, attributes", name, SUM) for name in ("ENZYMES", "PROTEINS_full")),
    *(("P2K", name, P2K) for name in ("ENZYMES", "PROTEINS_full")),
    *(("PropagationKernel, grids", name, PK) for name in ("PLANTS", "BRODATZ")),
    *(("WeisfeilerLehman", name, WL) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1", "DD")),
    *(("ShortestPath", name, SP) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1", "DD")),
    *(("GraphHopper, labels", name, GH) for name in ("MUTAG", "ENZYMES", "PROTEINS")),
    ("GraphHopper, attributes", "ENZYMES", GH_GAUSSIAN),
    ("SubgraphMatching, k = 3", "MUTAG", CSM),
    ("SubgraphMatching, k = 7, attributes", "ENZYMES", CSM_7),
    *(("PropagationClassifier, fit", name, fit) for name in ("MUTAG", "ENZYMES", "NCI1")),
    *((f"PropagationClassifier, {name}", "NCI1", learned(name)) for name in ("predict", "explain")),
    *((f"GraphIndex, {step}", "HIV", index(step)) for step in ("build", "query", "add", "save and load")),
    ("SphereExclusion, 0.6", "HIV", clusters),
)
# what grows, its values, what is computed
CURVES = (
    ("nodes", (10**5, 10**6, 10**7), "features"),
    ("nodes, a million at a time", (10**6, 10**7), "streamed"),
    ("graphs", (100, 1_000, 10_000, 20_000), "kernel"),
)
FIRST = "import propkernels as pk; from networkx import path_graph as p; print(pk.similarity(p(5), p(6)))"
STARTS = {
    "Python alone": ["-c", "pass"],
    "import propkernels": ["-c", "import propkernels"],
    "import scikit-learn and networkx": ["-c", "import sklearn.base, networkx"],
    "the similarity of two networkx graphs": ["-c", FIRST],
    "propkernels --help": ["-m", "propkernels.cli", "--help"],
}


# rows, each measured in a process of its own


def measure_job(number_of_job: int) -> dict[str, Any]:
    """Load, call once for the peak of memory, then time one thread and two."""
    from threadpoolctl import threadpool_limits

    _, dataset, prepare = JOBS[number_of_job]
    data = load(dataset)
    before = megabytes("VmRSS")
    prepare(data, 1)()
    found: dict[str, Any] = {"graphs": len(data.graphs), "megabytes": megabytes("VmHWM") - before}
    for threads in (1, 2):
        with threadpool_limits(limits=threads, user_api="blas"):
            clock, processor = fastest(prepare(data, threads), 2.0)
        found |= {"processor": processor} if threads == 1 else {"two": clock}
    return found


def measure_growth(task: str, size: int) -> dict[str, Any]:
    """Seconds and memory beyond the graphs, of molecule-like graphs."""
    import propkernels as pk

    n_graphs = size if task == "kernel" else size // MEAN_NODES
    graphs = pk.datasets.make_molecules(n_graphs, random_state=0, mean_nodes=MEAN_NODES).graphs

    def run(some: Any) -> None:
        if task == "kernel":
            pk.PropagationKernel(random_state=0, n_jobs=1).fit_transform(some)
        elif task == "features":
            pk.PropagationFeatures(random_state=0, n_jobs=1).fit_transform(some)
        else:
            features = pk.PropagationFeatures(n_features=2**20, random_state=0, n_jobs=1).fit(some[:1])
            cuts = np.searchsorted(some.graph_ptr, np.arange(0, some.n_nodes, BLOCK))
            for first, last in zip(cuts, [*cuts[1:], len(some)], strict=True):
                features.transform(some[int(first) : int(last)])

    run(graphs[:50])
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak begins anew
    before = megabytes("VmRSS")
    processor = fastest(lambda: run(graphs), 0, 1)[1]
    extra = megabytes("VmHWM") - before
    return {"processor": processor, "megabytes": extra, "nodes": graphs.n_nodes, "graphs": len(graphs)}


def measure_start(name: str) -> dict[str, Any]:
    """The least processor seconds of some fresh processes."""
    import resource
    import subprocess

    def children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    found = []
    for _ in range(6):
        used = children()
        subprocess.run([sys.executable, *STARTS[name]], cwd=ROOT, capture_output=True, check=True)
        found.append(children() - used)
    return {"processor": min(found)}


def rows() -> dict[str, tuple[str, ...]]:
    """Name of each row -> the arguments of the process that measures it."""
    found: dict[str, tuple[str, ...]] = {}
    for i, (what, dataset, _) in enumerate(JOBS):
        if is_present(dataset):
            found[f"job | {what} | {dataset}"] = ("benchmarks.run", "job", str(i))
    for method, dataset in peers.CASES:
        if is_present(dataset.partition(":")[0]):
            found[f"peer | {method} | {dataset}"] = ("benchmarks.peers", method, dataset)
    for what, sizes, task in CURVES:
        for size in sizes:
            found[f"growth | {what} | {size}"] = ("benchmarks.run", "growth", task, str(size))
    for name in STARTS:
        found[f"start | {name}"] = ("benchmarks.run", "start", name)
    return found


# the page


def page(kept: dict[str, Any]) -> str:
    """The page of what is kept."""
    by_kind: dict[str, list[tuple[list[str], Any]]] = {}
    for name in rows_in_order(kept["rows"]):
        kind, *parts = name.split(" | ")
        by_kind.setdefault(kind, []).append((parts, kept["rows"][name]))
    lines = [*INTRODUCTION.strip().split("\n"), "", "## Kernels, models, search", ""]
    lines += table(
        ["what", "data set", "graphs", "1 thread, processor ms", "2 threads, clock ms", "memory, MB"],
        [
            [*parts, f"{v['graphs']:,}", *map(number, (1e3 * v["processor"], 1e3 * v["two"], v["megabytes"]))]
            for parts, v in by_kind.get("job", [])
        ],
    )
    lines += ["", "## GraKeL", "", PEERS, ""]
    lines += table(
        ["kernel", "data set", "ours, ms", "GraKeL, s", "times", "matrices differ by"],
        [
            [
                method,
                dataset.replace(":", ", first "),
                *map(number, (1e3 * v["ours"], v["peer"], v["peer"] / v["ours"])),
                f"{v['difference']:.0e}" if v["difference"] else "0",
            ]
            for (method, dataset), v in by_kind.get("peer", [])
        ],
    )
    lines += ["", f"In short: {ratios(kept['rows'])}.", "", "## Growth", "", GROWTH, ""]
    lines += table(
        ["what grows", "to", "processor s", "memory beyond the graphs, MB", "us per node"],
        [
            [
                what,
                f"{int(size):,}",
                *map(number, (v["processor"], v["megabytes"], 1e6 * v["processor"] / v["nodes"])),
            ]
            for (what, size), v in by_kind.get("growth", [])
        ],
    )
    lines += ["", "## Start", "", "Processor seconds of a fresh process, files in the page cache.", ""]
    lines += [
        f"- {parts[0].replace('propkernels --help', '`propkernels --help`')}: {v['processor']:.2f} s"
        for parts, v in by_kind.get("start", [])
    ]
    lines += ["", RESULTS.with_name("gpu.md").read_text(encoding="utf-8").strip()]
    lines += ["", "## Measured on", ""]
    lines += [f"- {run}" for run in sorted({_run(v["on"]) for v in kept["rows"].values()})]
    return "\n".join(lines) + "\n"


INTRODUCTION = """
# Benchmarks

Written by `make bench` (`python -m benchmarks.run`). Processor milliseconds of one thread and milliseconds
on the clock of two are the least of several calls on data in memory; memory is the peak of the first call
beyond the loaded data. Kernels have t = 0, ..., 10, bin width 1e-5, total variation."""
PEERS = """Processor time of the kernel matrix, one thread; both libraries in one process, on the same graphs,
converted before the timing. WL and propagation kernels with t = 0, ..., 10; SP: shortest paths; GH:
GraphHopper; CSM: common subgraphs of at most three nodes."""
GROWTH = """Molecule-like graphs of 25 nodes, one thread: features of all nodes, hashed features of a million
nodes at a time, the kernel matrix."""


def ratios(rows: dict[str, Any]) -> str:
    """Smallest and largest ratio of GraKeL's time to ours, rounded down: WL and shortest paths, and PK."""
    found = []
    for methods, words in ((("WL", "SP"), "WL and shortest paths"), (("PK",), "propagation kernels")):
        names = [name for name in rows if any(f"peer | {method} |" in name for method in methods)]
        times = [rows[name]["peer"] / rows[name]["ours"] for name in names]
        found.append(
            f"{words} {int(min(times)):,} to {int(max(times)):,} times" if times else f"{words} not measured"
        )
    return ", ".join(found)


def rows_in_order(kept: dict[str, Any]) -> list[str]:
    """Names of kept rows in the order of the lists above, whatever data are here."""
    jobs = [f"job | {what} | {dataset}" for what, dataset, _ in JOBS]
    others = [f"peer | {method} | {dataset}" for method, dataset in peers.CASES]
    curves = [f"growth | {what} | {size}" for what, sizes, _ in CURVES for size in sizes]
    return [
        name for name in [*jobs, *others, *curves, *(f"start | {name}" for name in STARTS)] if name in kept
    ]


def _run(on: dict[str, Any]) -> str:
    """One line for all rows of a day, a tree and a machine."""
    packages = ", ".join(f"{name} {version}" for name, version in sorted(on["packages"].items()))
    machine = f"{on['processor']}, {on['cores']} cores, {on['memory']}"
    return f"{on['date'][:10]}, tree {on['tree']}; {machine}; Python {on['python']}, {packages}"


def write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the rows that are asked for; each is kept at once, and the page written at the end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", default=[""], help="rows whose name contains a word"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    parser.add_argument("--page", action="store_true", help="write the page from what is kept and stop")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the kept rows")
    options = parser.parse_args(arguments)
    kept = (
        json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {"rows": {}}
    )
    chosen = {name: how for name, how in rows().items() if any(word in name for word in options.only)}
    if options.list:
        print("\n".join(chosen))
        return
    for name, (module, *how) in {} if options.page else chosen.items():
        try:
            kept["rows"][name] = child(module, *how) | {"on": describe()}
            print(name, {key: value for key, value in kept["rows"][name].items() if key != "on"}, flush=True)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        write(options.results, json.dumps(kept, indent=1, sort_keys=True) + "\n")
    write(PAGE if options.results == RESULTS else options.results.with_suffix(".md"), page(kept))


if __name__ == "__main__":
    if sys.argv[1:2] == ["job"]:
        print(json.dumps(measure_job(int(sys.argv[2]))))
    elif sys.argv[1:2] == ["growth"]:
        print(json.dumps(measure_growth(sys.argv[2], int(sys.argv[3]))))
    elif sys.argv[1:2] == ["start"]:
        print(json.dumps(measure_start(sys.argv[2])))
    else:
        main()
