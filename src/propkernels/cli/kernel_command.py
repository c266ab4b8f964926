"""``propkernels kernel``: write the kernel matrix of a data set."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels._utils.safe_files import atomic_write, write_arrays
from propkernels.cli import arguments
from propkernels.cli.arguments import build_scheme, compile_loops, label_source
from propkernels.cli.console import Force, check_output, print_text, results_stream, seconds, size_of, spinner
from propkernels.cli.inputs import Input, reads_data

if TYPE_CHECKING:
    from propkernels import PropagationKernel
    from propkernels.datasets import Dataset


STDOUT = Path("-")


@reads_data
def kernel(
    name: arguments.Name,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="K.npz, or K.csv; - for CSV on standard output."),
    ],
    cumulative: Annotated[
        bool, typer.Option("--cumulative", help="Write the kernels for t_max = 0, 1, ... as well.")
    ] = False,
    force: Force = False,
    t_max: arguments.TMax = 10,
    normalize: arguments.Normalize = False,
    propagation: arguments.SchemeOption = "auto",
    laziness: arguments.Laziness = None,
    normalization: arguments.NormalizationOption = None,
    labels: arguments.LabelsOption = "auto",
    metric: arguments.MetricOption = "tv",
    bin_width: arguments.BinWidth = 1e-5,
    n_hashes: arguments.NHashes = 1,
    base_kernel: arguments.BaseKernelOption = "linear",
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Write the kernel matrix of a data set.

    K.npz contains the arrays kernel and target, and the parameters as JSON; K.csv has one line per graph:
    target and kernel values.
    """
    from propkernels import PropagationKernel

    check_kernel_file(output, force, cumulative)
    scheme = build_scheme(propagation, laziness, normalization)
    parameters: dict[str, Any] = {
        "labels": label_source(labels),
        "t_max": t_max,
        "metric": metric,
        "bin_width": bin_width,
        "n_hashes": n_hashes,
        "base_kernel": base_kernel,
        "normalize": normalize,
        "random_state": seed,
    }
    import numpy as np

    data = source_options.open(name, n_jobs=jobs)
    compile_loops()
    with spinner(f"Kernel of {data.name}"):
        matrix, took = compute(
            data, PropagationKernel(propagation=scheme, n_jobs=jobs, **parameters), cumulative
        )
        target = data.target
        if target.dtype == object:  # .npz files cannot store None: missing strings are empty
            target = np.array(["" if value is None else str(value) for value in target.tolist()])
        arrays = {"kernel": matrix, "target": target, "parameters": describe(name, scheme, parameters)}
        if output.suffix == ".npz":
            write(output, arrays)
    if output.suffix == ".npz":
        report(output, matrix.shape, took)
    else:
        write_csv(output, matrix, data.target, took)


def compute(data: Dataset, estimator: PropagationKernel, cumulative: bool) -> tuple[Any, float]:
    """Return the kernel matrix (cumulative: one per t_max) and the time in seconds."""
    start = perf_counter()
    run = estimator.fit_transform_cumulative if cumulative else estimator.fit_transform
    matrix = run(data.graphs)
    return matrix, perf_counter() - start


def describe(name: str, scheme: Any, parameters: dict[str, Any]) -> str:
    """Return everything that determines the kernel, as JSON."""
    from propkernels._version import __version__

    how = scheme if isinstance(scheme, str) else {"diffusion": scheme.get_params()}
    return json.dumps({"propkernels": __version__, "data": name, "propagation": how, **parameters})


def check_kernel_file(output: Path, force: bool, cumulative: bool) -> None:
    """Raise ValueError if the output is not writable or has an unsupported suffix."""
    if output != STDOUT:
        check_output(output, force)
        if output.suffix not in (".npz", ".csv"):
            raise ValueError(f"{output} has an unsupported suffix: use .npz or .csv")
    if cumulative and output.suffix != ".npz":
        raise ValueError("--cumulative gives several matrices: use a .npz file")


def write(output: Path, arrays: dict[str, Any]) -> None:
    """Write the arrays atomically."""
    with atomic_write(output) as stream:
        write_arrays(stream, arrays)


def write_csv(output: Path, matrix: Any, target: Any, took: float) -> None:
    """Write a CSV file, one line per graph: target and kernel values."""
    columns = target.reshape(len(matrix), -1)
    names = ["target"] if columns.shape[1] == 1 else [f"target_{i}" for i in range(columns.shape[1])]
    rows = ([*targets, *values] for targets, values in zip(columns.tolist(), matrix.tolist(), strict=True))
    table = [[*names, *range(len(matrix))], *rows]
    if output == STDOUT:
        csv.writer(results_stream(), lineterminator="\n").writerows(table)
        return
    with atomic_write(output, text=True) as stream:
        csv.writer(stream, lineterminator="\n").writerows(table)
    size = f"{len(matrix)} x {len(matrix)}"
    print_text(f"Wrote {output} ({size_of(output)}): target and kernel {size}, in {seconds(took)}.")


def report(output: Path, shape: tuple[int, ...], took: float) -> None:
    """Print the contents of the written file, and how to load it."""
    dimensions = " x ".join(map(str, shape))
    print_text(
        f"Wrote {output} ({size_of(output)}): kernel {dimensions}, in {seconds(took)}; target; parameters."
    )
    print_text("Load it in Python:")
    print_text(f"  file = numpy.load({str(output)!r})")
    print_text("  kernel, target = file['kernel'], file['target']")
    print_text("  parameters = json.loads(str(file['parameters']))")
