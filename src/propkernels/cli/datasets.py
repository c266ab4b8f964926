"""``propkernels datasets``: what can be loaded by name."""

from __future__ import annotations

from propkernels.cli.console import say


def datasets() -> None:
    """List the data sets that are known by name."""
    from propkernels.datasets import list_datasets

    say(str(list_datasets()))
    say("\nOther names of the TUDataset collection work too, and paths of a folder or zip.")
