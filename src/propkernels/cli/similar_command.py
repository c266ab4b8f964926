"""``propkernels similar``: search for the graphs most similar to a given graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import (
    KERNELS,
    KernelName,
    build_kernel,
    check_graph,
    compile_loops,
    describe_kernel,
)
from propkernels.cli.console import print_records, print_text, size_of, spinner
from propkernels.cli.inputs import Input, name_of, reads_data, title_of, with_common_labels
from propkernels.cli.learning_command import is_index, is_parts, refuse, similar_parts

if TYPE_CHECKING:
    from propkernels import GraphIndex
    from propkernels.datasets import Dataset

DEFAULTS: dict[str, Any] = {"kernel": "auto", "t_max": 5, "seed": 0}


@reads_data
def similar(
    name: arguments.Name,
    to: Annotated[int, typer.Option("--to", min=0, metavar="N", help="Number of the query graph, from 0.")],
    k: Annotated[int, typer.Option("-k", min=1, metavar="N", help="Number of similar graphs.")] = 10,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Data set of the query graph; default: NAME."),
    ] = None,
    index_file: Annotated[
        Path | None,
        typer.Option("--index", metavar="FILE", help="Index file: used if it exists, else written."),
    ] = None,
    kernel: Annotated[
        KernelName | None,
        typer.Option("--kernel", metavar="KERNEL", help=f"Kernel: {KERNELS}; default: that of the index."),
    ] = None,
    t_max: Annotated[
        int | None,
        typer.Option(
            "--t-max",
            min=0,
            metavar="N",
            help="Propagation steps; default: 5 (molecules: 2), or those of the index.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Seed; default: 0, or that of the index."),
    ] = None,
    output_format: arguments.FormatOption = "table",
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Search a data set for the graphs most similar to a graph.

    Similarity is the normalized kernel: 1 for graphs with equal features. By default, molecules are compared
    as fingerprints are: by the Tanimoto (Jaccard) similarity of counts of surroundings, 0 to 2 bonds wide.
    The graph itself is not listed. An index is valid only for the graphs and options it was built with.
    Folders written by 'featurize' or 'index' are searched on disk, part by part.
    """
    if is_parts(name) or is_index(name):
        chosen: dict[str, Any] = {"--index": index_file, "--kernel": kernel}
        chosen |= {"--t-max": t_max is not None, "--seed": seed is not None}
        refuse(chosen, f"{name} is searched unchanged")
        if is_parts(name):
            refuse({"--from": source}, f"{name} has features, not an index: see 'propkernels index'")
        similar_parts(name, to, k, output_format, jobs, query_source(source, to, source_options, jobs))
        return
    data = source_options.open(name, n_jobs=jobs)
    other = query_source(source, to, source_options, jobs)
    if other is not None and index_file is None:
        data, other = with_common_labels([data, other])
    queried = data if other is None else other
    check_graph(queried, to)
    compile_loops()
    options = {"kernel": kernel, "t_max": t_max, "seed": seed}
    index = find_index(data, index_file, {k: v for k, v in options.items() if v is not None}, jobs)
    index.set_params(n_jobs=jobs)
    with spinner("Searching"):
        rows = search(index, queried.graphs[to], k, None if other is not None else to)
    measure = "" if index.similarity == "cosine" else f"the {index.similarity.title()} similarity of\n"
    heading = f"Most similar to g{title_of(queried, to)[1:]}, by {measure}{describe_kernel(index.kernel_)}"
    if output_format == "table":
        print_text(f"{heading}\n")
    print_records(records(rows, data), output_format, {"similarity": ".4f"})


def query_source(source: str | None, to: int, options: Input, jobs: int) -> Dataset | None:
    """Return the data set of the query graph, which has a graph of this number; None if none is named."""
    if source is None:
        return None
    data = options.open(source, n_jobs=jobs)
    check_graph(data, to)
    return data


