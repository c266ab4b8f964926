"""Times on 1, 2, 4, ... cores: ``python -m benchmarks.cores [-o FILE]``; elsewhere ``--merge FILE``.

Each job is timed with every n_jobs in one process, in turn, best of some runs after one to compile. The
serial share is Amdahl's: the f that solves ``T_n / T_1 = f + (1 - f) / n``. Stages are those of
``benchmarks.stages``, one after the other. "Copies" is the least traffic of a job (inputs and outputs, once)
over its time, as a share of what copies by all cores achieve. "Busy" is the share of the cores that work
while the job runs on all of them, and "work" is the processor time on all cores over that on one core: the
gain is their number times busy over work. Data sets are those in the folder of
PROPKERNELS_DATA; jobs on others are left out. With ``--ends``, long jobs are run on one core and on all
cores only. ``--merge`` writes the section into docs/measured/benchmarks.md, with the rows of several files,
measured one after the other; rows of the page that they do not have stay, in a table of their own.

Two cores of a cloud machine are often one core with two threads of hardware: the gain of arithmetic that
keeps all units of a core busy says how much more than half of the cores can be gained.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.case import Call, Prepare, estimator
from benchmarks.data import is_present, load
from benchmarks.pages import replace_section, section_between
from benchmarks.stages import stage_calls
from propkernels._utils.crew import job_of, share
from propkernels._utils.helpers import map_in_threads
from propkernels._utils.jit import compiled
from propkernels._utils.parallel import run_pieces

WIDTH = 2**20
BEGIN, END = "<!-- cores: begin -->", "<!-- cores: end -->"
MOLECULES = "MOLECULES-1M"
ONE_GRAPH = "ONE-GRAPH"


class Job(NamedTuple):
    """A row of the table: what is called, the gain aimed at, and whether its stages are listed."""

    name: str
    dataset: str
    prepare: Prepare
    aim: float | None = None
    staged: tuple[str, dict[str, Any]] | None = None


class Times(NamedTuple):
    """Milliseconds of a job or stage by number of cores, and the bytes that it moves at least.

    ``processor`` are milliseconds of all cores together.
    """

    name: str
    by_cores: dict[int, float]
    aim: float | None = None
    n_bytes: float | None = None
    processor: dict[int, float] | None = None

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
        return (self.processor or {}).get(n, float("nan")) / (n * self.by_cores[n])

    @property
    def work(self) -> float:
        """Processor time on the most cores over that on one core."""
        used = self.processor or {}
        return used.get(max(self.by_cores), float("nan")) / used.get(1, float("nan"))


def fitted(name: str, **parameters: Any) -> Prepare:
    """Prepare ``pk.NAME(...).fit(graphs, target)``."""

    def prepare(data: Any, threads: int) -> Call:
        import propkernels as pk

        model = getattr(pk, name)(random_state=0, n_jobs=threads, **parameters)
        return lambda: model.fit(data.graphs, data.target)

    return prepare


def staged(label: str, dataset: str, aim: float | None, name: str, **parameters: Any) -> Job:
    """Return a job whose stages are listed."""
    return Job(label, dataset, estimator(name, t_max=10, **parameters), aim, (name, parameters))


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


HASHED: dict[str, Any] = {"n_features": WIDTH}
JOBS = (
    staged("NCI1 hashed features", "NCI1", 4, "PropagationFeatures", **HASHED),
    staged("NCI1 PropagationKernel", "NCI1", 6, "PropagationKernel"),
    Job("NCI1 WeisfeilerLehman", "NCI1", estimator("WeisfeilerLehman", t_max=10)),
    staged("NCI1 intersection kernel", "NCI1", None, "PropagationKernel", base_kernel="intersection"),
    Job("NCI1 default classifier, fit", "NCI1", fitted("PropagationClassifier"), 8),
    staged("DD hashed features", "DD", 6, "PropagationFeatures", **HASHED),
    staged("DD PropagationKernel", "DD", 6, "PropagationKernel"),
    staged("DD intersection kernel", "DD", None, "PropagationKernel", base_kernel="intersection"),
    Job("DD ShortestPath", "DD", estimator("ShortestPath"), 8),
    Job("ENZYMES P2K", "ENZYMES", estimator("P2K", t_max=10)),
    Job("ENZYMES GraphHopper", "ENZYMES", estimator("GraphHopper")),
    Job("ENZYMES default classifier, fit", "ENZYMES", fitted("PropagationClassifier"), 5),
    Job("PROTEINS P2K", "PROTEINS", estimator("P2K", t_max=10), 8),
    Job("PROTEINS GraphHopper", "PROTEINS", estimator("GraphHopper"), 8),
    Job("PROTEINS ShortestPath", "PROTEINS", estimator("ShortestPath"), 8),
    staged("HIV hashed features", "HIV", 8, "PropagationFeatures", **HASHED),
    staged("HIV PropagationKernel", "HIV", 9, "PropagationKernel"),
    staged("A million molecule-like graphs, hashed features", MOLECULES, 8, "PropagationFeatures", **HASHED),
    staged("A graph of two million nodes, hashed features", ONE_GRAPH, None, "PropagationFeatures", **HASHED),
    Job("A graph of two million nodes, WeisfeilerLehman", ONE_GRAPH, estimator("WeisfeilerLehman", t_max=10)),
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


def best(call: Callable[[], Any], repeats: int) -> float:
    """Return the milliseconds of the fastest of some runs."""
    return best_and_processor(call, repeats)[0]


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


def measure(job: Job, cores: Sequence[int], repeats: int) -> tuple[Times, list[Times]]:
    """Return the times of a job and of its stages."""
    data = data_of(job.dataset)
    times, used = by_cores(lambda n: job.prepare(data, n), cores, repeats)
    moved = least_bytes(job, data.graphs) if job.staged else None
    return Times(job.name, times, job.aim, moved, used), stages(job, data.graphs, cores, repeats)


def stages(job: Job, graphs: Any, cores: Sequence[int], repeats: int) -> list[Times]:
    """Return the times of the stages of a job on one core and on the most."""
    if job.staged is None:
        return []
    import propkernels as pk

    ends = sorted({1, cores[-1]})
    name, parameters = job.staged
    found: dict[str, dict[int, float]] = {}
    for n in ends:
        model = getattr(pk, name)(t_max=10, random_state=0, n_jobs=n, **parameters)
        for stage, call in stage_calls(model, graphs).items():
            found.setdefault(stage, {})[n] = best(call, repeats)
    found.pop("edgeless")
    return [Times(stage, times) for stage, times in found.items()]


def least_bytes(job: Job, graphs: Any) -> float:
    """Return the bytes of a job's inputs and outputs: edges and labels, and entries or the square matrix."""
    inputs = 4 * graphs.adjacency.nnz + 8 * graphs.n_nodes
    if job.staged is not None and job.staged[0] == "PropagationKernel":
        return inputs + 8.0 * len(graphs) ** 2
    return inputs + 12.0 * job.prepare(_Graphs(graphs), -1)().nnz


