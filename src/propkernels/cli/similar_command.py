"""``propkernels similar``: search for the graphs most similar to a given one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import KernelName, build_kernel, compile_loops, describe_kernel, open_dataset
from propkernels.cli.console import print_records, print_text, size_of, spinner
from propkernels.cli.learning_command import is_index, is_parts, refuse, similar_parts

if TYPE_CHECKING:
    from propkernels import GraphIndex
    from propkernels.datasets import Dataset

DEFAULTS: dict[str, Any] = {"kernel": KernelName.propagation.value, "t_max": 5, "seed": 0}


def similar(
    name: arguments.Name,
    to: Annotated[
        int, typer.Option("--to", min=0, metavar="N", help="The graph to compare with, counted from 0.")
    ],
    k: Annotated[int, typer.Option("-k", min=1, metavar="N", help="How many similar graphs.")] = 10,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Data set that --to is in; by default the one searched."),
    ] = None,
    index_file: Annotated[
        Path | None,
        typer.Option("--index", metavar="FILE", help="File of an index: used if it exists, else written."),
    ] = None,
    kernel: Annotated[
        KernelName | None, typer.Option("--kernel", help="Kernel; by default propagation, or the index's.")
    ] = None,
    t_max: Annotated[
        int | None,
        typer.Option("--t-max", min=0, metavar="N", help="Propagation steps; by default 5, or the index's."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Seed; by default 0, or the index's."),
    ] = None,
    output_format: arguments.FormatOption = arguments.Format.table,
    jobs: arguments.Jobs = -1,
    smiles_column: arguments.SmilesColumn = None,
    target_column: arguments.TargetColumn = None,
) -> None:
    """Search a data set for the graphs most similar to one.

    Similarity is the normalized kernel: 1 for graphs that it cannot tell apart. The graph itself is not
    listed. An index belongs to its graphs and options: with others it is refused. Folders that 'featurize' or
    'index' wrote are searched on the disk, part by part.
    """
    if is_parts(name) or is_index(name):
        chosen: dict[str, Any] = {"--from": source, "--index": index_file, "--kernel": kernel}
        chosen |= {"--t-max": t_max is not None, "--seed": seed is not None}
        refuse(chosen, f"{name} is searched as it is")
        similar_parts(name, to, k, output_format, jobs)
        return
    data = open_dataset(name, target_required=False, smiles_column=smiles_column, target_column=target_column)
    other = (
        None
        if source is None
        else open_dataset(
            source, target_required=False, smiles_column=smiles_column, target_column=target_column
        )
    )
    asked = data if other is None else other
    if to >= len(asked.graphs):
        raise ValueError(f"{asked.name} has the graphs 0 to {len(asked.graphs) - 1}, not {to}")
    compile_loops()
    options = {"kernel": kernel and kernel.value, "t_max": t_max, "seed": seed}
    index = find_index(data, index_file, {k: v for k, v in options.items() if v is not None}, jobs)
    index.set_params(n_jobs=jobs)
    with spinner("Searching"):
        rows = search(index, asked.graphs[to], k, None if other is not None else to)
    heading = f"Most similar to graph {to} of {asked.name}, by {describe_kernel(index.kernel_)}"
    if output_format is arguments.Format.table:
        print_text(f"{heading}\n")
    print_records(records(rows, data), output_format, {"similarity": ".4f"})


def find_index(data: Dataset, file: Path | None, options: dict[str, Any], jobs: int) -> GraphIndex:
    """Load the index if there is one; otherwise build it, and write it if asked to."""
    from propkernels import GraphIndex

    if file is not None and file.exists():
        return read_index(file, data, options)
    complete = DEFAULTS | options
    if complete["kernel"] == KernelName.auto:
        complete["kernel"] = KernelName.propagation.value
    kernel = build_kernel(KernelName(complete["kernel"]), complete["t_max"], complete["seed"], jobs)
    with spinner(f"Indexing {data.name}"):
        index = GraphIndex(kernel=kernel, n_jobs=jobs).fit(data.graphs)
        if file is not None:
            write_index(index, file, data, complete)
    if file is not None:
        typer.echo(f"Wrote {file} ({size_of(file)}): an index of {len(index)} graphs.", err=True)
    return index


def write_index(index: GraphIndex, file: Path, data: Dataset, options: dict[str, Any]) -> None:
    """Write an index together with the fingerprint of its graphs and the options it was built with."""
    from propkernels.graphs.fingerprint import fingerprint
    from propkernels.storage.model_files import write_model

    notes = {"graphs": fingerprint(data.graphs), **{key: str(value) for key, value in options.items()}}
    write_model(index, file, notes)


def read_index(file: Path, data: Dataset, options: dict[str, Any]) -> GraphIndex:
    """Load an index; refuse one of other graphs, or one that was built with other options."""
    from propkernels import GraphIndex
    from propkernels.graphs.fingerprint import fingerprint
    from propkernels.storage.model_files import read_model

    index, notes = read_model(file)
    if not isinstance(index, GraphIndex):
        raise ValueError(f"{file} holds a {type(index).__name__}, not an index")
    if index.ids_.tolist() != list(range(len(data.graphs))):
        raise ValueError(f"{file} is an index of {len(index)} graphs, {data.name} has {len(data.graphs)}")
    remedy = "remove it, or name another file, to have the index built again"
    if "graphs" not in notes:
        raise ValueError(f"{file} does not say which graphs it was built from: {remedy}")
    if notes["graphs"] != fingerprint(data.graphs):
        raise ValueError(f"{file} is an index of other graphs than those of {data.name}: {remedy}")
    for key, value in options.items():
        if notes.get(key) != str(value):
            option = f"--{key.replace('_', '-')}"
            raise ValueError(f"{file} was built with {option} {notes.get(key)}, not {value}: {remedy}")
    return index


def search(index: GraphIndex, graph: Any, k: int, itself: int | None) -> list[tuple[int, float]]:
    """Return ids and similarities, without the graph itself."""
    found = index.query(graph, k=k if itself is None else k + 1)
    pairs = zip(found.ids.tolist(), found.similarities.tolist(), strict=True)
    return [(number, value) for number, value in pairs if number != itself][:k]


def records(rows: list[tuple[int, float]], data: Dataset) -> list[dict[str, Any]]:
    """Return one record per graph: its number, similarity, target and size."""
    target = data.target.tolist() if data.target.ndim == 1 else None
    return [
        {
            "graph": number,
            "similarity": similarity,
            **({"target": _text(data, target[number])} if target is not None else {}),
            "nodes": int(data.graphs.graph_sizes[number]),
            **({"smiles": data.extras["smiles"][number]} if "smiles" in data.extras else {}),
        }
        for number, similarity in rows
    ]


def _text(data: Dataset, target: Any) -> str | None:
    """A class by its name, where the data set has names; None where it is missing."""
    if target is None or target != target:
        return None
    if isinstance(target, float):
        return f"{target:.4g}"
    if not data.target_names:
        return str(target)
    classes = sorted(set(data.target.tolist()) - {None})
    return data.target_names[classes.index(target)]
