"""Grid: one image of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.labels import UNOBSERVED, LabelColumn

if TYPE_CHECKING:
    from propkernels.graphs.grid_database import GridDatabase


class Grid:
    """One image, as taken from a GridDatabase by ``grids[i]`` or by iterating over it.

    Attributes
    ----------
    database : GridDatabase
        A database that holds this image alone.
    """

    def __init__(self, database: GridDatabase) -> None:
        if len(database) != 1:
            raise ValueError(f"a Grid is made of a database with one image, got {len(database)}")
        self.database = database

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of the image along each axis."""
        return tuple(int(length) for length in self.database.shapes[0])

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Which pixels count; None where all do."""
        inside = self.database.inside_of(0)
        return None if inside is None else inside.reshape(self.shape)

    @property
    def image(self) -> NDArray[Any]:
        """The image as it was given: labels, or (..., k) distributions; -1 or NaN where there is none."""
        labels = self.database.label_column
        if isinstance(labels, LabelColumn):
            return self._spread(labels.to_array(), UNOBSERVED)
        rows = labels.probabilities.toarray()
        return self._spread(np.where(labels.known[:, None], rows, np.nan), np.nan)

    def _spread(self, values: NDArray[Any], blank: Any) -> NDArray[Any]:
        mask = self.mask
        if mask is None:
            return values.reshape(*self.shape, *values.shape[1:])
        image = np.full(self.shape + values.shape[1:], blank, dtype=values.dtype)
        image[mask] = values
        return image

    @property
    def node_labels(self) -> NDArray[Any]:
        """Labels of the counted pixels."""
        return self.database.node_labels

    @property
    def n_nodes(self) -> int:
        """Number of counted pixels."""
        return self.database.n_nodes

    def __eq__(self, other: object) -> bool:
        return self.database == other.database if isinstance(other, Grid) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from propkernels.graphs.grid_summary import describe, sizes

        return f"Grid({sizes(self.database).removeprefix(' of ')}, {describe(self.database)})"
