"""Features of graphs in files: size, kills and full disks; the figures of docs/guide/scale.md.

``python -m benchmarks.scale`` runs everything (about 0.6 GB per million graphs under the temporary folder,
removed in the end) and prints the figures; ``--write`` also puts them into docs/measured/results/scale.json
and docs/guide/scale.md. ``--only size`` (or kills, disk) runs one group and keeps the stored figures of the
others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from benchmarks.machine import ROOT, describe
from benchmarks.scale_tools import cluster, estimator, generate

RESULTS, PAGE = ROOT / "docs" / "measured" / "results" / "scale.json", ROOT / "docs" / "guide" / "scale.md"
BEGIN, END = "<!-- figures: python -m benchmarks.scale --write -->", "<!-- end of figures -->"
N_GRAPHS = 1_000_000
Row = tuple[str, str]  # what, measured
MB, GB = 1e6, 1e9


def contents(folder: Path) -> dict[str, str]:
    """Hashes of all files of a folder of results."""
    files = sorted(path for path in folder.iterdir() if path.name[0] != ".")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def child(code: str, *arguments: Any) -> dict[str, Any]:
    """Run Python code in a process of its own; its last line of output is JSON."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return dict(json.loads(done.stdout.splitlines()[-1]))


# size: memory and time per node


WHOLE = """
import json, resource, sys, time
import propkernels as pk
from benchmarks.scale import estimator

def main():
    start = time.perf_counter()
    plan = pk.scale.partition(sys.argv[1])
    planned = time.perf_counter() - start
    opened = pk.featurize(plan, estimator(), sys.argv[2], int(sys.argv[3]))
    workers, own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "seconds": time.perf_counter() - start, "planned": planned, "parts": len(plan), "nodes": plan.n_nodes,
        "graphs": len(opened), "processor": workers.ru_utime + workers.ru_stime,
        "bytes": sum(opened.path(i).stat().st_size for i in range(len(plan))),
        "resident": workers.ru_maxrss * 1024, "driver": own.ru_maxrss * 1024,
    }))

if __name__ == "__main__":
    main()
"""

PER_NODE = """
import json, sys, tempfile, time
import propkernels as pk
from benchmarks.scale import estimator
from propkernels.convert.parquet import from_parquet
from propkernels.scale.featurizing import pure_features, write_part

plan = pk.scale.partition(sys.argv[1])
part = plan.parts[0]
graphs = from_parquet(sys.argv[1], rows=slice(part.first, part.last))
features = pure_features(estimator(), graphs[:100])
memory, files = [], []
with tempfile.TemporaryDirectory(dir=sys.argv[2]) as folder:
    for i in range(7):
        start = time.process_time()
        features.estimator.transform(graphs)
        memory.append(time.process_time() - start)
        start = time.process_time()
        write_part(features, part, f"{folder}/{i}.parquet")
        files.append(time.process_time() - start)
print(json.dumps({
    "memory": min(memory) / graphs.n_nodes, "files": min(files) / graphs.n_nodes,
    "mean": sum(memory) / len(memory) / graphs.n_nodes,
}))
"""


def size(folder: Path, n_graphs: int) -> Iterator[Row]:
    """All graphs, on two workers."""
    source = generate(folder / "graphs", n_graphs)
    file = sorted(source.glob("*.parquet"))[0]
    script = folder / "whole.py"  # workers that start from scratch need a file to import
    script.write_text(WHOLE)
    done = subprocess.run(
        [sys.executable, script, source, folder / "features", "2"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )
    found = json.loads(done.stdout.splitlines()[-1])
    shutil.rmtree(folder / "features")
    one = child(PER_NODE, file, folder)
    inside, outside = one["memory"], one["files"]
    nodes, parts = found["nodes"], found["parts"]
    yield "graphs, nodes, parts", f"{found['graphs']:,}; {nodes:,}; {parts}"
    yield "features on disk", f"{found['bytes'] / GB:.2f} GB, {found['bytes'] / nodes:.1f} bytes per node"
    resident = f"{found['resident'] / MB:,.0f} MB at most, {found['driver'] / MB:,.0f} MB"
    yield "resident memory of a worker, of the driver", resident
    clock = f"{found['seconds']:,.0f} s; load average {os.getloadavg()[0]:.1f}"
    yield "wall clock on 2 workers, with planning", clock
    yield (
        "processor time per node, the whole run with the start of the workers",
        f"{1e6 * found['processor'] / nodes:.2f} µs",
    )
    times = f"{1e6 * outside:.2f} µs and {1e6 * inside:.2f} µs (best of 7, in turn, in one process)"
    yield "processor time per node of one part, file to file and features in memory", times


# kills: workers every two seconds, the driver twice


def kill_workers(found: Any, done: Event, killed: list[int], seconds: float) -> None:
    """Kill one worker after the other, of those that have started (Dask gives up one that dies before)."""
    while not done.wait(seconds):
        processes = [nanny.process for nanny in list(found.workers.values()) if nanny.process is not None]
        running = [process for process in processes if process.status.name == "running"]
        pids = sorted({process.pid for process in running if process.pid} - set(killed))
        if pids:
            with suppress(OSError):
                os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])


