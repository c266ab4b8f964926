"""Times on 1, 2, 4, ... cores: ``python -m benchmarks.cores [-o FILE]``; elsewhere ``--merge FILE``.

Each job is timed with every n_jobs in one process, in turn, best of some runs after one to compile. The
serial share is Amdahl's: the f that solves ``T_n / T_1 = f + (1 - f) / n``. "Busy" is the share of the cores
that work while the job runs on all of them, and "work" is the processor time on all cores over that on one
core: the gain is their number times busy over work. Data sets are those in the folder of PROPKERNELS_DATA;
jobs on others are left out. With ``--ends``, long jobs are run on one core and on all cores only. ``--merge``
writes the section into docs/measured/benchmarks.md, with the rows of several files, measured one after the
other; rows of the page that they do not have stay, in a table of their own.

Two cores of a cloud machine are often one core with two threads of hardware.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.case import Call, Prepare, estimator
from benchmarks.data import is_present, load
from benchmarks.kernels import HASHED, P2K, PK, SP, WL
from benchmarks.report import replace_section, section_between

BEGIN, END = "<!-- cores: begin -->", "<!-- cores: end -->"
MOLECULES = "MOLECULES-1M"
ONE_GRAPH = "ONE-GRAPH"


class Job(NamedTuple):
    """A row of the table: what is called, and the gain aimed at."""

    name: str
    dataset: str
    prepare: Prepare
    aim: float | None = None


class Times(NamedTuple):
    """Milliseconds of a job by number of cores; ``processor`` are those of all cores together."""

    name: str
    by_cores: dict[int, float]
    aim: float | None
    processor: dict[int, float]

    @property
    def gain(self) -> float:
        """Time on one core over time on the most cores."""
        return self.by_cores[1] / self.by_cores[max(self.by_cores)]

    @property
    def serial_share(self) -> float:
        """Amdahl's fraction, from the times on one core and on the most cores."""
        n = max(self.by_cores)
        return float("nan") if n == 1 else min(max((n / self.gain - 1) / (n - 1), 0.0), 1.0)

    @property
    def busy(self) -> float:
        """Share of the most cores that work during the job."""
        n = max(self.by_cores)
        return self.processor[n] / (n * self.by_cores[n])

    @property
    def work(self) -> float:
        """Processor time on the most cores over that on one core."""
        return self.processor[max(self.by_cores)] / self.processor[1]


def fitted(name: str, **parameters: Any) -> Prepare:
    """Prepare ``pk.NAME(...).fit(graphs, target)``."""

    def prepare(data: Any, threads: int) -> Call:
        import propkernels as pk

        model = getattr(pk, name)(random_state=0, n_jobs=threads, **parameters)
        return lambda: model.fit(data.graphs, data.target)

    return prepare


def read_tu(data: Any, threads: int) -> Call:
    """Prepare to read the archive of a data set."""
    import propkernels as pk

    return lambda: pk.datasets.load(data.name, n_jobs=threads)


def read_parquet(data: Any, threads: int) -> Call:
    """Prepare to read the graphs of a data set from a Parquet file."""
    import propkernels as pk

    file = parquet_of(data)
    return lambda: pk.GraphDatabase.from_parquet(file, n_jobs=threads)


@cache
def parquet_of(data: Any) -> Path:
    """Write the graphs of a data set to a file of a temporary folder, once; return it."""
    file = Path(tempfile.mkdtemp()) / f"{data.name}.parquet"
    data.graphs.to_parquet(file)
    return file


def learned(method: str, choose: Callable[[Any], Any], **options: Any) -> Prepare:
    """Prepare a method of a model of one kernel, for some graphs of a data set."""

    def prepare(data: Any, threads: int) -> Call:
        model = model_of(data).set_params(n_jobs=threads)
        graphs = choose(data.graphs)
        return lambda: getattr(model, method)(graphs, **options)

    return prepare


@cache
def model_of(data: Any) -> Any:
    """Return a fitted model of one kernel."""
    import propkernels as pk

    kernel = pk.WeisfeilerLehman(t_max=4, base_kernel="intersection")
    model = pk.PropagationClassifier(kernel=kernel, t_max=4, C=1.0, normalize=None, random_state=0)
    return model.fit(data.graphs, data.target)


def audited(data: Any, threads: int) -> Call:
    """Prepare an audit."""
    import propkernels as pk

    return lambda: pk.audit(data, n_jobs=threads)