class Limits(NamedTuple):
    """What the machine allows: bytes per second, the gains of arithmetic, and milliseconds of two stages."""

    copies: float
    new_memory: float
    gains: tuple[float, float]
    stages: tuple[float, float]

    @classmethod
    def measure(cls, threads: int) -> Limits:
        """Measure all of them with some threads."""
        return cls(
            copy_speed(threads), new_memory_speed(threads), arithmetic_gains(threads), stage_times(threads)
        )


@compiled(cache=False)
def _nothing(done: Any, thread: int, k: int) -> None:
    done[thread, 0] += 1


_nothing_job = job_of(_nothing)


@compiled(cache=False)
def _no_stage(crew: Any, first: int, last: int, work: Any) -> None:
    share(crew, first, last, _nothing_job(work))


def stage_times(threads: int) -> tuple[float, float]:
    """Return the milliseconds of a stage whose pieces do nothing: begun by Python, and by a crew."""
    done = np.zeros((threads, 16), dtype=np.int64)
    by_python = best(lambda: map_in_threads(abs, range(threads), threads), 100)
    return by_python, best(lambda: run_pieces(_no_stage, (done,), threads, threads), 100)


def new_memory_speed(threads: int, n_bytes: int = 2**28) -> float:
    """Return the bytes per second that some threads write to memory that is new to the process."""

    def write() -> None:
        memory = np.empty(n_bytes // 8)
        bounds = np.linspace(0, len(memory), threads + 1).astype(int)
        map_in_threads(lambda k: memory[bounds[k] : bounds[k + 1]].fill(1.0), range(threads), threads)

    return n_bytes / (best(write, 3) / 1e3)


def copy_speed(threads: int, n_bytes: int = 2**30) -> float:
    """Return the bytes per second that copies by some threads read and write."""
    source, target = np.ones(n_bytes // 8), np.zeros(n_bytes // 8)
    bounds = np.linspace(0, len(source), threads + 1).astype(int)

    def one(share: int) -> None:
        np.copyto(target[bounds[share] : bounds[share + 1]], source[bounds[share] : bounds[share + 1]])

    with ThreadPoolExecutor(threads) as pool:
        return 2 * n_bytes / (best(lambda: list(pool.map(one, range(threads))), 3) / 1e3)


def arithmetic_gains(threads: int) -> tuple[float, float]:
    """Return the gains of arithmetic in registers: one chain of steps per thread, and eight at a time."""
    from propkernels._utils.mixing import mix_word

    @compiled(cache=False)
    def one_chain(n: int) -> Any:
        word = np.uint64(n)
        for _ in range(n):
            word = mix_word(word)
        return word

    @compiled(cache=False)
    def eight_chains(n: int) -> Any:
        a = b = c = d = e = f = g = h = np.uint64(n)
        for i in range(n // 8):
            step = np.uint64(i)
            a, b, c, d = mix_word(a), mix_word(b + step), mix_word(c ^ step), mix_word(d - step)
            e, f, g, h = mix_word(~e), mix_word(f + step), mix_word(g ^ step), mix_word(h - step)
        return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h

    return _gain(one_chain, threads), _gain(eight_chains, threads)


def _gain(spin: Callable[[int], Any], threads: int) -> float:
    def shared(n: int) -> Call:
        return lambda: list(pool.map(spin, [2**28 // n] * n))

    spin(1)
    with ThreadPoolExecutor(threads) as pool:
        return best(shared(1), 2) / best(shared(threads), 2)


def section(
    rows: Sequence[tuple[Times, list[Times]]],
    cores: Sequence[int],
    limits: Limits,
) -> str:
    """Return the section of the page."""
    gains = limits.gains
    head = [
        BEGIN,
        "## On many cores",
        "",
        f"Measured by `python -m benchmarks.cores` on a machine with {cores[-1]} cores, on which arithmetic "
        f"in registers gains {gains[0]:.1f} if each step waits for the last one, {gains[1]:.1f} if it keeps "
        f"the units of a core busy, copies read and write {limits.copies / 1e9:.0f} GB/s, memory that is new "
        f"to the process is written at {limits.new_memory / 1e9:.0f} GB/s, and a stage whose threads do "
        f"nothing takes {limits.stages[0]:.1f} ms if Python begins it, {limits.stages[1]:.3f} ms if compiled "
        "code does. Milliseconds by "
        "n_jobs, t_max = 10, best of some runs; times on one core of a shared machine differ by up to a half "
        "between runs, and gains with them. Results are the same bits for every n_jobs. The serial share "
        "f solves T_n / T_1 = f + (1 - f) / n. Busy: the share of the cores that work; work: the processor "
        "time on all cores over that on one; the gain is cores * busy / work. Copies: the bytes of inputs "
        "and outputs over the time, as a share of the speed of copies.",
        "",
        "What limits a gain below its aim: work above 1 is new memory that the system clears, and what "
        "threads lose that share the units of a core and read memory at random; cores that are not busy wait "
        "for serial parts (stages, below), and in model selection for the GIL, which threads take in turn to "
        "begin and to end a compiled call, and for the longest machine, which libsvm solves in sequence.",
        "",
        "| job | " + " | ".join(map(str, cores)) + " | gain | aim | serial | busy | work | copies |",
        "|---|" + "--:|" * (len(cores) + 6),
    ]
    table = [_row(job, cores, limits.copies) for job, _ in rows]
    stage_head = [
        "",
        f"Stages on 1 and {cores[-1]} cores; the share is that of the job's time on one core.",
        "",
        f"| job | stage | 1 | {cores[-1]} | gain | share | serial |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    return "\n".join([*head, *table, *stage_head, *_stage_rows(rows), END, ""])


def _row(job: Times, cores: Sequence[int], speed: float) -> str:
    times = " | ".join(f"{job.by_cores[n]:,.0f}" if n in job.by_cores else "" for n in cores)
    aim = "" if job.aim is None else f"{job.aim:g}"
    copies = ""
    if job.n_bytes is not None:
        copies = f"{job.n_bytes / speed / (job.by_cores[cores[-1]] / 1e3):.0%}"
    limits = "" if job.processor is None else f"{job.busy:.0%} | {job.work:.2f}"
    shares = f"{job.serial_share:.0%} | {limits or ' | '}"
    return f"| {job.name} | {times} | {job.gain:.1f} | {aim} | {shares} | {copies} |"


def _stage_rows(rows: Sequence[tuple[Times, list[Times]]]) -> list[str]:
    lines = []
    for job, parts in rows:
        total = sum(part.by_cores[1] for part in parts)
        for part in parts:
            first, last = part.by_cores[1], part.by_cores[max(part.by_cores)]
            lines.append(
                f"| {job.name} | {part.name} | {first:,.1f} | {last:,.1f} | {part.gain:.1f} "
                f"| {first / total:.0%} | {part.serial_share:.0%} |"
            )
    return lines


def joined(sections: Sequence[str]) -> str:
    """Return the first section with the rows of all, in the order of the jobs; later rows replace earlier."""
    tables: list[dict[tuple[str, ...], str]] = [{}, {}]
    for text in sections:
        head, stages = text.split("\nStages on ")
        for table, part, n_names in zip(tables, (head, stages), (1, 2), strict=True):
            rows = [line for line in part.splitlines() if line.startswith("| ") and "| gain |" not in line]
            table |= {tuple(row.split(" | ")[:n_names]): row for row in rows}
    order = [f"| {job.name}" for job in JOBS]
    first, second = (
        "\n".join(sorted(table.values(), key=lambda row: order.index(row.split(" | ")[0])))
        for table in tables
    )
    head, stages = sections[0].split("\nStages on ")
    lines = (head.split("\n| ")[0], head[head.index("\n| job |") + 1 :].splitlines())
    jobs = "\n".join([lines[0], *lines[1][:2], first])
    kinds = "\nStages on " + "\n".join(stages.splitlines()[:4])
    return "\n".join([jobs, kinds, second, END, ""])


def with_earlier(section: str, page: str) -> str:
    """Return a section with the rows of the page whose jobs it has not measured, in tables of their own."""
    head, stages = section.split("\nStages on ")
    measured = {line.split(" | ")[0] for line in head.splitlines()}
    tables: list[list[str]] = []
    for line in page.split("\nStages on ")[0].splitlines():
        if line.startswith("| job |"):
            tables.append([line, "|---" + "|--:" * (line.count("|") - 2) + "|"])
        elif line.startswith("| ") and line.split(" | ")[0] not in measured:
            tables[-1].append(line)
    title = "Not measured again since an earlier revision, on another machine of the same kind:"
    kept = [line for table in tables if len(table) > 2 for line in (title, "", *table, "")]
    return "\nStages on ".join(["\n".join([head, *kept]), stages])


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
    from propkernels._utils.parallel import thread_count

    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="file of the section")
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        help="put the section of these files into docs/measured/benchmarks.md",
    )
    parser.add_argument("--only", action="append", help="jobs whose name contains this; may be repeated")
    parser.add_argument("--cores", type=int, default=thread_count(-1), help="most cores")
    parser.add_argument("--ends", action="store_true", help="measure on one core and on the most only")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.merge is not None:
        text = joined([path.read_text(encoding="utf-8") for path in options.merge])
        replace_section(with_earlier(text, section_between(BEGIN, END)), BEGIN, END)
        return
    cores = core_numbers(options.cores)
    chosen = [job for job in present(JOBS) if not options.only or any(o in job.name for o in options.only)]
    limits = Limits.measure(cores[-1])
    rows = []
    for job in chosen:
        rows.append(measure(job, sorted({1, cores[-1]}) if options.ends else cores, options.repeats))
        print(_row(rows[-1][0], cores, limits.copies), flush=True)
        if options.output is not None:  # what is measured is kept if the run is cut short
            options.output.write_text(section(rows, cores, limits), encoding="utf-8")
    print(section(rows, cores, limits))


if __name__ == "__main__":
    main()
