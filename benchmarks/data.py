"""Data sets of the benchmarks: those that lie on this machine, nothing is downloaded."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

BUNDLED = ("DIGITS",)
GENERATED = {"MOLECULES": 200}  # name: number of graphs
FILES = {"BRODATZ": "brodatz32", "PLANTS": "plants_demo.mat"}  # sets whose files have other names


def is_present(name: str | None) -> bool:
    """Tell whether a data set can be loaded without a network."""
    return name is None or name in BUNDLED or name in GENERATED or locate(name) is not None


def locate(name: str) -> Path | None:
    """Zip or folder of a data set."""
    from propkernels.datasets.dataset import cache_folder, data_folder, find_in

    file = FILES.get(name, name)
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (folder / file).is_file():
            return folder / file
        found = find_in(folder, file)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=4)
def load(name: str | None) -> Any:
    """Load a data set, or generate it; the last few are kept."""
    import propkernels as pk

    if name is None:
        return None
    if name in GENERATED:
        return pk.datasets.make_molecules(GENERATED[name], random_state=0)
    if name in FILES:
        from reproduction.engine.data import load_source

        return load_source(name)
    return pk.datasets.load(name)