def queried(data: Any, threads: int) -> Call:
    """Prepare the search for the nearest graphs of a thousand graphs."""
    index = index_of(data).set_params(n_jobs=threads)
    return lambda: index.query(data.graphs[:1000], k=5)


@cache
def index_of(data: Any) -> Any:
    """Return an index of the graphs of a data set."""
    import propkernels as pk

    return pk.GraphIndex().fit(data.graphs)


INTERSECTION = estimator("PropagationKernel", t_max=10, base_kernel="intersection")
GH = estimator("GraphHopper")
JOBS = (
    Job("NCI1 hashed features", "NCI1", HASHED, 4),
    Job("NCI1 PropagationKernel", "NCI1", PK, 6),
    Job("NCI1 WeisfeilerLehman", "NCI1", WL),
    Job("NCI1 intersection kernel", "NCI1", INTERSECTION),
    Job("NCI1 default classifier, fit", "NCI1", fitted("PropagationClassifier"), 8),
    Job("DD hashed features", "DD", HASHED, 6),
    Job("DD PropagationKernel", "DD", PK, 6),
    Job("DD intersection kernel", "DD", INTERSECTION),
    Job("DD ShortestPath", "DD", SP, 8),
    Job("ENZYMES P2K", "ENZYMES", P2K),
    Job("ENZYMES GraphHopper", "ENZYMES", GH),
    Job("ENZYMES default classifier, fit", "ENZYMES", fitted("PropagationClassifier"), 5),
    Job("PROTEINS P2K", "PROTEINS", P2K, 8),
    Job("PROTEINS GraphHopper", "PROTEINS", GH, 8),
    Job("PROTEINS ShortestPath", "PROTEINS", SP, 8),
    Job("HIV hashed features", "HIV", HASHED, 8),
    Job("HIV PropagationKernel", "HIV", PK, 9),
    Job("A million molecule-like graphs, hashed features", MOLECULES, HASHED, 8),
    Job("A graph of two million nodes, hashed features", ONE_GRAPH, HASHED),
    Job("A graph of two million nodes, WeisfeilerLehman", ONE_GRAPH, WL),
    Job("HIV, TU archive read", "HIV", read_tu),
    Job("HIV, Parquet file read", "HIV", read_parquet),
    Job("NCI1 predict, model of one kernel", "NCI1", learned("predict", lambda graphs: graphs)),
    Job("NCI1 explain, model of one kernel", "NCI1", learned("explain", lambda graphs: graphs)),
    Job("NCI1 index, 1,000 queries", "NCI1", queried),
    Job(
        "MUTAG counterfactuals, 60 of one molecule",
        "MUTAG",
        learned("counterfactuals", lambda graphs: graphs[0], max_edits=2, n=60),
    ),
    Job("ENZYMES audit", "ENZYMES", audited),
)


def data_of(name: str) -> Any:
    """Return a data set, or a generated one."""
    if name not in (MOLECULES, ONE_GRAPH):
        return load(name)
    import propkernels as pk

    if name == ONE_GRAPH:
        return _Graphs(ring_with_chords(2_000_000))
    part = pk.datasets.make_molecules(50_000, random_state=0).graphs
    return _Graphs(pk.GraphDatabase.concat([part] * 20))  # columns of a graph do not depend on the others


def ring_with_chords(n: int) -> Any:
    """Return one graph: a ring of n nodes with as many random edges, and ten labels."""
    from scipy.sparse import coo_array

    import propkernels as pk

    rng, nodes = np.random.default_rng(0), np.arange(n)
    ends = (
        np.concatenate([nodes, rng.integers(0, n, n)]),
        np.concatenate([(nodes + 1) % n, rng.permutation(n)]),
    )
    both = np.concatenate(ends), np.concatenate(ends[::-1])
    adjacency = coo_array((np.ones(len(both[0])), both), shape=(n, n)).tocsr()
    adjacency.data[:] = 1.0
    return pk.GraphDatabase(adjacency, [0, n], node_labels=rng.integers(0, 10, n))


class _Graphs(NamedTuple):
    graphs: Any


def present(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs whose data can be had."""
    return [job for job in jobs if job.dataset in (MOLECULES, ONE_GRAPH) or is_present(job.dataset)]


def best_and_processor(call: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Return the milliseconds of the fastest of some runs, and its processor time."""
    times = []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        call()
        times.append((1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - used)))
    return min(times)


