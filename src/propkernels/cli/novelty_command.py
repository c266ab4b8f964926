"""``propkernels novelty``: graphs that are unlike the graphs of another data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import Input, ids_of, reads_data, title_of, with_common_labels
from propkernels.cli.console import Force, check_output, print_records, print_text, spinner, write_csv
from propkernels.cli.explain_command import SUFFIXES, check_picture, draw

if TYPE_CHECKING:
    from propkernels.datasets import Dataset

FORMATS = {"score": ".4f", "p_value": ".4f"}


@reads_data
def novelty(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Data set of normal graphs.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Data set of graphs to score.")],
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV file of scores; with -g also an image, such as graph.png.",
        ),
    ] = None,
    explain: Annotated[
        int | None,
        typer.Option("--graph", "-g", min=0, metavar="N", help="Explain the nodes of graph N of NEW."),
    ] = None,
    force: Force = False,
    top: Annotated[
        int, typer.Option("--top", min=1, metavar="N", help="Number of graphs and nodes to print.")
    ] = 10,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    output_format: arguments.FormatOption = "table",
    *,
    source_options: Input,
) -> None:
    """Find graphs that are unlike the graphs of another data set.

    A small p-value means that few normal graphs are as unusual. With -g, the nodes of a graph are
    listed by contribution to its novelty, with the first step at which their neighborhoods are unseen.
    """
    table, image = outputs(output or [], explain, force)
    normal, data = with_common_labels([source_options.open(name, n_jobs=jobs) for name in (train, new)])
    if explain is not None:
        arguments.check_graph(data, explain)
    from propkernels import NoveltyDetector

    detector = NoveltyDetector(random_state=seed, n_jobs=jobs)
    with spinner(f"Learning from {normal.name}"):
        detector.fit(normal.graphs)
    with spinner(f"Scoring {data.name}"):
        records = score_records(detector, data.graphs, ids_of(data))
    is_table = output_format == "table"
    if table is not None:
        header = list(records[0]) if records else ["graph", "score", "p_value", "novel"]
        write_csv(table, header, [list(record.values()) for record in records])
    if is_table:
        number = sum(record["novel"] == "yes" for record in records)
        share = f"{number} of {len(records)} graphs of {data.name}"
        print_text(f"{share} are unlike the {len(normal.graphs)} of {normal.name}. The least likely first:\n")
    order = sorted(records, key=lambda record: (record["p_value"], record["score"]))[:top]
    print_records(order, output_format, FORMATS)
    if explain is not None:
        _explain(detector, data, explain, top, output_format, image)
    for file in (table, image):
        if file is not None:
            typer.echo(f"Wrote {file}.", err=not is_table)


def outputs(files: list[Path], explain: int | None, force: bool) -> tuple[Path | None, Path | None]:
    """Return the file of scores and the image; raise ValueError if they are not writable."""
    images = [file for file in files if file.suffix[1:].lower() in SUFFIXES]
    tables = [file for file in files if file not in images]
    if len(tables) > 1 or len(images) > 1:
        raise ValueError("-o takes one file of scores and one image at most")
    if images and explain is None:
        raise ValueError(f"{images[0]} needs a graph to draw: choose one with -g N")
    for table in tables:
        check_output(table, force, "scores.csv")
    for image in images:
        check_picture(image, force)
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
        print_text(f"\n{title_of(data, graph)}: nodes by contribution to its novelty.\n")
        steps = [key for key in records[0] if key.startswith("t") and key[1:].isdigit()] if records else []
        print_records(records, output_format, dict.fromkeys(("total", *steps), ".3f"))
    if image is not None:
        title = f"{title_of(data, graph)}: novelty {explanation.decisions[0]:.3g}"
        draw(explanation, title, data, graph, image)
