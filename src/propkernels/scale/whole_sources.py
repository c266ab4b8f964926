"""Parts of other data sets, which are read at once: graph and SDF files, tables of edges, images, clouds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from propkernels._utils.safe_files import read_regular
from propkernels.scale.pieces import GraphBlock, Survey
from propkernels.scale.plan import Part, Reading
from propkernels.scale.tu_folders import blocks_of, survey_of


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a data set into pieces."""
    content = content_digest(path)
    return survey_of(_data(str(path), reading, content), content, nodes_per_part)


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files of a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        content = read_regular(file)
        digest.update(f"{file.relative_to(path.parent).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def digest(part: Part) -> str:
    """Return the SHA-256 of the current files of a part."""
    return content_digest(Path(part.path))


@lru_cache(maxsize=1)
def _data(path: str, reading: Reading, content: str) -> Any:
    """Return a data set; cached, because its parts are read one after another."""
    from propkernels.convert.atoms import RECIPES
    from propkernels.datasets.sources import read_source
    from propkernels.graphs import GridDatabase

    labels = tuple(reading.node_labels.split(","))
    are_recipes = set(labels) <= set(RECIPES)
    how = replace(
        reading.of_molecules(),
        target_columns=() if reading.target_column is None else (reading.target_column,),
        node_labels=() if are_recipes else labels,
        atom_labels=labels if are_recipes else ("symbol",),
        target_required=False,
    )
    data = read_source(path, how)
    return replace(data, graphs=data.graphs.to_graphs()) if isinstance(data.graphs, GridDatabase) else data


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the graphs of a part in blocks."""
    return blocks_of(_data(part.path, part.reading, part.sha256), part)