def by_cores(
    make: Callable[[int], Call], cores: Sequence[int], repeats: int
) -> tuple[dict[int, float], dict[int, float]]:
    """Return milliseconds and processor times for each number of cores, after one call to compile."""
    make(cores[-1])()
    found = {n: best_and_processor(make(n), repeats) for n in cores}
    return {n: took for n, (took, _) in found.items()}, {n: used for n, (_, used) in found.items()}


def measure(job: Job, cores: Sequence[int], repeats: int) -> Times:
    """Return the times of a job."""
    data = data_of(job.dataset)
    times, used = by_cores(lambda n: job.prepare(data, n), cores, repeats)
    return Times(job.name, times, job.aim, used)


def section(rows: Sequence[Times], cores: Sequence[int]) -> str:
    """Return the section of the page."""
    head = [
        BEGIN,
        "## On many cores",
        "",
        f"Measured by `python -m benchmarks.cores` on a machine with {cores[-1]} cores. Milliseconds by "
        "n_jobs, t_max = 10, best of some runs; times on one core of a shared machine differ by up to a half "
        "between runs, and gains with them. Results are the same bits for every n_jobs. The serial share f "
        "solves T_n / T_1 = f + (1 - f) / n. Busy: the share of the cores that work; work: the processor "
        "time on all cores over that on one; the gain is cores * busy / work.",
        "",
        "| job | " + " | ".join(map(str, cores)) + " | gain | aim | serial | busy | work |",
        "|---|" + "--:|" * (len(cores) + 5),
    ]
    return "\n".join([*head, *(row(job, cores) for job in rows), END, ""])


def row(job: Times, cores: Sequence[int]) -> str:
    """Return the row of a job."""
    times = " | ".join(f"{job.by_cores[n]:,.0f}" if n in job.by_cores else "" for n in cores)
    aim = "" if job.aim is None else f"{job.aim:g}"
    shares = f"{job.serial_share:.0%} | {job.busy:.0%} | {job.work:.2f}"
    return f"| {job.name} | {times} | {job.gain:.1f} | {aim} | {shares} |"


def rows_of(text: str) -> dict[str, str]:
    """Return the rows of a section by the names of their jobs."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and "| gain |" not in line]
    return {line.split(" | ")[0][2:]: line for line in lines}


def joined(sections: Sequence[str], page: str) -> str:
    """Return a section with the rows of all; rows of the page that none has are in a table of their own."""
    known = {name: line for text in sections for name, line in rows_of(text).items()}
    earlier = {name: line for name, line in rows_of(page).items() if name not in known}
    head = sections[0].split("\n| job |")[0]
    titles = sections[0][len(head) + 1 :].splitlines()[:2]
    lines = [head, *titles, *_in_order(known)]
    if earlier:
        lines += [
            "",
            "Not measured again since an earlier revision, on another machine of the same kind:",
            "",
        ]
        lines += [*titles, *_in_order(earlier)]
    return "\n".join([*lines, END, ""])


def _in_order(rows: dict[str, str]) -> list[str]:
    return [rows[job.name] for job in JOBS if job.name in rows]


def core_numbers(most: int) -> list[int]:
    """Return 1, 2, 4, ... up to ``most``, which is included.

    Examples
    --------
    >>> core_numbers(12)
    [1, 2, 4, 8, 12]
    """
    powers = [2**k for k in range(most.bit_length()) if 2**k < most]
    return [*powers, most]


def main() -> None:
    """Measure and write, or merge."""
    from propkernels._utils.parallel import thread_count, workers

    with workers(-1):
        most = thread_count()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="file of the section")
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        help="put the section of these files into docs/measured/benchmarks.md",
    )
    parser.add_argument("--only", action="append", help="jobs whose name contains this; may be repeated")
    parser.add_argument("--cores", type=int, default=most, help="most cores")
    parser.add_argument("--ends", action="store_true", help="measure on one core and on the most only")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.merge is not None:
        texts = [path.read_text(encoding="utf-8") for path in options.merge]
        replace_section(joined(texts, section_between(BEGIN, END)), BEGIN, END)
        return
    cores = core_numbers(options.cores)
    chosen = [job for job in present(JOBS) if not options.only or any(o in job.name for o in options.only)]
    rows = []
    for job in chosen:
        rows.append(measure(job, sorted({1, cores[-1]}) if options.ends else cores, options.repeats))
        print(row(rows[-1], cores), flush=True)
        if options.output is not None:  # what is measured is kept if the run is cut short
            options.output.write_text(section(rows, cores), encoding="utf-8")
    print(section(rows, cores))


if __name__ == "__main__":
    main()
