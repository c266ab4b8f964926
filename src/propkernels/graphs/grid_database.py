"""GridDatabase: images and volumes as graphs without stored edges; Grid, a single image; types of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import freeze, frozen, offsets
from propkernels._utils.locks import cached_property
from propkernels._utils.typing import Array, NeighborhoodLike, Rows
from propkernels.graphs.container import Container, Graph, Single, count, databases_of, joined_rows, stretch
from propkernels.graphs.database import GraphDatabase, same_matrix
from propkernels.graphs.label_distributions import LabelDistributions, Labeling, concat_labels
from propkernels.graphs.labels import UNOBSERVED, LabelColumn
from propkernels.graphs.names import Names
from propkernels.graphs.neighborhoods import NEAREST
from propkernels.graphs.validation import (
    as_images,
    as_masks,
    check_attributes,
    check_image,
    check_node_labels,
    check_same_dimension,
    pixel_attributes,
)


class Grid(Single["GridDatabase"]):
    """A single image, as returned by ``grids[i]`` or by iterating over a GridDatabase.

    Attributes
    ----------
    database : GridDatabase
        A database of this image only.

    See Also
    --------
    GridDatabase : Many images.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> pk.GridDatabase([np.eye(3, dtype=int)])[0].shape
    (3, 3)
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of the image along each axis."""
        return tuple(int(length) for length in self.database.shapes[0])

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Boolean mask of the pixels that count; None if all count."""
        inside = self.database.inside_of(0)
        return None if inside is None else inside.reshape(self.shape)

    @property
    def image(self) -> Array:
        """Labels, or (..., k) distributions; -1 or NaN for unobserved and masked pixels."""
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

    def __repr__(self) -> str:
        return f"Grid({_sizes(self.database).removeprefix(' of ')}, {_describe(self.database)})"

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import thumbnail
        from propkernels.plotting.pages.fragments import Drawing, show_result

        return show_result(repr(self), Drawing(thumbnail(self.database, 0, side=240)))


class NoEdgesError(AttributeError, ValueError):
    """Grids store pixels, not edges."""


