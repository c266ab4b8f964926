"""Kernels and features on a GPU vs. the CPU of the same machine: ``python -m benchmarks.gpu [-o FILE]``.

It needs an NVIDIA GPU and CuPy. The section goes to docs/measured/results/gpu.md, which ``python -m
benchmarks.run --page`` puts into the page. Times are the least of several calls after a first; freeing a
result is not part of them. "On the device" is with output="device". Data sets that are not on this machine
are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from benchmarks.machine import describe, is_present, table
from benchmarks.run import RESULTS

SETS = (("NCI1", None), ("DD", None), ("HIV", 40_000))


def least(call: Callable[[], Any], repeats: int) -> float:
    """Milliseconds of the fastest call; the device has nothing to do before and after."""
    import cupy

    times = []
    for _ in range(repeats + 1):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        result = call()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
        del result
    return 1e3 * min(times[1:])


def row(what: str, name: str, make: Callable[..., Any], graphs: Any) -> list[str]:
    """Milliseconds on the CPU, to the host and on the device; results must have the same bits."""
    cpu, host, device = (make(n_jobs=-1), make(device="cuda"), make(device="cuda", output="device"))
    there, here = host.fit_transform(graphs), cpu.fit_transform(graphs)
    dense = [
        value.toarray() if hasattr(value, "toarray") and len(graphs) < 10_000 else value
        for value in (here, there)
    ]
    if isinstance(dense[0], np.ndarray) and not np.array_equal(*dense):
        raise RuntimeError(f"{what} of {name} differs between CPU and GPU")
    del there, here, dense
    times = [
        least(lambda: cpu.fit_transform(graphs), 2),
        least(lambda: host.fit_transform(graphs), 5),
        least(lambda: device.fit_transform(graphs), 5),
    ]
    return [what, name, f"{len(graphs):,}", *(f"{value:,.1f}" for value in times)]


def main() -> None:
    """Measure and write."""
    import cupy

    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS.with_name("gpu.md"))
    options = parser.parse_args()
    rows = []
    for name, n in SETS:
        if is_present(name):
            graphs = pk.datasets.load(name, target_required=False).graphs[:n]
            for what, kind, extra in (
                ("PropagationKernel", pk.PropagationKernel, {}),
                ("PropagationFeatures, hashed", pk.PropagationFeatures, {"n_features": 2**20}),
            ):
                rows.append(row(what, name, lambda k=kind, e=extra, **o: k(random_state=0, **e, **o), graphs))
                print("  ".join(rows[-1]), flush=True)
    on, device = describe(), cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    text = (
        f"`python -m benchmarks.gpu`, {on['date'][:10]}, tree {on['tree']}, one {device} and {on['cores']} "
        "cores. Results have the same bits."
    )
    columns = ["what", "data set", "graphs", "CPU, all cores, ms", "GPU to host, ms", "on the device, ms"]
    options.output.write_text(
        "\n".join(["## On a GPU", "", text, "", *table(columns, rows), ""]), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
