"""``propkernels similar`` and ``novelty``: graphs most similar to a graph, and graphs unlike a data set."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments, console
from propkernels.cli.explain_command import PICTURES, draw

if TYPE_CHECKING:
    from propkernels import GraphIndex
    from propkernels.datasets import Dataset


@arguments.reads_data
def similar(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Data set (as for 'fit'), or index saved by save_model.")
    ],
    graph: arguments.GraphNumber,
    k: Annotated[int, console.option("-k", "Number of similar graphs.", "N", min=1)] = 10,
    source: Annotated[
        str | None, console.option("--from", "Data set of the query graph; default: NAME.", "NAME")
    ] = None,
    kernel: arguments.KernelOption = "auto",
    t_max: Annotated[
        int | None,
        console.option("--t-max", "Propagation steps; default: 5 (molecules of a file: 2).", "N", min=0),
    ] = None,
    seed: arguments.Seed = 0,
    output: Annotated[
        Path | None, console.option("--output -o", "CSV file of the similar graphs.", "FILE")
    ] = None,
    force: console.Force = False,
    output_format: arguments.FormatOption = "table",
    jobs: arguments.Jobs = -1,
    *,
    source_options: arguments.Input,
) -> None:
    """Search a data set for the graphs most similar to a graph.

    Similarity is the normalized kernel: 1 for graphs with equal features. By default, molecules of a
    file are compared as fingerprints are: by the Tanimoto (Jaccard) similarity of counts of neighborhoods, 0
    to 2 bonds wide. The graph itself is not listed. An index that Python saved is searched with its own
    kernel, for a graph of the data set --from.
    """
    if output is not None:
        console.check_output(output, force, "similar.csv")
    other = None if source is None else source_options.open(source, n_jobs=jobs)
    if is_model_file(name):
        if other is None:
            raise ValueError(f"{name} is an index: name the data set of the query graph with --from")
        from propkernels import GraphIndex, load_model

        index, data = load_model(name), None
        if not isinstance(index, GraphIndex):
            raise ValueError(f"{name} contains a {type(index).__name__}, not an index")
    else:
        data = source_options.open(name, n_jobs=jobs)
        if other is not None:
            data, other = arguments.with_common_labels([data, other])
    queried: Any = data if other is None else other
    arguments.check_graph(queried, graph)
    if data is not None:
        index = build_index(data, kernel, t_max, seed, jobs)
    index.set_params(n_jobs=jobs)
    with console.spinner("Searching"):
        itself = None if other is not None else graph
        nearest = index.query(queried.graphs[graph], k=k if itself is None else k + 1)
    pairs = zip(nearest.ids.tolist(), nearest.similarities.tolist(), strict=True)
    rows = [(number, value) for number, value in pairs if number != itself][:k]
    measure = "" if index.similarity == "cosine" else f"the {index.similarity.title()} similarity of\n"
    by = f"{measure}{arguments.describe_kernel(index.kernel_)}"
    heading = f"Most similar to g{arguments.title_of(queried, graph)[1:]}, by {by}"
    if output_format == "table":
        console.print_text(f"{heading}\n")
    found = records(rows, data)
    console.print_records(found, output_format, {"similarity": ".4f"})
    if output is not None:
        console.write_records(output, found)
        typer.echo(f"\nWrote {output}.", err=output_format != "table")


def build_index(
    data: Dataset, kernel: arguments.KernelName, t_max: int | None, seed: int, jobs: int
) -> GraphIndex:
    """Return an index of the graphs of a data set."""
    from propkernels import GraphIndex

    similarity = "cosine"
    chosen = molecule_kernel(data.graphs, 2 if t_max is None else t_max) if kernel == "auto" else None
    if chosen is not None:
        similarity = "jaccard"
    else:
        name = "propagation" if kernel == "auto" else kernel
        chosen = arguments.build_kernel(name, 5 if t_max is None else t_max, seed, jobs)
    with console.spinner(f"Indexing {data.name}"):
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
    from propkernels.storage.model_files import HEADER

    if not Path(name).is_file():
        return False
    with open_regular(name) as stream:
        if not zipfile.is_zipfile(stream):
            return False
        with zipfile.ZipFile(stream) as archive:
            return HEADER in archive.namelist()


def records(rows: list[tuple[Any, float]], data: Dataset | None) -> list[dict[str, Any]]:
    """Return one record per graph: its id, its similarity and, of a data set, its target and size."""
    if data is None:
        return [{"graph": number, "similarity": similarity} for number, similarity in rows]
    target = data.target.tolist() if data.target.ndim == 1 else None
    return [
        {
            "graph": number,
            **({"name": arguments.name_of(data, number)} if arguments.name_of(data, number) else {}),
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
    return (
        f"{target:.4g}" if isinstance(target, float) else str(data.graphs.names.classes.get(target, target))
    )


# novelty

FORMATS = {"score": ".4f", "p_value": ".4f"}


@arguments.reads_data
def novelty(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Data set of normal graphs.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Data set of graphs to score.")],
    output: Annotated[
        list[Path] | None,
        console.option(
            "--output -o", "CSV file of scores; with -g also an image, such as graph.png.", "FILE"
        ),
    ] = None,
    explain: Annotated[
        int | None, console.option("--graph -g", "Explain the nodes of graph N of NEW.", "N", min=0)
    ] = None,
    force: console.Force = False,
    top: Annotated[int, console.option("--top", "Number of graphs and nodes to print.", "N", min=1)] = 10,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    output_format: arguments.FormatOption = "table",
    *,
    source_options: arguments.Input,
) -> None:
    """Find graphs that are unlike the graphs of another data set.

    A small p-value means that few normal graphs are as unusual. With -g, the nodes of a graph are
    listed by contribution to its novelty, with the first step at which their neighborhoods are unseen.
    """
    table, image = outputs(output or [], explain, force)
    normal, data = arguments.with_common_labels(
        [source_options.open(name, n_jobs=jobs) for name in (train, new)]
    )
    if explain is not None:
        arguments.check_graph(data, explain)
    from propkernels import NoveltyDetector

    detector = NoveltyDetector(random_state=seed, n_jobs=jobs)
    with console.spinner(f"Learning from {normal.name}"):
        detector.fit(normal.graphs)
    with console.spinner(f"Scoring {data.name}"):
        records = score_records(detector, data.graphs, arguments.ids_of(data))
    is_table = output_format == "table"
    if table is not None:
        console.write_records(table, records)
    if is_table:
        number = sum(record["novel"] == "yes" for record in records)
        share = f"{number} of {len(records)} graphs of {data.name}"
        console.print_text(
            f"{share} are unlike the {len(normal.graphs)} of {normal.name}. The least likely first:\n"
        )
    order = sorted(records, key=lambda record: (record["p_value"], record["score"]))[:top]
    console.print_records(order, output_format, FORMATS)
    if explain is not None:
        _explain(detector, data, explain, top, output_format, image)
    for file in (table, image):
        if file is not None:
            typer.echo(f"Wrote {file}.", err=not is_table)


def outputs(files: list[Path], explain: int | None, force: bool) -> tuple[Path | None, Path | None]:
    """Return the file of scores and the image; raise ValueError if they are not writable."""
    images = [file for file in files if file.suffix.lower() in PICTURES]
    tables = [file for file in files if file not in images]
    if len(tables) > 1 or len(images) > 1:
        raise ValueError("-o takes one file of scores and one image at most")
    if images and explain is None:
        raise ValueError(f"{images[0]} needs a graph to draw: choose one with -g N")
    for table in tables:
        console.check_output(table, force, "scores.csv")
    for image in images:
        console.check_output(image, force, "graph.png")
    return tables[0] if tables else None, images[0] if images else None


def score_records(detector: Any, graphs: Any, ids: Any = None) -> list[dict[str, Any]]:
    """Return one record per graph: number, id if there are ids, score, p-value and decision."""
    scores, chances = detector.score_samples(graphs), detector.predict_p(graphs)
    novel = scores < detector.offset_
    return [
        {
            "graph": i,
            **({} if ids is None else {"id": ids[i]}),
            "score": float(s),
            "p_value": float(p),
            "novel": "yes" if is_novel else "no",
        }
        for i, (s, p, is_novel) in enumerate(zip(scores, chances, novel, strict=True))
    ]


def _explain(
    detector: Any, data: Dataset, graph: int, top: int, output_format: str, image: Path | None
) -> None:
    explanation = detector.explain(data.graphs[[graph]])
    records = [r | {"graph": graph} for r in explanation.top_nodes(0, top)]
    if output_format == "table":
        console.print_text(f"\n{arguments.title_of(data, graph)}: nodes by contribution to its novelty.\n")
        steps = [key for key in records[0] if key.startswith("t") and key[1:].isdigit()] if records else []
        console.print_records(records, output_format, dict.fromkeys(("total", *steps), ".3f"))
    if image is not None:
        title = f"{arguments.title_of(data, graph)}: novelty {explanation.decisions[0]:.3g}"
        draw(explanation, title, data, graph, image)
