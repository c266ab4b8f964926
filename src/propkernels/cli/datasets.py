"""``propkernels datasets``: what can be loaded by name; ``propkernels convert``: from one form to another."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import Format, FormatOption
from propkernels.cli.console import Force, print_records, print_text, spinner


def datasets(output_format: FormatOption = Format.table) -> None:
    """List the data sets that are known by name."""
    from propkernels.datasets import list_datasets

    known = list_datasets()
    if output_format is not Format.table:
        print_records([asdict(info) for info in known], output_format)
        return
    print_text(str(known))
    print_text(
        "\nA path can be given instead of a name: a TU folder or zip, Parquet, CSV, SDF or SMI files of"
    )
    print_text("molecules, a folder of images, or tables of edges and nodes.")


def convert(
    source: arguments.Name,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="graphs.parquet, NAME.zip (TU), NAME_edges.csv (and nodes, graphs), or a TU folder.",
        ),
    ],
    force: Force = False,
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out molecules and graphs that cannot be read.")
    ] = False,
    node_labels: Annotated[
        str,
        typer.Option(
            "--node-labels", help="Atoms of molecules: symbol, symbol+aromatic, invariants or pharmacophore."
        ),
    ] = "symbol",
    jobs: arguments.Jobs = -1,
    smiles_column: arguments.SmilesColumn = None,
    target_column: arguments.TargetColumn = None,
) -> None:
    """Write a data set in another form.

    Everything that graphs carry goes along: labels, attributes, weights where the form has them, ids and
    the target. With --skip, what was left out is listed.
    """
    from propkernels.datasets import open_source
    from propkernels.datasets.sources import save_source

    with spinner(f"Reading {source}"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="skipped")
        data = open_source(
            source,
            smiles_column=smiles_column,
            target_column=target_column,
            target_required=False,
            node_labels=node_labels,
            errors="skip" if skip else "raise",
            n_jobs=jobs,
        )
    with spinner(f"Writing {output}"):
        save_source(data, output, overwrite=force)
    print_text(f"Wrote {output}: {data!r}.")
    skipped = getattr(data.graphs, "skipped", {})
    if skipped:
        print_text(f"Left out {len(skipped)}:")
        for name, reason in skipped.items():
            print_text(f"  {name}: {reason}")
