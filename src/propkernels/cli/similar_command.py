"""``propkernels similar``: search for the graphs most similar to a given graph."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import (
    Input,
    KernelName,
    KernelOption,
    build_kernel,
    check_graph,
    describe_kernel,
    name_of,
    reads_data,
    title_of,
    with_common_labels,
)
from propkernels.cli.console import print_records, print_text, spinner

if TYPE_CHECKING:
    from propkernels import GraphIndex
    from propkernels.datasets import Dataset


@reads_data
def similar(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Data set (as for 'fit'), or index saved by save_model.")
    ],
    graph: arguments.GraphNumber,
    k: Annotated[int, typer.Option("-k", min=1, metavar="N", help="Number of similar graphs.")] = 10,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Data set of the query graph; default: NAME."),
    ] = None,
    kernel: KernelOption = "auto",
    t_max: Annotated[
        int | None,
        typer.Option("--t-max", min=0, metavar="N", help="Propagation steps; default: 5 (molecules: 2)."),
    ] = None,
    seed: arguments.Seed = 0,
    output_format: arguments.FormatOption = "table",
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Search a data set for the graphs most similar to a graph.

    Similarity is the normalized kernel: 1 for graphs with equal features. By default, molecules are compared
    as fingerprints are: by the Tanimoto (Jaccard) similarity of counts of neighborhoods, 0 to 2 bonds wide.
    The graph itself is not listed. An index that Python saved is searched with its own kernel, for a graph of
    the data set --from.
    """
    other = None if source is None else source_options.open(source, n_jobs=jobs)
    if is_model_file(name):
        if other is None:
            raise ValueError(f"{name} is an index: name the data set of the query graph with --from")
        index, data = read_index(name), None
    else:
        data = source_options.open(name, n_jobs=jobs)
        if other is not None:
            data, other = with_common_labels([data, other])
    queried: Any = data if other is None else other
    check_graph(queried, graph)
    if data is not None:
        index = build_index(data, kernel, t_max, seed, jobs)
    index.set_params(n_jobs=jobs)
    with spinner("Searching"):
        rows = search(index, queried.graphs[graph], k, None if other is not None else graph)
    measure = "" if index.similarity == "cosine" else f"the {index.similarity.title()} similarity of\n"
    heading = f"Most similar to g{title_of(queried, graph)[1:]}, by {measure}{describe_kernel(index.kernel_)}"
    if output_format == "table":
        print_text(f"{heading}\n")
    print_records(records(rows, data), output_format, {"similarity": ".4f"})


def build_index(data: Dataset, kernel: KernelName, t_max: int | None, seed: int, jobs: int) -> GraphIndex:
    """Return an index of the graphs of a data set."""
    from propkernels import GraphIndex

    similarity = "cosine"
    chosen = molecule_kernel(data.graphs, 2 if t_max is None else t_max) if kernel == "auto" else None
    if chosen is not None:
        similarity = "jaccard"
    else:
        name = "propagation" if kernel == "auto" else kernel
        chosen = build_kernel(name, 5 if t_max is None else t_max, seed, jobs)
    with spinner(f"Indexing {data.name}"):
        return GraphIndex(kernel=chosen, similarity=similarity, n_jobs=jobs).fit(data.graphs)


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


def is_model_file(name: str) -> bool:
    """Whether a path is a file written by save_model."""
    from propkernels._utils.safe_files import open_regular
    from propkernels.storage.archive import HEADER

    if not Path(name).is_file():
        return False
    with open_regular(name) as stream:
        if not zipfile.is_zipfile(stream):
            return False
        with zipfile.ZipFile(stream) as archive:
            return HEADER in archive.namelist()


def read_index(file: str) -> GraphIndex:
    """Return a saved index."""
    from propkernels import GraphIndex, load_model

    index = load_model(file)
    if not isinstance(index, GraphIndex):
        raise ValueError(f"{file} contains a {type(index).__name__}, not an index")
    return index


def search(index: GraphIndex, graph: Any, k: int, itself: int | None) -> list[tuple[Any, float]]:
    """Return ids and similarities of the k nearest graphs, without the graph itself."""
    nearest = index.query(graph, k=k if itself is None else k + 1)
    pairs = zip(nearest.ids.tolist(), nearest.similarities.tolist(), strict=True)
    return [(number, value) for number, value in pairs if number != itself][:k]


def records(rows: list[tuple[Any, float]], data: Dataset | None) -> list[dict[str, Any]]:
    """Return one record per graph: its id, its similarity and, of a data set, its target and size."""
    if data is None:
        return [{"graph": number, "similarity": similarity} for number, similarity in rows]
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