class GridDatabase(Container[Grid, LabelColumn | LabelDistributions]):
    """A list of grid graphs: labeled images, volumes or videos of any sizes (section "Grid Graphs").

    Only pixels are stored, not edges: the filter of the propagation scheme (:class:`Convolution`) defines
    neighbors. Like :class:`GraphDatabase`, it behaves like a list and keeps its type through scikit-learn's
    pipelines and cross-validation.

    Parameters
    ----------
    images : list of arrays
        Images with the same number of dimensions d. *Integers* are labels, one per pixel: shape (h, w) for
        pictures, (depth, h, w) for volumes, any d. *Floats* are label distributions, with the labels along
        an additional last axis: (h, w, k) for pictures. The label -1, a masked entry, and a distribution of
        NaN only are unobserved pixels.
    masks : list of boolean arrays or None, optional
        True for pixels that belong to their image. Other pixels are not counted and spread no labels.
    attributes : list of arrays, optional
        Numbers of each pixel, such as RGB values: shape (h, w, D) for pictures, one array per image. NaN is a
        missing value.

    Attributes
    ----------
    shapes : ndarray of int64, (n, d)
        Extent of each image.
    graph_ptr : ndarray of int64, (n + 1,)
        Image ``i`` has the counted pixels ``graph_ptr[i]`` to ``graph_ptr[i + 1] - 1``, in row-major
        order.
    inside : ndarray of bool or None
        One bool per pixel of all images: True if it is counted; None if all are.
    node_attributes : ndarray of shape (pixels, D) or None
        Attributes of the counted pixels.

    See Also
    --------
    GraphDatabase : General graphs.
    propkernels.propagation.Convolution : How labels spread on grids.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.4 and Algorithm 5.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> stripes, checks = np.indices((4, 6))[0] % 2, np.indices((3, 3)).sum(axis=0) % 2
    >>> grids = pk.GridDatabase([stripes, checks])
    >>> grids
    GridDatabase(2 images of 3-4 x 3-6, 33 pixels, 2 labels)
    >>> pk.PropagationKernel(t_max=2, random_state=0).fit_transform(grids).shape
    (2, 2)
    """

    _stored = ("shapes", "graph_ptr", "inside", "_labels", "names", "node_attributes")
    shapes: NDArray[np.int64]
    graph_ptr: NDArray[np.int64]
    inside: NDArray[np.bool_] | None
    node_attributes: NDArray[np.float64] | None = None

    edge_label_column = None
    edge_labels = None

    def __init__(
        self,
        images: Iterable[ArrayLike],
        masks: Iterable[ArrayLike | None] | None = None,
        attributes: Iterable[ArrayLike] | None = None,
    ) -> None:
        listed = as_images(images)
        checked = [
            check_image(image, mask, i)
            for i, (image, mask) in enumerate(zip(listed, as_masks(masks, len(listed)), strict=True))
        ]
        dimension = check_same_dimension([image.shape for image in checked])
        shapes = np.array([image.shape for image in checked], dtype=np.int64).reshape(-1, dimension)
        sizes = np.array([len(image.labels) for image in checked], dtype=np.int64)
        inside = None
        if any(image.inside is not None for image in checked):
            inside = np.concatenate(
                [np.ones(len(c.labels), dtype=bool) if c.inside is None else c.inside for c in checked]
            )
        labels = concat_labels([c.labels for c in checked]) if checked else LabelColumn.concat([])
        graph_ptr = offsets(sizes)
        numbers = None if attributes is None else pixel_attributes(attributes, checked)
        self._store(shapes, graph_ptr, inside, labels, check_attributes(numbers, graph_ptr))

    def _store(
        self,
        shapes: NDArray[np.int64],
        graph_ptr: NDArray[np.int64],
        inside: NDArray[np.bool_] | None,
        labels: LabelColumn | LabelDistributions,
        attributes: NDArray[np.float64] | csr_array | None = None,
    ) -> None:
        self.shapes, self.graph_ptr, self.inside, self._labels = shapes, graph_ptr, inside, labels
        self.node_attributes = attributes.toarray() if isinstance(attributes, csr_array) else attributes
        freeze(shapes, graph_ptr, inside, self.node_attributes)

    @classmethod
    def _assemble(cls, *parts: Any) -> GridDatabase:
        """Return a database of valid parts, without validation."""
        grids = cls.__new__(cls)
        grids._store(*parts)
        return grids

    # properties of images

    @property
    def attribute_matrix(self) -> NDArray[np.float64] | None:
        """The node attributes."""
        return self.node_attributes

    @property
    def dimension(self) -> int:
        """Number of axes of the images: 2 for pictures, 3 for volumes and videos."""
        return int(self.shapes.shape[1])

    @cached_property
    def pixel_ptr(self) -> NDArray[np.int64]:
        """Offsets of the images' pixels, including pixels outside masks."""
        return frozen(offsets(self.shapes.prod(axis=1)))

    def inside_of(self, i: int) -> NDArray[np.bool_] | None:
        """Return the flat mask of image ``i``; None without masks."""
        return None if self.inside is None else self.inside[self.pixel_ptr[i] : self.pixel_ptr[i + 1]]

    @property
    def adjacency(self) -> NoReturn:
        """Raise an error: grids have no adjacency."""
        raise NoEdgesError(
            "a GridDatabase stores pixels, not edges: use Convolution on it, "
            "or grids.to_graphs(neighborhood) for methods that need edges"
        )

    # these need edges
    degrees = is_unweighted = is_directed = directed_graphs = has_parallel_edges = n_edges = adjacency

    # list behavior

    def _single(self, position: int) -> Grid:
        return Grid(self._subset(np.array([position])))

    def _subset(self, positions: NDArray[np.int64]) -> GridDatabase:
        sizes = self.graph_sizes[positions]
        nodes = stretch(self.graph_ptr, positions)
        inside = None if self.inside is None else self.inside[stretch(self.pixel_ptr, positions)]
        graph_ptr = offsets(sizes)
        attributes = None if self.node_attributes is None else self.node_attributes[nodes]
        inside = None if inside is None or inside.all() else inside  # a mask that excludes no pixel
        return self._named(self.shapes[positions], graph_ptr, inside, self._labels.take(nodes), attributes)

    def _named(self, *parts: Any) -> GridDatabase:
        """Return a database of valid parts, with the names of this one."""
        grids = GridDatabase._assemble(*parts)
        grids.names = self.names
        return grids

    @staticmethod
    def concat(databases: Iterable[GridDatabase | Grid]) -> GridDatabase:
        """Concatenate databases or single grids of the same number of dimensions."""
        parts = databases_of(databases, GridDatabase)
        inhabited = [part for part in parts if len(part)] or parts[:1]
        if len(inhabited) <= 1:
            return inhabited[0] if inhabited else GridDatabase([])
        for i, part in enumerate(parts):
            if len(part) and part.dimension != inhabited[0].dimension:
                raise ValueError(
                    f"item {i} has images of {part.dimension} dimensions, others of {inhabited[0].dimension}"
                )
        sizes = np.concatenate([part.graph_sizes for part in inhabited])
        joined = GridDatabase._assemble(
            np.concatenate([part.shapes for part in inhabited]),
            offsets(sizes),
            _join_inside(inhabited),
            concat_labels([part.label_column for part in inhabited]),
            joined_rows(
                [part.node_attributes for part in inhabited],
                [part.n_nodes for part in inhabited],
                [f"item {i}" for i, part in enumerate(parts) if len(part)],
                "node attributes",
            ),
        )
        joined.names = Names.merge(part.names for part in inhabited)
        return joined

    def with_labels(self, node_labels: Labeling | None) -> GridDatabase:
        """Return the same grids with other labels of the counted pixels."""
        labels = check_node_labels(node_labels, self.graph_ptr)
        if labels is None:
            raise ValueError("the pixels of a GridDatabase have labels: give one for each counted pixel")
        return self._named(self.shapes, self.graph_ptr, self.inside, labels, self.node_attributes)

    def with_attributes(self, node_attributes: Rows | None) -> GridDatabase:
        """Return the same grids with other attributes of the counted pixels, one row each; None: without."""
        attributes = check_attributes(node_attributes, self.graph_ptr)
        return self._named(self.shapes, self.graph_ptr, self.inside, self._labels, attributes)

    def to_graphs(
        self, neighborhood: NeighborhoodLike = NEAREST, boundary: str = "renormalize"
    ) -> GraphDatabase:
        """Return the equivalent general graphs: pixel x has an edge to x + o with the weight B[o].

        Parameters
        ----------
        neighborhood : "nearest", (radius, points) or array, default="nearest"
            As in :class:`Convolution`.
        boundary : {"renormalize", "zero", "wrap", "reflect"}, default="renormalize"
            "wrap" and "reflect" add edges across the border. "renormalize" and "zero" return the same graphs
            and differ only in the normalization of :class:`Diffusion`.

        Examples
        --------
        >>> import numpy as np, propkernels as pk
        >>> pk.GridDatabase([np.zeros((3, 4), dtype=int)]).to_graphs((1, 4))
        GraphDatabase(1 graph, 12 nodes, 17 weighted edges, 1 node label)
        """
        from propkernels.graphs.neighborhoods import grids_to_graphs

        graphs: GraphDatabase = grids_to_graphs(self, neighborhood, boundary)
        graphs.names = self.names
        return graphs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GridDatabase):
            return NotImplemented
        return bool(
            np.array_equal(self.shapes, other.shapes)
            and same_matrix(self.inside, other.inside)
            and self._labels == other._labels
            and same_matrix(self.node_attributes, other.node_attributes)
        )

    __hash__ = None  # type: ignore[assignment]

    # display

    def __repr__(self) -> str:
        return f"GridDatabase({count(len(self), 'image')}{_sizes(self)}, {_describe(self)})"

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import show_database

        return show_database(self)


