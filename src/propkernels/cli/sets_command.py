"""``propkernels compare`` and ``propkernels duplicates``: two collections of graphs, and equal graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.console import Force, check_output, print_records, print_text, size_of, spinner
from propkernels.cli.inputs import Input, reads_data, with_common_labels

FORMATS = {"contribution": ".4g", "share_a": ".3f", "share_b": ".3f"}
COLUMNS = ("t", "contribution", "more_in", "share_a", "share_b", "labels", "graph")


@reads_data
def compare(
    names: Annotated[list[str], typer.Argument(metavar="A B...", help="Two data sets, or more.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Page to write: report.html."),
    ] = None,
    force: Force = False,
    permutations: Annotated[
        int, typer.Option("--permutations", min=1, metavar="N", help="Number of random exchanges of graphs.")
    ] = 999,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Number of surroundings.")] = 10,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    output_format: arguments.FormatOption = "table",
    *,
    source_options: Input,
) -> None:
    """Test whether two data sets are samples of one distribution.

    A small p-value means that they are not. The surroundings in which they differ are listed with the shares
    of graphs that have them, and the number of an example in the data set that has more of them. More than
    two data sets are compared pair by pair, with p-values adjusted for the number of pairs.
    """
    if len(names) < 2:
        raise ValueError(f"two data sets are needed, got {names[0]} alone")
    if output is not None:
        check_output(output, force, "report.html")
        if output.suffix.lower() != ".html":
            raise ValueError(f"{output}: a page is an .html file")
    several = with_common_labels([source_options.open(name, n_jobs=jobs) for name in names])
    if len(several) > 2:
        found = _compare_several(several, permutations, seed, jobs)
        print_records(found.records(), output_format, {"statistic": ".4g", "p_value": ".4g"})
        if output is not None:
            found.save(output)
            print_text(f"Wrote {output} ({size_of(output)}).")
        return
    left, right = several
    from propkernels.sets.comparing import compare as compare_graphs

    with spinner(f"Comparing {left.name} with {right.name}"):
        found = compare_graphs(
            left.graphs, right.graphs, n_permutations=permutations, random_state=seed, n_jobs=jobs
        )
    if output_format == "table":
        print_text(
            f"MMD^2 = {found.statistic:.6g} between {found.sizes[0]:,} and {found.sizes[1]:,} graphs, "
            f"p = {found.p_value:.4g} ({permutations:,} permutations)."
        )
    records = [{name: record[name] for name in COLUMNS} for record in found.witness.records(top)]
    texts = [record | {"labels": ", ".join(map(str, record["labels"]))} for record in records]
    if output_format == "table":
        texts = [_with_names(record, left.name, right.name) for record in texts]
    print_records(texts, output_format, FORMATS)
    if output is not None:
        found.save(output, names=(left.name, right.name))
        print_text(f"Wrote {output} ({size_of(output)}).")


def _with_names(record: dict[str, Any], left: str, right: str) -> dict[str, Any]:
    """Return a row of the table with the names of the data sets; those of one name are A and B."""
    first, second = (left, right) if left != right else ("A", "B")
    return {
        "t": record["t"],
        "contribution": record["contribution"],
        "more in": {"A": first, "B": second}.get(record["more_in"], record["more_in"]),
        first: f"{100 * record['share_a']:.1f} %",
        second: f"{100 * record['share_b']:.1f} %",
        "labels": record["labels"],
        "example": record["graph"],
    }


def _compare_several(several: list[Any], permutations: int, seed: int, jobs: int) -> Any:
    """Return the comparison of all pairs; data sets of one name are numbered."""
    from propkernels.sets.several import compare_several

    names = [data.name for data in several]
    keys = names if len(set(names)) == len(names) else [f"{name} ({i})" for i, name in enumerate(names, 1)]
    collections = {key: data.graphs for key, data in zip(keys, several, strict=True)}
    with spinner(f"Comparing {len(several)} data sets"):
        return compare_several(collections, n_permutations=permutations, random_state=seed, n_jobs=jobs)


@reads_data
def duplicates(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="One or more data sets.")],
    jobs: arguments.Jobs = -1,
    output_format: arguments.FormatOption = "table",
    *,
    source_options: Input,
) -> None:
    """List the graphs that are isomorphic to an earlier graph.

    Labels, attributes and weights must be equal. Graphs of several data sets are compared with each other.
    """
    several = with_common_labels([source_options.open(name, n_jobs=jobs) for name in names])
    from propkernels.convert.check import check_edges
    from propkernels.sets.hashes import unique

    graphs = [check_edges(data.graphs) for data in several]
    origins = [(data.name, i) for data in several for i in range(len(data.graphs))]
    with spinner("Comparing graphs"):
        _, index, inverse = unique(graphs[0].concat(graphs), return_inverse=True, n_jobs=jobs)
    records = [
        {"data": name, "graph": i, "equals_data": origins[index[c]][0], "equals_graph": origins[index[c]][1]}
        for place, ((name, i), c) in enumerate(zip(origins, inverse.tolist(), strict=True))
        if index[c] != place
    ]
    if output_format == "table":
        print_text(f"{len(records):,} of {len(origins):,} graphs are equal to an earlier one.")
    if records or output_format != "table":
        print_records(records, output_format)
