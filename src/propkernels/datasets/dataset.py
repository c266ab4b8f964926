"""Dataset: graphs, what is to be predicted of them, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs import GraphDatabase, GridDatabase
from propkernels.graphs.display import count


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Graphs together with one target value (or row) per graph.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    graphs : GraphDatabase or GridDatabase
        The graphs.
    target : ndarray of shape (n,) or (n, columns)
        Class labels, integers as in the file; floats where the set is one for regression.
    target_names : tuple of str
        What the classes are called, in the order of their sorted labels; empty where the set does not say.
    extras : dict
        What else came with the graphs: "coordinates", "normals", "smiles", ...
    description : str
        The text that came with the set.
    label_names : dict
        What node labels are called where people read them, such as ``{0: "C", 1: "N"}``; empty where that is
        not known. The labels of ``graphs``, and hence all kernels, are those of the file.
    """

    name: str
    graphs: GraphDatabase | GridDatabase
    target: NDArray[Any]
    target_names: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    label_names: dict[Any, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.target) != len(self.graphs):
            raise ValueError(f"target has {len(self.target)} values for {len(self.graphs)} graphs")

    @property
    def n_classes(self) -> int | None:
        """Number of distinct class labels; None where the target is real-valued or has several columns."""
        is_class = self.target.ndim == 1 and self.target.dtype.kind in "iu"
        return len(np.unique(self.target)) if is_class else None

    def __repr__(self) -> str:
        contents = repr(self.graphs).partition("(")[2].removesuffix(")")
        columns = count(self.target[:1].size, "target column")
        target = columns if self.n_classes is None else _classes(self.n_classes)
        return f"Dataset({self.name}: {contents}, {target})"


def _classes(number: int) -> str:
    return "1 class" if number == 1 else f"{number} classes"