def _sizes(grids: GridDatabase) -> str:
    """Return the size of the images, " of 64 x 64", or a range of sizes per axis, " of 3-4 x 3-6"."""
    if len(grids) == 0:
        return ""
    low, high = grids.shapes.min(axis=0), grids.shapes.max(axis=0)
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return " of " + " x ".join(str(a) if a == b else f"{a}-{b}" for a, b in pairs)


def _describe(grids: GridDatabase) -> str:
    """Return the numbers of pixels, labels, masked and unobserved pixels as text."""
    parts = [count(grids.n_nodes, "pixel"), count(len(grids.label_values), "label")]
    if grids.node_attributes is not None:
        parts.append(count(grids.node_attributes.shape[1], "attribute"))
    outside = int(grids.pixel_ptr[-1]) - grids.n_nodes
    if outside:
        parts.append(f"{outside} masked out")
    missing = int(np.count_nonzero(~grids.label_column.observed))
    if missing:
        parts.append(f"{missing} unobserved")
    return ", ".join(parts)


def _join_inside(parts: list[GridDatabase]) -> NDArray[np.bool_] | None:
    if all(part.inside is None for part in parts):
        return None
    return np.concatenate([np.ones(p.n_nodes, dtype=bool) if p.inside is None else p.inside for p in parts])


# Everything that ``check_graphs`` takes: databases, and lists of graphs of networkx, igraph, RDKit, ...
Graphs: TypeAlias = GraphDatabase | GridDatabase | Iterable[Any]
Database: TypeAlias = GraphDatabase | GridDatabase
OneGraph: TypeAlias = Graph | Grid | GraphDatabase | GridDatabase | Any  # or a graph of another library


class GraphsWithTargets(Protocol):
    """Graphs with one target each, such as a :class:`~propkernels.datasets.Dataset`."""

    @property
    def graphs(self) -> Database:
        """The graphs."""

    @property
    def target(self) -> Array:
        """One class, number or row of targets per graph."""
