"""``propkernels datasets``: what can be loaded by name."""

from __future__ import annotations

from dataclasses import asdict

from propkernels.cli.arguments import Format, FormatOption
from propkernels.cli.console import print_records, print_text


def datasets(output_format: FormatOption = Format.table) -> None:
    """List the data sets that are known by name."""
    from propkernels.datasets import list_datasets

    known = list_datasets()
    if output_format is not Format.table:
        print_records([asdict(info) for info in known], output_format)
        return
    print_text(str(known))
    print_text("\nA path of a folder or zip in the TU layout can be given instead of a name.")
