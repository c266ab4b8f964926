"""Data sets as the paper uses them, and the computer that the results come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from propkernels.datasets import Dataset, load
from reproduction.data.pictures import load_brodatz, load_plants

STAND_INS = {
    "BRODATZ": "32 crops of the album, but not those of Brodatz32",
    "PLANTS": "the authors' excerpt: 146 regions of 3 classes instead of 2,957 of 6",
}
BRODATZ_VERSIONS = {
    "BRODATZ-O-R": ("original", "rotated"),
    "BRODATZ-O-R-S-RS": ("original", "rotated", "scaled", "rotated_scaled"),
}


class AbsentDataError(Exception):
    """The data set is neither here nor on a server that can be reached."""


def load_source(name: str) -> Dataset:
    """Load a data set; SYNTHETIC without the labels in its file, which the paper ignores.

    Raises
    ------
    AbsentDataError
        Where it is not to be had; one sentence says what is missing.
    """
    try:
        return _loaders().get(name, _graphs)(name)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) and "no data set" not in str(error):
            raise
        raise AbsentDataError(_short(name, error)) from None


def _loaders() -> dict[str, Callable[[str], Any]]:
    return {
        "SYNTHETIC": _without_labels,
        "BRODATZ": lambda _: load_brodatz(),
        "PLANTS": lambda _: load_plants(),
        **dict.fromkeys(BRODATZ_VERSIONS, _brodatz),
    }


def _graphs(name: str) -> Dataset:
    return load(name)


def _without_labels(name: str) -> Dataset:
    data = load(name)
    graphs: Any = data.graphs
    return replace(data, graphs=graphs.with_labels(None))


def _brodatz(name: str) -> Dataset:
    return replace(load_brodatz(BRODATZ_VERSIONS[name]), name=name)


def _short(name: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return " ".join(str(error).split())
    return f"{name}.zip is not here (PROPKERNELS_DATA names the folder where it is looked for)"
