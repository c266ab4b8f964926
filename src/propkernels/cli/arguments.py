"""Arguments shared by commands, and functions that build estimators from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from propkernels.cli.console import spinner

if TYPE_CHECKING:
    from propkernels.datasets import Dataset

# Choices of options
Metric = Literal["tv", "hellinger", "l1", "l2"]  # distances that the hash preserves
Labels = Literal["auto", "node", "degree", "log_degree", "none"]  # initial labels of the nodes
Normalization = Literal["row", "symmetric", "renormalized", "none"]  # of weights of neighbors in diffusion
BaseKernel = Literal["linear", "rbf", "intersection", "tanimoto", "jaccard"]  # base kernels on counts
Selection = Literal["auto", "race", "exhaustive"]  # strategies of model selection
Format = Literal["table", "csv", "json"]  # output formats of results
FormatOption = Annotated[Format, typer.Option("--format", help="Output as a table, CSV or JSON.")]


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("the number of threads must not be 0: use 1 or more, or -1 for all cores")
    return jobs


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Data set (see 'propkernels datasets'), or a path: TU folder or zip, Parquet, CSV, SDF or SMI "
        "of molecules, JSON, GraphML, GXL, DOT, edge list, point cloud, edges.csv,nodes.csv, or a folder of "
        "images, point clouds or graph files.",
    ),
]
TMax = Annotated[int, typer.Option("--t-max", min=0, metavar="N", help="Number of propagation steps.")]
MetricOption = Annotated[Metric, typer.Option("--metric", help="Distance that the hash preserves.")]
BinWidth = Annotated[float, typer.Option("--bin-width", metavar="X", help="Bin width of the hash.")]
NHashes = Annotated[int, typer.Option("--n-hashes", min=1, metavar="N", help="Hashes per step, averaged.")]
LabelsOption = Annotated[
    Labels, typer.Option("--labels", help="Initial labels; auto: node labels, else degrees.")
]
SchemeOption = Annotated[
    str,
    typer.Option("--propagation", metavar="SCHEME", help="Scheme: auto, diffusion, label_propagation, ..."),
]
Laziness = Annotated[
    float | None,
    typer.Option("--laziness", metavar="X", help="Diffusion: probability of staying, from 0 (paper) to 1."),
]
NormalizationOption = Annotated[
    Normalization | None,
    typer.Option("--normalization", help="Diffusion: row: mean of the neighbors (paper); none: their sum."),
]
BaseKernelOption = Annotated[BaseKernel, typer.Option("--base-kernel", help="Base kernel on counts.")]
Normalize = Annotated[
    bool, typer.Option("--normalize/--no-normalize", help="Divide by the graphs' self-similarities.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of all random numbers.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", callback=_check_jobs, metavar="N", help="Threads; -1: all cores.")
]


def build_scheme(scheme: str, laziness: float | None, normalization: Normalization | None) -> Any:
    """Return the name of a scheme, or a Diffusion with laziness and normalization."""
    if laziness is None and normalization is None:
        return scheme
    if scheme not in ("auto", "diffusion"):
        raise typer.BadParameter("--laziness and --normalization are options of diffusion")
    from propkernels import Diffusion

    return Diffusion(laziness=laziness or 0.0, normalization=normalization or "row")


def label_source(labels: Labels) -> str | None:
    """Return the parameter ``labels`` of the kernel."""
    return None if labels == "none" else labels


def compile_loops() -> None:
    """Compile all loops on a few small graphs, so that timings exclude JIT compilation."""
    from propkernels import PropagationKernel
    from propkernels.datasets import make_molecules

    with spinner("Compiling (the first time only)"):
        PropagationKernel(t_max=1, random_state=0).fit_transform_cumulative(make_molecules(4, 0).graphs)


KernelName = Literal[
    "auto", "propagation", "p2k", "weisfeiler-lehman", "shortest-path", "graph-hopper", "labels"
]


Task = Literal["auto", "classes", "numbers"]  # kind of target
Solver = Literal["auto", "kernel", "landmarks", "linear", "gp"]  # solvers of models


KERNELS = "propagation, p2k, weisfeiler-lehman, shortest-path, graph-hopper or labels"
KernelOption = Annotated[
    KernelName,
    typer.Option("--kernel", metavar="KERNEL", help=f"Kernel: auto (by labels and attributes), {KERNELS}."),
]
CLASSES = {
    "propagation": "PropagationKernel",
    "p2k": "P2K",
    "weisfeiler-lehman": "WeisfeilerLehman",
    "shortest-path": "ShortestPath",
    "graph-hopper": "GraphHopper",
    "labels": "LabelHistogram",
}


def build_kernel(name: str, t_max: int | None, seed: int | None, jobs: int) -> Any:
    """Return a kernel by name, with the settings it supports; None for "auto"."""
    if name == "auto":
        return None
    from propkernels import kernels

    kernel = getattr(kernels, CLASSES[name])()
    settings = {"t_max": t_max, "random_state": seed, "n_jobs": jobs}
    parameters = kernel.get_params(deep=False)
    return kernel.set_params(**{k: v for k, v in settings.items() if k in parameters and v is not None})


def describe_kernel(kernel: Any, without: tuple[str, ...] = ()) -> str:
    """Return the name of a kernel with its non-default parameters.

    Examples
    --------
    >>> import propkernels as pk
    >>> describe_kernel(pk.PropagationKernel(t_max=3, random_state=7, n_jobs=2))
    'PropagationKernel(t_max=3)'
    """
    defaults = type(kernel)().get_params(deep=False)
    changed = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if name not in ("random_state", "n_jobs", *without) and repr(value) != repr(defaults[name])
    }
    return f"{type(kernel).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File written by 'propkernels fit'.")]


def open_model(path: Path) -> tuple[Any, dict[str, str]]:
    """Return a saved classifier or regressor, and the notes of its file about its data set."""
    from propkernels.storage.model_files import read_model

    model, notes = read_model(path)
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{path} contains a {type(model).__name__}, which cannot predict: use a model written by 'fit'"
        )
    return model, dict(notes)


def class_called(model: Any, text: str) -> Any:
    """Return the class with a label or name; raise ValueError if the model has none."""
    known = class_names(model)
    called = {str(label): label for label in known} | {str(name): label for label, name in known.items()}
    if text not in called:
        from propkernels.datasets.tables import listed_names

        raise ValueError(f"the class {text} does not exist; the classes are {listed_names(list(called))}")
    return called[text]


def class_names(model: Any) -> dict[Any, str]:
    """Return the names of the classes of a model; a class without a name is written as it is."""
    labels = model.classes_.tolist()
    names = getattr(model, "class_names_", None)
    return dict(zip(labels, labels if names is None else names, strict=True))


def name_of_class(model: Any, prediction: Any) -> Any:
    """Return the name of a predicted class; numbers, and several labels, are returned as they are."""
    is_class = hasattr(model, "classes_") and not getattr(prediction, "ndim", 0)
    return class_names(model).get(prediction, prediction) if is_class else prediction


def check_graph(data: Dataset, graph: int) -> None:
    """Raise ValueError if a data set has no graph of this number."""
    if graph >= len(data.graphs):
        raise ValueError(f"{data.name} has graphs 0 to {len(data.graphs) - 1}, got {graph}")
