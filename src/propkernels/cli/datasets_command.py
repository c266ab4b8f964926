"""``propkernels datasets``: data sets that can be loaded by name."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import fill

from propkernels.cli.arguments import FormatOption
from propkernels.cli.console import print_records, print_text


def datasets(output_format: FormatOption = "table") -> None:
    """List the data sets that can be loaded by name."""
    from propkernels.datasets import list_datasets
    from propkernels.datasets.sources import SUPPORTED

    listing = list_datasets()
    if output_format != "table":
        print_records([asdict(info) for info in listing], output_format)
        return
    print_text(str(listing))
    print_text("\n" + fill(f"A path can be given instead of a name: {SUPPORTED}.", 98))
