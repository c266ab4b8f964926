"""Types of public parameters, by the names that an editor shows.

Graphs have their alias in :mod:`propkernels.graphs.grid_database`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import sparray, spmatrix

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Array: TypeAlias = NDArray[Any]  # of any dtype
Matrix: TypeAlias = NDArray[np.float64]  # numbers in rows
Values: TypeAlias = NDArray[np.float64]  # one number each
Indices: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = ArrayLike | sparray | spmatrix  # rows of numbers, dense or sparse
Column: TypeAlias = ArrayLike | Sequence[Any]  # one value each: labels, ids, weights; None where unknown
Target: TypeAlias = ArrayLike | Sequence[Any]  # one class or number per graph, or one row of several
Record: TypeAlias = dict[str, Any]  # a row of a table, by column
LabelNames: TypeAlias = Mapping[Any, str]  # texts of labels or classes

Floats: TypeAlias = float | Sequence[float] | NDArray[Any]
Steps: TypeAlias = int | Sequence[int] | NDArray[Any] | None  # values of t_max
PriorLike: TypeAlias = str | dict[str, float] | dict[Hashable, float] | Sequence[float] | NDArray[Any]
NeighborhoodLike: TypeAlias = str | Sequence[Any] | NDArray[Any]  # of pixels
Seed: TypeAlias = int | np.random.RandomState | None
Scoring: TypeAlias = str | Callable[..., float] | None
ClassWeight: TypeAlias = dict[Hashable, float] | str | None
BaseKernelLike: TypeAlias = str | Callable[[Array, Array], Array]

PathLike: TypeAlias = str | os.PathLike[str]
Molecule: TypeAlias = "str | Mol"
Molecules: TypeAlias = "Iterable[str | Mol]"


class Estimator(Protocol):
    """An estimator of scikit-learn: a kernel, features or a model."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters."""


class Picture(Protocol):
    """A picture of molecules, displayed by notebooks."""

    @property
    def svg(self) -> str:
        """The picture as SVG."""

    @property
    def png(self) -> bytes:
        """The picture as PNG."""

    def save(self, path: PathLike) -> None:
        """Write the picture to a .svg or .png file; an existing file is replaced."""


class Splitter(Protocol):
    """A splitter of scikit-learn, such as ``GroupKFold(5)``."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Array, Array]]:
        """Yield pairs of training and test positions."""


# A number of shuffled folds, "loo", a splitter, or pairs of training and test positions
Folding: TypeAlias = int | str | Splitter | Iterable[Any] | None
