"""Co-occurrence matrices: the baselines GLCM-gray and GLCM-quant of the paper's table on grid graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import ImageInput, check_integer, kind_of
from propkernels._utils.optional import import_optional
from propkernels.graphs.grid_database import GridDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.images.gray_levels import GrayLevels, Images, Outside, Scale

ANGLES = (0.0, np.pi / 4, np.pi / 2, 3 * np.pi / 4)


class Cooccurrence(ImageInput, TransformerMixin, BaseEstimator, ABC):
    """Base class: one symmetric co-occurrence matrix per distance, averaged over directions."""

    n_levels_: int
    distances: Sequence[int]

    def fit(self, X: Images | GridDatabase, y: object = None) -> Self:
        """Learn the number of levels."""
        self._check_distances()
        self.n_levels_ = self._learn_levels(X)
        return self

    def transform(self, X: Images | GridDatabase) -> NDArray[np.float64]:
        """Return one row per image: the upper triangles of its co-occurrence matrices, as frequencies."""
        check_is_fitted(self, "n_levels_")
        grids = self._to_grids(X)
        distances = self._check_distances()
        rows = [_cooccurrences(levels, self.n_levels_, distances) for levels in self._levels(grids)]
        return np.stack(rows) if rows else np.empty((0, 0))

    def _check_distances(self) -> list[int]:
        distances = [check_integer(distance, "distances", 1) for distance in self.distances]
        if not distances:
            raise ValueError("distances must name at least one distance")
        return distances

    def _levels(self, grids: GridDatabase) -> list[NDArray[np.int64]]:
        """Return the levels of each image; pixels that do not count get level ``n_levels_``."""
        images = []
        for grid in grids:
            values = self._number(grid.node_labels)
            image = np.full(grid.shape, self.n_levels_, dtype=np.int64)
            image[slice(None) if grid.mask is None else grid.mask] = (
                values.reshape(grid.shape) if grid.mask is None else values
            )
            images.append(image)
        return images

    @abstractmethod
    def _learn_levels(self, images: Any) -> int:
        """Validate the parameters and return the number of levels."""

    @abstractmethod
    def _to_grids(self, images: Any) -> GridDatabase:
        """Return the images as grids of labels."""

    def _number(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Return levels; labels that are unobserved or new since fit become ``n_levels_``."""
        return np.where((labels >= 0) & (labels < self.n_levels_), labels, self.n_levels_)


class GrayCooccurrence(Cooccurrence):
    """Co-occurrence of gray levels of neighboring pixels (Haralick, 1973); GLCM-gray in the paper.

    Parameters
    ----------
    n_levels : int, default=8
        Number of gray levels of the quantized images.
    distances : sequence of int, default=(1,)
        Distances between the two pixels of a pair, in four directions; diagonal ones as scikit-image
        rounds them.
    scale, outside
        As in :class:`GrayLevels`.

    Examples
    --------
    >>> import numpy as np
    >>> from propkernels.images import GrayCooccurrence
    >>> board = (np.indices((4, 4)).sum(axis=0) % 2).astype(float)
    >>> GrayCooccurrence(n_levels=2).fit_transform([board])  # dark-dark, dark-bright, bright-bright
    array([[0.21428571, 0.57142857, 0.21428571]])
    """

    def __init__(
        self,
        n_levels: int = 8,
        *,
        distances: Sequence[int] = (1,),
        scale: Scale = "full",
        outside: Outside = None,
    ) -> None:
        self.n_levels = n_levels
        self.distances = distances
        self.scale = scale
        self.outside = outside

    def _learn_levels(self, images: Any) -> int:
        self._quantizer().fit(images)
        return check_integer(self.n_levels, "n_levels", 1)

    def _to_grids(self, images: Any) -> GridDatabase:
        return self._quantizer().fit(images).transform(images)

    def _quantizer(self) -> GrayLevels:
        return GrayLevels(self.n_levels, scale=self.scale, outside=self.outside)


class LabelCooccurrence(Cooccurrence):
    """Co-occurrence of labels of neighboring pixels of a GridDatabase; GLCM-quant in the paper.

    Parameters
    ----------
    distances : sequence of int, default=(1,)
        Distances between the two pixels of a pair, in four directions; diagonal ones as scikit-image
        rounds them.
    """

    def __init__(self, *, distances: Sequence[int] = (1,)) -> None:
        self.distances = distances

    def _learn_levels(self, images: Any) -> int:
        labels = self._to_grids(images).label_values
        if any(type(label) is not int or label < 0 for label in labels):
            raise ValueError("co-occurrence needs the labels 0, 1, 2, ... of pixels")
        return max((int(label) for label in labels if isinstance(label, int)), default=0) + 1

    def _to_grids(self, images: Any) -> GridDatabase:
        if not isinstance(images, GridDatabase):
            raise TypeError(f"LabelCooccurrence takes a GridDatabase, got {kind_of(images)}")
        if images.dimension != 2 or not isinstance(images.label_column, LabelColumn):
            raise ValueError("co-occurrence needs two-dimensional images with one label per pixel")
        return images


def _cooccurrences(image: NDArray[np.int64], n_levels: int, distances: Sequence[int]) -> NDArray[np.float64]:
    """Return upper triangles of an image's co-occurrence matrices; level ``n_levels`` does not count."""
    matrix = _graycomatrix()(image.astype(np.uint16), distances, ANGLES, levels=n_levels + 1, symmetric=True)[
        :n_levels, :n_levels
    ]
    counts = matrix.sum(axis=3).astype(np.float64)
    symmetric = counts + counts.swapaxes(0, 1)  # adds (i, j) and (j, i), so the diagonal is reset below
    np.einsum("iid->id", symmetric)[:] = np.einsum("iid->id", counts)
    upper = symmetric[np.triu_indices(n_levels)]
    total = upper.sum(axis=0)
    return np.asarray((upper / np.where(total > 0, total, 1.0)).T.ravel())


def _graycomatrix() -> Any:
    purpose = "co-occurrence matrices need"
    return import_optional("skimage.feature", extra="images", purpose=purpose).graycomatrix
