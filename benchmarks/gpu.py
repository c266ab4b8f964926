"""The pipeline on a GPU beside the CPU: ``python -m benchmarks.gpu [-o FILE]``; elsewhere ``--merge FILE``.

It needs an NVIDIA GPU and CuPy, and writes a section of docs/measured/benchmarks.md, which ``--merge`` puts
into the page on a machine without a GPU. Times are the best of several runs. "On the device" is with inputs
and outputs there; the share of bandwidth is what the arrays of a stage take to be read and written once at
the copy speed of the GPU. Data sets are read from PROPKERNELS_DATA; those that are not there are left out.
With ``--data-sets`` only their rows are measured, and ``--merge`` leaves other rows of the page as they are.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import propkernels as pk
from benchmarks.data import is_present
from benchmarks.report import replace_section, section_between
from propkernels._utils.parallel import run_threads, workers
from propkernels._utils.randomness import mix
from propkernels.codes.codes import LocalitySensitiveHash, in_key_order, stream_numbers
from propkernels.gpu import device_codes as codes
from propkernels.gpu import device_counts as counts
from propkernels.gpu import device_gram as gram
from propkernels.gpu import device_grids as grids
from propkernels.gpu import device_labels as labels
from propkernels.gpu import pipeline
from propkernels.gpu.packets import DeviceGraphs
from propkernels.propagation.initial import initial_distributions, label_column, label_source, learn_prior

T_MAX, WIDTH = 10, 2**20
LIMIT = (
    "A matrix for the host is written to new memory, which the system clears page by page when it is first "
    "written. Threads do so beside the device's work; what they have cleared by then is written twice. The "
    "last stage of each data set is the time of that memory alone, the least that a call can take: the "
    "12.8 GB of HIV leave little of its target."
)
BEGIN, END = "<!-- gpu: begin -->", "<!-- gpu: end -->"


class Line(NamedTuple):
    """One measured row."""

    what: str
    milliseconds: float
    target: float | None
    n_bytes: float | None = None
    cpu: float | None = None


class Prepared(NamedTuple):
    """Graphs and projections on the device."""

    graphs: DeviceGraphs
    rows: Any
    projected: Any
    offsets: Any
    words: Any


def best(function: Callable[[], Any], repeats: int = 5) -> float:
    """Milliseconds of the fastest run, after one to warm up; to free its result is not part of it."""
    import cupy

    function()
    times = []
    for _ in range(repeats):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        result = function()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
        del result
    return 1e3 * min(times)


def best_here(function: Callable[[], Any], repeats: int = 2) -> float:
    """Milliseconds of the fastest run on the CPU, after one to compile; without freeing its result."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
        del result
    return 1e3 * min(times)


def copy_speed() -> float:
    """Bytes per second that a copy on the device reads and writes."""
    import cupy

    source, target = cupy.empty((2, 2**28))
    return 2 * source.nbytes / (best(lambda: cupy.copyto(target, source)) / 1e3)


