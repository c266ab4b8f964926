"""``propkernels similar``: the graphs that are most similar to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import KernelName, build_kernel, compile_loops, describe_kernel, open_dataset
from propkernels.cli.console import cell, new_table, say, size_of, spinner, stdout

if TYPE_CHECKING:
    from propkernels import GraphIndex
    from propkernels.datasets import Dataset

SAME = 1 - 1e-9


def similar(
    name: arguments.Name,
    to: Annotated[int, typer.Option("--to", min=0, help="The graph to compare with, counted from 0.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many similar graphs.")] = 10,
    source: Annotated[
        str | None, typer.Option("--from", help="Data set that --to is in; by default the one searched.")
    ] = None,
    index_file: Annotated[
        Path | None, typer.Option("--index", help="File of an index: used if it exists, else written.")
    ] = None,
    kernel: Annotated[KernelName, typer.Option("--kernel", help="Kernel.")] = KernelName.propagation,
    t_max: Annotated[int, typer.Option("--t-max", min=0, help="Number of propagation steps.")] = 5,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
) -> None:
    """List the graphs of a data set that are most similar to one.

    Similarity is the normalised kernel, 1 for graphs that it cannot tell apart. The graph itself is left
    out.
    """
    data = open_dataset(name, target_required=False)
    other = None if source is None else open_dataset(source, target_required=False)
    asked = data if other is None else other
    if to >= len(asked.graphs):
        raise ValueError(f"{asked.name} has the graphs 0 to {len(asked.graphs) - 1}, not {to}")
    compile_loops()
    index = find_index(data, index_file, kernel, t_max, seed, jobs)
    index.set_params(n_jobs=jobs)
    with spinner("Searching"):
        rows = search(index, asked.graphs[to], k, None if other is not None else to)
    say(f"Most similar to graph {to} of {asked.name}, by {describe_kernel(index.kernel_)}\n")
    print_rows(rows, data)


def find_index(
    data: Dataset, file: Path | None, kernel: KernelName, t_max: int, seed: int, jobs: int
) -> GraphIndex:
    """Load the index if there is one; else build it, and keep it where asked."""
    from propkernels import GraphIndex
    from propkernels.storage import save_model

    if file is not None and file.exists():
        return open_index(file, data)
    chosen = KernelName.propagation if kernel is KernelName.auto else kernel
    with spinner(f"Indexing {data.name}"):
        index = GraphIndex(kernel=build_kernel(chosen, t_max, seed, jobs), n_jobs=jobs).fit(data.graphs)
        if file is not None:
            save_model(index, file)
    if file is not None:
        say(f"Wrote {file} ({size_of(file)}): an index of {len(index)} graphs.")
    return index


def open_index(file: Path, data: Dataset) -> GraphIndex:
    """Load an index, and make sure that it is one of this data set."""
    from propkernels import GraphIndex
    from propkernels.storage import load_model

    index = load_model(file)
    if not isinstance(index, GraphIndex):
        raise ValueError(f"{file} holds a {type(index).__name__}, not an index")
    if index.ids_.tolist() != list(range(len(data.graphs))):
        raise ValueError(f"{file} is an index of {len(index)} graphs, {data.name} has {len(data.graphs)}")
    similarity = index.query(data.graphs[0], k=1).similarities[0]
    if data.graphs.graph_sizes[0] and similarity < SAME:
        raise ValueError(f"{file} is an index of other graphs than those of {data.name}")
    return index


def search(index: GraphIndex, graph: Any, k: int, itself: int | None) -> list[tuple[int, float]]:
    """Return ids and similarities, without the graph itself."""
    found = index.query(graph, k=k if itself is None else k + 1)
    pairs = zip(found.ids.tolist(), found.similarities.tolist(), strict=True)
    return [(number, value) for number, value in pairs if number != itself][:k]


def print_rows(rows: list[tuple[int, float]], data: Dataset) -> None:
    """Print one row a graph: its number, similarity, target and size."""
    has_target = data.target.ndim == 1
    table = new_table([], ["graph", "similarity", *(["target"] if has_target else []), "nodes"])
    for number, similarity in rows:
        target = [cell(_text(data, data.target[number].item()))] if has_target else []
        table.add_row(str(number), f"{similarity:.4f}", *target, str(data.graphs.graph_sizes[number]))
    stdout().print(table)


def _text(data: Dataset, target: Any) -> str:
    """A class by its name, where the data set has names."""
    if isinstance(target, float):
        return f"{target:.4g}"
    classes = sorted(set(data.target.tolist()))
    return data.target_names[classes.index(target)] if data.target_names else str(target)
