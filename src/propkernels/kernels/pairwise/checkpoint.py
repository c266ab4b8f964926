"""Checkpoints of kernel matrices: written at once or not at all, readable without pickle."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.pairwise.tiles import TiledMatrix
from propkernels.utils.files import atomic_write
from propkernels.utils.randomness import label_keys


def save_checkpoint(path: Any, matrix: TiledMatrix, fingerprint: str) -> None:
    """Write what is known to a file that replaces the one before when it is complete."""
    done = matrix.done.copy()  # first: a tile that another thread adds meanwhile is not yet marked
    with atomic_write(path) as file:
        np.savez(file, values=matrix.values, done=done, fingerprint=np.array(fingerprint))


def load_checkpoint(path: Any, matrix: TiledMatrix, fingerprint: str) -> None:
    """Fill in what a checkpoint knows, if there is one; refuse one of other graphs or parameters."""
    if not Path(path).exists():
        return
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in ("values", "done", "fingerprint")}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ValueError(f"checkpoint {path} is not readable: delete it, or name another file") from error
    if str(found["fingerprint"]) != fingerprint:
        raise ValueError(f"checkpoint {path} belongs to other graphs or parameters: name another file")
    matrix.values, matrix.done = found["values"], found["done"]


def fingerprint(graphs: GraphDatabase, estimator: Any, without: tuple[str, ...]) -> str:
    """A digest of the graphs and of all parameters that the kernel depends on."""
    digest = hashlib.sha256(type(estimator).__name__.encode())
    parameters = estimator.get_params(deep=False)
    digest.update(repr(sorted((k, repr(v)) for k, v in parameters.items() if k not in without)).encode())
    adjacency = graphs.adjacency
    arrays = [adjacency.indptr, adjacency.indices, adjacency.data, graphs.graph_ptr, graphs.node_attributes]
    for array in [*arrays, _keys(graphs.label_column), _keys(graphs.edge_label_column)]:
        digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _keys(column: Any) -> Any:
    if not isinstance(column, LabelColumn):
        return None
    return label_keys((*column.values, ("unobserved",)))[column.ids]