def chains(n_graphs: int) -> tuple[Any, ...]:
    """Graphs of 10 to 40 nodes: paths with a chord from every seventh node to the fifth after it."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(10, 41, n_graphs)
    graph_ptr = np.concatenate([[0], np.cumsum(sizes)])
    n, owner = int(graph_ptr[-1]), np.repeat(np.arange(n_graphs), sizes)
    position, size = np.arange(n) - graph_ptr[owner], sizes[owner]
    masks = [(position >= 5) & ((position - 5) % 7 == 0), position > 0]
    masks += [position < size - 1, (position % 7 == 0) & (position + 5 < size)]
    indptr = np.concatenate([[0], np.cumsum(np.sum(masks, axis=0))])
    place, indices = indptr[:-1].copy(), np.empty(int(indptr[-1]), dtype=np.int32)
    for mask, step in zip(masks, (-5, -1, 1, 5), strict=True):
        nodes = np.flatnonzero(mask)
        indices[place[nodes]] = nodes + step
        place[nodes] += 1
    return graph_ptr, indptr.astype(np.int32), indices, rng.integers(0, 37, n).astype(np.int32)


def hashing(n_rows: int) -> tuple[Any, Any, Any]:
    """Projections of some labels, offsets, and words of the streams, on the device."""
    lsh, streams = LocalitySensitiveHash("tv", 1e-5, 0), stream_numbers(T_MAX, 1)
    vectors = lsh.vectors(mix(np.arange(n_rows)), streams)
    words = mix(np.arange(T_MAX + 1), np.zeros(T_MAX + 1, dtype=np.int64))
    runtime = pipeline.cuda()
    return tuple(runtime.to_device(array) for array in (vectors, lsh.offsets(streams), words))  # type: ignore[return-value]


def features(prepared: Prepared) -> Any:
    """Hashed features on the device."""
    graphs, rows, projected, offsets, words = prepared
    found = codes.propagated_codes(graphs, codes.DeviceOperator(), rows, projected, offsets, 1)
    return counts.count_columns(graphs, found, counts.Columns(WIDTH, words=words), 1.0)


def exact(prepared: Prepared) -> Any:
    """Counts with a vocabulary on the device."""
    graphs, rows, projected, offsets, _ = prepared
    found = codes.propagated_codes(graphs, codes.DeviceOperator(), rows, projected, offsets, 1)
    listed, bins = counts.vocabulary(found, graphs.runtime)
    return counts.count_columns(graphs, None, counts.Columns(sum(map(len, bins)), listed=listed), 1.0)


def slots(prepared: Prepared) -> Any:
    """Counts for a kernel matrix on the device."""
    graphs, rows, projected, offsets, _ = prepared
    found = codes.propagated_codes(graphs, codes.DeviceOperator(), rows, projected, offsets, 1)
    return counts.count_slots(graphs, found)


def many_nodes(lines: list[Line]) -> None:
    """Measure 53 million nodes."""
    runtime = pipeline.cuda()
    arrays = chains(2_120_000)
    n, n_entries = len(arrays[3]), len(arrays[2])
    indptr, indices, rows = (runtime.to_device(array) for array in arrays[1:])
    graphs = DeviceGraphs(runtime, arrays[0], indptr, indices)
    prepared = Prepared(graphs, rows, *hashing(37))
    nnz = len(features(prepared).columns)
    step = (*prepared[1:4], 1)
    plain = codes.DeviceOperator()
    found = codes.propagated_codes(graphs, plain, *step)
    inputs, codes_bytes = 4 * n_entries + 8 * n, 8 * (T_MAX + 1) * n
    lines.append(
        Line(
            "53 million nodes: codes",
            best(lambda: codes.propagated_codes(graphs, plain, *step)),
            None,
            inputs + codes_bytes,
        )
    )
    columns = counts.Columns(WIDTH, words=prepared.words)
    lines.append(
        Line(
            "53 million nodes: counts",
            best(lambda: counts.count_columns(graphs, found, columns, 1.0)),
            None,
            codes_bytes + 12 * nnz,
        )
    )
    lines.append(
        Line(
            "53 million nodes: hashed features, on the device",
            best(lambda: features(prepared)),
            30,
            inputs + 12 * nnz,
        )
    )
    lines.append(
        Line(
            "53 million nodes: exact vocabulary, on the device",
            best(lambda: exact(prepared), 2),
            150,
            inputs + 12 * nnz,
        )
    )
    lines.append(
        Line(
            "53 million nodes: Weisfeiler-Lehman codes",
            best(lambda: codes.refined_codes(graphs, rows.astype("u8"), None, T_MAX)),
            None,
            inputs + codes_bytes,
        )
    )

    def host_to_host() -> None:
        there = [runtime.to_device(array) for array in arrays[1:]]
        made = features(Prepared(DeviceGraphs(runtime, arrays[0], *there[:2]), there[2], *prepared[2:]))
        small = made.values.astype("u2")
        runtime.to_host(made.indptr), runtime.to_host(made.columns), runtime.to_host(small, np.float64)

    lines.append(Line("53 million nodes: hashed features, host to host", best(host_to_host, 3), 400))


def prepare(graphs: Any) -> Prepared:
    """Copy a database to the device."""
    runtime = pipeline.cuda()
    column = label_column(graphs, label_source(graphs, "auto"))
    initial, keys = in_key_order(initial_distributions(column, learn_prior(column, "uniform")))
    lsh, streams = LocalitySensitiveHash("tv", 1e-5, 0), stream_numbers(T_MAX, 1)
    arrays = (initial.rows.astype(np.int32), initial.table @ lsh.vectors(keys, streams), lsh.offsets(streams))
    there = labels.device_graphs(graphs.graph_ptr, graphs.adjacency, runtime, True)
    there.packets, there.large_nodes  # noqa: B018
    return Prepared(
        there, *(runtime.to_device(np.ascontiguousarray(array)) for array in arrays), hashing(1)[2]
    )


def data_sets(lines: list[Line]) -> None:
    """Measure the data sets that are there, beside the CPU of this machine, all cores."""
    sets = (
        ("NCI1", None, (0.5, 5.0, 8.0)),
        ("DD", None, (5.0, None, 16.0)),
        ("HIV", 40_000, (None, None, 350.0)),
    )
    for name, n, targets in sets:
        if not is_present(name):
            continue
        graphs = pk.datasets.load(name, target_required=False).graphs[:n]
        lines += one_data_set(name, graphs, *targets)


def one_data_set(
    name: str, graphs: Any, for_features: float | None, for_kernel: float | None, for_users: float
) -> Iterator[Line]:
    """Features and kernel of one data set, and the stages of the kernel as a user meets it."""
    prepared, runtime = prepare(graphs), pipeline.cuda()
    hashed = pk.PropagationFeatures(n_features=WIDTH, random_state=0, n_jobs=-1)
    kernel = pk.PropagationKernel(random_state=0, n_jobs=-1)
    cpu = best_here(lambda: hashed.fit_transform(graphs))
    took = best(lambda: features(prepared))
    yield Line(f"{name}: hashed features, on the device", took, for_features, cpu=cpu)
    cpu = best_here(lambda: kernel.fit_transform(graphs), 1)
    took = best(lambda: gram.square_gram(slots(prepared), runtime), 3)
    yield Line(f"{name}, {len(graphs):,} graphs: kernel, on the device", took, for_kernel, cpu=cpu)
    rows = slots(prepared)
    took = best(lambda: gram.square_gram(rows, runtime), 3)
    yield Line(
        f"{name}, {len(graphs):,} graphs: Gram matrix alone", took, 300 if len(graphs) > 20_000 else None
    )
    took = best(lambda: kernel.set_params(device="cuda").fit_transform(graphs))
    yield Line(f'{name}: PropagationKernel(device="cuda").fit_transform', took, for_users, cpu=cpu)
    there = pk.PropagationKernel(random_state=0, n_jobs=-1, device="cuda", output="device")
    yield Line(f'{name}: the same with output="device"', best(lambda: there.fit_transform(graphs)), None)
    yield from stages(name, graphs, kernel._coder)


def stages(name: str, graphs: Any, coder: Any) -> Iterator[Line]:
    """Stages of ``fit_transform``, each on its own, and the time that memory for the matrix takes alone."""
    runtime, n = pipeline.cuda(), len(graphs)

    def line(what: str, function: Callable[[], Any]) -> Line:
        return Line(f"{name}, stage: {what}", best(function, 3), None)

    yield line("graphs prepared and copied, codes", lambda: pipeline.streams_of(coder, graphs, runtime))
    streams = pipeline.streams_of(coder, graphs, runtime)
    device = pipeline.Device(runtime)
    ptr = np.asarray(graphs.graph_ptr, dtype=np.int64)
    where = DeviceGraphs(runtime, ptr, capacity=counts.capacity_for(len(streams.codes)))
    yield line("counts", lambda: counts.count_slots(where, streams.codes))
    rows = counts.count_slots(where, streams.codes)
    yield line("self-similarities", lambda: gram.self_products(rows, streams.weights, runtime))
    matrix = gram.square_gram(rows, runtime)
    largest = float(matrix.diagonal().max())
    yield line("matrix copied to the host", lambda: device.to_host(matrix, largest))
    read_later = "counts copied to the host, if they are read later"
    yield line(read_later, lambda: pipeline.stream_counts(streams, ptr, runtime))

    def written() -> None:
        memory, step = np.empty(n * n), 2**20
        with workers(-1):
            run_threads(lambda k: memory[k : k + step].fill(1.0), range(0, n * n, step))

    yield line("memory of the matrix written for the first time, nothing else", written)


def textures(lines: list[Line]) -> None:
    """Measure 8.4 million pixels: 2,048 images of 64 x 64, as many as in BRODATZ."""
    runtime = pipeline.cuda()
    rng = np.random.default_rng(0)
    images = pk.GridDatabase([rng.integers(0, 16, (64, 64)) for _ in range(2048)])
    column = label_column(images, "node")
    initial, keys = in_key_order(initial_distributions(column, learn_prior(column, "uniform")))
    lsh, streams = LocalitySensitiveHash("tv", 1e-5, 0), stream_numbers(T_MAX, 1)
    operator = pk.propagation.Convolution().prepare(images, initial)
    arrays = (initial.rows.astype(np.int32), initial.table @ lsh.vectors(keys, streams), lsh.offsets(streams))
    there = [runtime.to_device(np.ascontiguousarray(array)) for array in arrays]
    graphs = DeviceGraphs(runtime, images.graph_ptr.astype(np.int64))
    columns = counts.Columns(WIDTH, words=hashing(1)[2])

    def whole() -> Any:
        return counts.count_columns(graphs, grids.grid_codes(operator, *there, 1, runtime), columns, 1.0)

    lines.append(Line("8.4 million pixels: codes and counts", best(whole, 3), 60))


def section(lines: list[Line], speed: float) -> str:
    """The section of the page."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    text = [
        BEGIN,
        "## On a GPU",
        "",
        f"Measured by `python -m benchmarks.gpu` on one {name}, whose copies read and write "
        f"{speed / 1e12:.1f} TB/s, beside its {os.cpu_count()} CPU cores. Results are the same bits.",
        "",
        LIMIT,
        "",
    ]
    text += [
        "| what | ms | target | met | share of bandwidth | CPU ms |",
        "| --- | --: | --: | --- | --: | --: |",
    ]
    for line in lines:
        target = "" if line.target is None else f"{line.target:g}"
        met = "" if line.target is None else "yes" if line.milliseconds <= line.target else "no"
        share = (
            "" if line.n_bytes is None else f"{100 * line.n_bytes / speed / (line.milliseconds / 1e3):.0f} %"
        )
        cpu = "" if line.cpu is None else f"{line.cpu:,.1f}"
        text.append(f"| {line.what} | {line.milliseconds:,.2f} | {target} | {met} | {share} | {cpu} |")
    return "\n".join([*text, END, ""])


def joined(old: str, new: str) -> str:
    """Return the new section; rows of the old one that it does not have come first."""
    tables = [
        {line.split(" | ")[0]: line for line in text.splitlines() if line[:1] == "|"} for text in (old, new)
    ]
    head = [line for line in new.splitlines() if line[:1] != "|" and line != END]
    return "\n".join([*head, *(tables[0] | tables[1]).values(), END, ""])


def main() -> None:
    """Measure and write, or merge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--merge", type=Path)
    parser.add_argument("--data-sets", action="store_true", help="measure the data sets only")
    options = parser.parse_args()
    if options.merge is not None:
        text = joined(section_between(BEGIN, END), options.merge.read_text(encoding="utf-8"))
        replace_section(text, BEGIN, END)
        return
    lines: list[Line] = []
    speed = copy_speed()
    for measure in (data_sets,) if options.data_sets else (many_nodes, textures, data_sets):
        measure(lines)
    text = section(lines, speed)
    print(text)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
