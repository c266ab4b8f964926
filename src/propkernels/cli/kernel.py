"""``propkernels kernel``: the kernel matrix of a data set, in a file."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import build_scheme, compile_loops, label_source, open_dataset
from propkernels.cli.console import Force, check_output, say, seconds, size_of, spinner
from propkernels.utils.files import atomic_write

if TYPE_CHECKING:
    from propkernels import PropagationKernel
    from propkernels.datasets import Dataset


def kernel(
    name: arguments.Name,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, such as K.npz.")],
    cumulative: Annotated[
        bool, typer.Option("--cumulative", help="Write the kernels for t_max = 0, 1, ... as well.")
    ] = False,
    force: Force = False,
    t_max: arguments.TMax = 10,
    normalize: arguments.Normalize = False,
    propagation: arguments.SchemeOption = "auto",
    laziness: arguments.Laziness = None,
    normalization: arguments.NormalizationOption = None,
    labels: arguments.LabelsOption = arguments.Labels.auto,
    metric: arguments.MetricOption = arguments.Metric.tv,
    bin_width: arguments.BinWidth = 1e-5,
    n_hashes: arguments.NHashes = 1,
    base_kernel: arguments.BaseKernelOption = arguments.BaseKernel.linear,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
) -> None:
    """Write the kernel matrix of a data set.

    The file holds the arrays kernel and target, and the parameters as JSON.
    """
    from propkernels import PropagationKernel

    check_output(output, force)
    scheme = build_scheme(propagation, laziness, normalization)
    parameters: dict[str, Any] = {
        "labels": label_source(labels),
        "t_max": t_max,
        "metric": metric.value,
        "bin_width": bin_width,
        "n_hashes": n_hashes,
        "base_kernel": base_kernel.value,
        "normalize": normalize,
        "random_state": seed,
    }
    data = open_dataset(name)
    compile_loops()
    with spinner(f"Kernel of {data.name}"):
        matrix, took = compute(
            data, PropagationKernel(propagation=scheme, n_jobs=jobs, **parameters), cumulative
        )
        arrays = {"kernel": matrix, "target": data.target, "parameters": describe(name, scheme, parameters)}
        write(output, arrays)
    report(output, matrix.shape, took)


def compute(data: Dataset, estimator: PropagationKernel, cumulative: bool) -> tuple[Any, float]:
    """Return the kernel matrix, or all of them, and the seconds that it took."""
    start = perf_counter()
    run = estimator.fit_transform_cumulative if cumulative else estimator.fit_transform
    matrix = run(data.graphs)
    return matrix, perf_counter() - start


def describe(name: str, scheme: Any, parameters: dict[str, Any]) -> str:
    """Return everything that made the kernel, as JSON."""
    from propkernels._version import __version__

    how = scheme if isinstance(scheme, str) else {"diffusion": scheme.get_params()}
    return json.dumps({"propkernels": __version__, "data": name, "propagation": how, **parameters})


def write(output: Path, arrays: dict[str, Any]) -> None:
    """Write under a temporary name in the same folder, then rename: the file is whole or not there."""
    import numpy as np

    with atomic_write(output) as stream:
        np.savez(stream, **arrays)


def report(output: Path, shape: tuple[int, ...], took: float) -> None:
    """Tell what was written, and how to read it."""
    dimensions = " x ".join(map(str, shape))
    say(f"Wrote {output} ({size_of(output)}): kernel {dimensions}, in {seconds(took)}; target; parameters.")
    say("Load it in Python:")
    say(f"  file = numpy.load({str(output)!r})")
    say("  kernel, target = file['kernel'], file['target']")
    say("  parameters = json.loads(str(file['parameters']))")
