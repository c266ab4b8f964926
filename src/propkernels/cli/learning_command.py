"""``fit``, ``predict`` and ``similar`` on folders of parts, and ``propkernels index``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import KERNELS, KernelName, Task, build_kernel
from propkernels.cli.console import (
    cell,
    new_table,
    print_records,
    print_text,
    seconds,
    size_of,
    spinner,
    stdout,
    warnings_as_lines,
)
from propkernels.cli.featurize_command import Output, Sources, Workers, executor_of, parse_number, plan_of
from propkernels.cli.inputs import Input, reads_data

if TYPE_CHECKING:
    from propkernels.datasets import Dataset


def is_parts(name: str) -> bool:
    """Whether a path is a folder written by 'featurize'."""
    return (Path(name) / "manifest.json").is_file()


def is_index(name: str) -> bool:
    """Whether a path is a folder written by 'index'."""
    return (Path(name) / "plan00000" / "plan.json").is_file()


def refuse(options: dict[str, Any], why: str) -> None:
    """Raise ValueError if an option is set that does not apply."""
    given = [name for name, value in options.items() if value]
    if given:
        raise ValueError(f"{given[0]} does not apply: {why}")


def fit_parts(
    folder: str, output: Path, task: Task, columns: list[str] | None, cost: float | None, jobs: int
) -> None:
    """Train a linear model on a folder of features and write it to a file."""
    from propkernels._utils.cells import are_classes, as_classes, is_missing, typed_column
    from propkernels.models.linear_model import LinearModel
    from propkernels.scale import open_features
    from propkernels.storage import save_model

    features = open_features(folder)
    print_text(repr(features))
    target = choose_column(features.target, columns, folder)
    gaps = is_missing(target)
    present = as_classes(typed_column(target[~gaps]))
    is_class = are_classes(present) if task == "auto" else task == "classes"
    if gaps.any():
        target = target.astype(object)
        target[~gaps] = present.tolist()
    loss = "logistic" if is_class else "squared"
    start = perf_counter()
    model = LinearModel(loss=loss, C=1.0 if cost is None else cost, n_jobs=jobs)
    with warnings_as_lines():
        model.fit_parts(features, target)
    save_model(model, output)
    table = new_table(["learned", "value"], [])
    if is_class:
        table.add_row("classes", cell(", ".join(map(str, model.classes_.tolist()[:8]))))
    table.add_row("loss", loss)
    table.add_row("C", f"{model.C:g}")
    table.add_row("iterations", str(model.n_iter_))
    stdout().print(table)
    took = seconds(perf_counter() - start)
    print_text(f"\nWrote {output} ({size_of(output)}), learned in {took}. Next:")
    print_text(f"  propkernels predict {output} FEATURES -o predictions")


def choose_column(target: Any, columns: list[str] | None, folder: str) -> Any:
    """Return the target, or the column of a target with several columns."""
    from propkernels.datasets.reading import Reading

    if target is None:
        raise ValueError(f"the files of {folder} have no target to learn")
    chosen = Reading(target_columns=tuple(columns or ())).stored_target(target, len(target), folder)
    if chosen.ndim == 2:
        raise ValueError(f"{folder} has {chosen.shape[1]} target columns: choose one with --target 0, 1, ...")
    return chosen


def predict_parts(model: Any, folder: str, output: Path | None, jobs: int) -> None:
    """Write the predictions of a folder of features, one Parquet file per part."""
    from propkernels.models.linear_model import LinearModel
    from propkernels.scale import open_features

    if not isinstance(model, LinearModel):
        raise ValueError(
            f"{folder} contains features: use a model that 'propkernels fit' trained on features"
        )
    if output is None:
        raise ValueError("predictions of a folder are written to a folder: name one with -o predictions")
    features = open_features(folder)
    files = model.set_params(n_jobs=jobs).predict_parts(features, output)
    parts = "1 file" if len(files) == 1 else f"{len(files):,} files"
    print_text(f"Wrote {output}: {len(features):,} predictions in {parts}.")


def rows_of(model: Any, graphs: Any) -> Any:
    """Return features of graphs, for a model trained on a folder of features."""
    if model.features_ is None:
        raise ValueError("this model does not store its features estimator: use it with a folder of features")
    return model.features_.fit_transform(graphs)


def similar_parts(
    folder: str, to: int, k: int, output_format: arguments.Format, jobs: int, other: Dataset | None = None
) -> None:
    """Search a folder of features, or an index on disk, for the graphs most similar to a graph.

    The graph is one of the folder, which is not listed, or one of another data set.
    """
    from propkernels.scale import open_features
    from propkernels.search.index import GraphIndex
    from propkernels.search.nearest import nearest_rows

    with spinner("Searching"):
        if is_index(folder):
            index = GraphIndex.open(folder, n_jobs=jobs)
            graph: Any = index.graph(to) if other is None else other.graphs[to]
            description, nearest = repr(index), index.query(graph, k=k + 1)
        else:
            features = open_features(folder)
            description, nearest = repr(features), nearest_rows(features, to, k + 1)
    pairs = zip(nearest.ids.tolist(), nearest.similarities.tolist(), strict=True)
    itself = to if other is None else None
    rows = [{"graph": number, "similarity": value} for number, value in pairs if number != itself][:k]
    if output_format == "table":
        where = folder if other is None else other.name
        print_text(f"Most similar to graph {to} of {where}, {description}\n")
    print_records(rows, output_format, {"similarity": ".4f"})


@reads_data
def index(
    sources: Sources,
    output: Output,
    kernel: Annotated[
        KernelName, typer.Option("--kernel", metavar="KERNEL", help=f"Kernel: {KERNELS}.")
    ] = "propagation",
    t_max: arguments.TMax = 5,
    seed: arguments.Seed = 0,
    workers: Workers = None,
    nodes_per_part: Annotated[
        int,
        typer.Option(
            "--nodes-per-part", parser=parse_number, metavar="N", help="Maximum number of nodes per shard."
        ),
    ] = 2_000_000,
    add: Annotated[bool, typer.Option("--add", help="Add graphs to an existing index.")] = False,
    *,
    source_options: Input,
) -> None:
    """Index files of graphs on disk, for searches.

    Writes one shard per part, either complete or absent. After an interruption, the same command resumes.
    With --add, an existing index gets further shards, with its kernel.
    """
    from propkernels.search.index import GraphIndex

    start = perf_counter()
    plan = plan_of(sources, nodes_per_part, source_options)
    print_text(repr(plan))
    executor = executor_of(workers, len(plan))
    with warnings_as_lines():
        if add:
            built = GraphIndex.open(output).add(plan, executor=executor)
        else:
            chosen = build_kernel(kernel, t_max, seed, 1)
            built = GraphIndex.build(plan, output, kernel=chosen, executor=executor)
    n_bytes = sum(group.manifest.n_bytes for group in built.groups)
    took = seconds(perf_counter() - start)
    print_text(f"Wrote {output}: {built!r}, {n_bytes / 1e6:,.1f} MB, in {took}. Next:")
    print_text(f"  propkernels similar {output} --to 0")