def find_index(data: Dataset, file: Path | None, options: dict[str, Any], jobs: int) -> GraphIndex:
    """Return the index of a file, or a new index, which is written if a file is given."""
    from propkernels import GraphIndex

    if file is not None and file.exists():
        return read_index(file, data, options)
    complete = DEFAULTS | options
    kernel, similarity = None, "cosine"
    if options.get("kernel", "auto") == "auto":
        kernel = molecule_kernel(data.graphs, options.get("t_max", 2))
    if kernel is None:
        complete["kernel"] = "propagation" if complete["kernel"] == "auto" else complete["kernel"]
        kernel = build_kernel(complete["kernel"], complete["t_max"], complete["seed"], jobs)
    else:
        similarity, complete["t_max"] = "jaccard", kernel.t_max
    with spinner(f"Indexing {data.name}"):
        index = GraphIndex(kernel=kernel, similarity=similarity, n_jobs=jobs).fit(data.graphs)
        if file is not None:
            write_index(index, file, data, complete)
    if file is not None:
        typer.echo(f"Wrote {file} ({size_of(file)}): an index of {len(index)} graphs.", err=True)
    return index


def molecule_kernel(graphs: Any, t_max: int) -> Any:
    """Return the kernel whose Jaccard similarity is that of ECFP4 counts [1]_, if atoms have several labels.

    References
    ----------
    .. [1] D. Rogers and M. Hahn (2010). Extended-connectivity fingerprints. Journal of Chemical Information
       and Modeling 50 (5), 742-754. doi:10.1021/ci100050t.
    """
    from propkernels import WeisfeilerLehman
    from propkernels.models.defaults import has_views

    if not has_views(graphs.label_column):
        return None
    return WeisfeilerLehman(t_max=t_max, labels="entries", edge_labels=graphs.edge_label_column is not None)


def write_index(index: GraphIndex, file: Path, data: Dataset, options: dict[str, Any]) -> None:
    """Save an index with the fingerprint of its graphs and its options."""
    from propkernels.graphs.fingerprint import fingerprint
    from propkernels.storage.model_files import write_model

    notes = {"graphs": fingerprint(data.graphs), **{key: str(value) for key, value in options.items()}}
    write_model(index, file, notes)


def read_index(file: Path, data: Dataset, options: dict[str, Any]) -> GraphIndex:
    """Return a saved index; raise ValueError if it has other graphs or other options."""
    from propkernels import GraphIndex
    from propkernels.graphs.fingerprint import fingerprint
    from propkernels.storage.model_files import read_model

    index, notes = read_model(file)
    if not isinstance(index, GraphIndex):
        raise ValueError(f"{file} contains a {type(index).__name__}, not an index")
    if index.ids_.tolist() != list(range(len(data.graphs))):
        raise ValueError(f"{file} is an index of {len(index)} graphs, {data.name} has {len(data.graphs)}")
    remedy = "remove it or name another file, to build a new index"
    if "graphs" not in notes:
        raise ValueError(f"{file} does not store the fingerprint of its graphs: {remedy}")
    if notes["graphs"] != fingerprint(data.graphs):
        raise ValueError(f"{file} is not an index of the graphs of {data.name}: {remedy}")
    for key, value in options.items():
        if notes.get(key) != str(value):
            option = f"--{key.replace('_', '-')}"
            raise ValueError(f"{file} was built with {option} {notes.get(key)}, not {value}: {remedy}")
    return index


def search(index: GraphIndex, graph: Any, k: int, itself: int | None) -> list[tuple[int, float]]:
    """Return ids and similarities of the k nearest graphs, without the graph itself."""
    nearest = index.query(graph, k=k if itself is None else k + 1)
    pairs = zip(nearest.ids.tolist(), nearest.similarities.tolist(), strict=True)
    return [(number, value) for number, value in pairs if number != itself][:k]


def records(rows: list[tuple[int, float]], data: Dataset) -> list[dict[str, Any]]:
    """Return one record per graph: number, similarity, target and size."""
    target = data.target.tolist() if data.target.ndim == 1 else None
    return [
        {
            "graph": number,
            **({"name": name_of(data, number)} if name_of(data, number) else {}),
            "similarity": similarity,
            **({"target": _text(data, target[number])} if target is not None else {}),
            "nodes": int(data.graphs.graph_sizes[number]),
            **({"smiles": data.extras["smiles"][number]} if "smiles" in data.extras else {}),
        }
        for number, similarity in rows
    ]


def _text(data: Dataset, target: Any) -> str | None:
    """Return a target as text, by class name if available; None if missing."""
    if target is None or target != target:
        return None
    if isinstance(target, float):
        return f"{target:.4g}"
    if not data.target_names:
        return str(target)
    classes = sorted(set(data.target.tolist()) - {None})
    return data.target_names[classes.index(target)]