DRIVE = """
import sys
import propkernels as pk
from benchmarks.scale import estimator

if __name__ == "__main__":
    source, out, nodes_per_part, executor = sys.argv[1:]
    if ":" in executor:
        from distributed import Client
        executor = Client(executor)
    else:
        executor = int(executor)
    pk.featurize(pk.scale.partition(source, int(nodes_per_part)), estimator(), out, executor)
"""


def driver(source: Path, out: Path, nodes_per_part: int, executor: str) -> subprocess.Popen[str]:
    """A call of featurize in a process that can be killed, with a number of workers or a Dask scheduler."""
    script = source.parent / "drive.py"  # workers that start from scratch need a file to import
    script.write_text(DRIVE)
    command = [sys.executable, script, source, out, str(nodes_per_part), executor]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=paths
    )


def n_parts(out: Path) -> int:
    return len(list(out.glob("*.parquet")))


def kills(folder: Path, n_graphs: int) -> Iterator[Row]:
    """Run with Dask under kills, and compare with undisturbed runs."""
    import propkernels as pk

    source = generate(folder / "kills", min(n_graphs, 40_000), 20_000)
    per_part = 50_000
    plan = pk.scale.partition(source, per_part)
    pk.featurize(plan, estimator(), folder / "quiet")
    with cluster(2) as found:
        pk.featurize(plan, estimator(), folder / "dask", found)
    killed, drivers, done = list[int](), 0, Event()
    with cluster(2, preload=True) as found:
        killer = Thread(target=kill_workers, args=(found, done, killed, 2.0))
        killer.start()
        try:
            for share in (0.25, 0.6, 2.0):
                run = driver(source, folder / "killed", per_part, found.scheduler_address)
                while run.poll() is None and n_parts(folder / "killed") < share * len(plan):
                    time.sleep(0.05)
                if run.poll() is None:
                    run.kill()
                    drivers += 1
                errors = run.communicate()[1]
        finally:
            done.set()
            killer.join()
    if run.returncode != 0:
        yield "run under kills", f"it failed: {errors.strip()[-300:]}"
        return
    quiet = contents(folder / "quiet")
    yield "parts; workers killed; drivers killed", f"{len(plan)}; {len(killed)}; {drivers}"
    for name, what in (
        ("killed", "output under kills vs. the undisturbed run without Dask"),
        ("dask", "undisturbed run with Dask vs. the one without"),
    ):
        yield what, "byte-identical" if contents(folder / name) == quiet else "different"


# a disk that is full


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[int], None] | None]:
    """A disk of a few megabytes that can be made larger, if this process may mount one."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield (
            lambda megabytes: (
                subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(folder)], check=True)
                and None
            )
        )
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def disk(folder: Path, n_graphs: int) -> Iterator[Row]:
    """Run into a full disk, make room, and resume."""
    import propkernels as pk

    source = generate(folder / "disk", 20_000, 20_000)
    plan = pk.scale.partition(source, 50_000)
    pk.featurize(plan, estimator(), folder / "roomy")
    with small_disk(folder / "small") as grow:
        if grow is None:
            yield "full disk", "not measured: no right to mount a small disk"
            return
        out = folder / "small" / "features"
        first = driver(source, out, 50_000, "2")
        message = first.communicate()[1].strip().replace(str(out), "DIR")
        left = n_parts(out)
        grow(500)
        again = driver(source, out, 50_000, "2")
        again.communicate()
        same = again.returncode == 0 and contents(out) == contents(folder / "roomy")
    yield "error when the disk is full", f"`{message}`"
    answer = "byte-identical" if same else "different"
    yield "resumed after room was made", f"{left} of {len(plan)} parts were there; after resuming {answer}"


GROUPS: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "size": size,
    "kills": kills,
    "disk": disk,
}


def page(known: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [f"Measured by `python -m benchmarks.scale --write`: {known['environment']}.", ""]
    lines += ["| what | measured |", "|---|---|"]
    figures = [line for group in GROUPS for line in known["figures"].get(group, [])]
    return "\n".join([*lines, *(f"| {what} | {measured} |" for what, measured in figures)])


def write(figures: dict[str, list[Row]]) -> None:
    """Store the figures and put them into the page; groups that were not measured stay as they were."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"figures": {}}
    machine = describe()
    keys = "date", "tree", "processor", "cores", "memory"
    known["environment"] = "{}, tree {}, {}, {} cores, {}".format(*(machine[key] for key in keys))
    known["figures"] |= figures
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{page(known)}\n{END}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", choices=GROUPS, action="append", help="run this group (may be repeated)")
    parser.add_argument("--graphs", type=int, default=N_GRAPHS, help="number of graphs of the group size")
    parser.add_argument("--folder", type=Path, help="where to put files; by default the temporary folder")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/")
    chosen = parser.parse_args(arguments)
    figures: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place:
        for name in chosen.only or GROUPS:
            figures[name] = []
            for line in GROUPS[name](Path(place), chosen.graphs):
                print(*line, sep=": ", flush=True)
                figures[name].append(line)
    if chosen.write:
        write(figures)


if __name__ == "__main__":
    main()
