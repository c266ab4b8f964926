"""Validation of the input of databases; errors name the graph or image, and the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from propkernels._utils.arrays import check_sparse
from propkernels._utils.checks import kind_of, shown
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import UNOBSERVED, LabelColumn

SMALLEST_SUM = float(np.finfo(np.float64).tiny)
LARGEST_SUM = 2.0**1022  # largest power of two whose reciprocal is a normal number


def check_square(adjacency: Any) -> Any:
    """Return the adjacency as numpy array or scipy sparse, validated as a square matrix of real numbers."""
    matrix = adjacency if issparse(adjacency) else _dense(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"adjacency must be a square matrix, got shape {matrix.shape}")
    if np.dtype(matrix.dtype).kind not in "biuf":
        raise TypeError(f"adjacency must hold real numbers, got dtype {matrix.dtype}")
    return check_sparse(matrix, "adjacency") if issparse(matrix) else matrix


def _dense(adjacency: Any) -> NDArray[Any]:
    if isinstance(adjacency, np.ma.MaskedArray):
        return adjacency.filled(0)
    try:
        array = np.asarray(adjacency)
    except ValueError:
        raise ValueError("adjacency must be a matrix, got rows of different lengths") from None
    if array.dtype.kind not in "biufc":
        kind = kind_of(adjacency)
        raise TypeError(f"adjacency must be a matrix of numbers, dense or scipy sparse, got {kind}")
    return array


def sorted_csr(matrix: Any) -> csr_array:
    """Return a matrix as sorted float64 CSR without zeros; repeated entries are added up.

    Numbers are converted before they are added up, so that integers do not overflow. The arrays are always
    copies, because a database makes its arrays read-only; indices have 32 bits if these suffice, which halves
    memory traffic.
    """
    if not issparse(matrix):
        rows, columns = np.nonzero(matrix)
        indptr = np.searchsorted(rows, np.arange(len(matrix) + 1))
        csr = csr_array((matrix[rows, columns].astype(np.float64), columns, indptr), shape=matrix.shape)
    elif matrix.format == "csr":
        used = int(matrix.indptr[-1])
        arrays = (matrix.data[:used].astype(np.float64), matrix.indices[:used].copy(), matrix.indptr.copy())
        csr = csr_array(arrays, shape=matrix.shape)
    else:
        csr = csr_array(matrix if matrix.dtype == np.float64 else matrix.astype(np.float64))
    csr.sum_duplicates()
    if np.count_nonzero(csr.data) != csr.nnz:
        csr.eliminate_zeros()
    if max(csr.nnz, csr.shape[0]) < 2**31 and csr.indices.dtype != np.int32:
        arrays = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        return csr_array(arrays, shape=csr.shape)
    return csr


def check_labels(
    labels: Any, n: int, name: str, things: str, place: Callable[[int], str]
) -> LabelColumn | None:
    """Return encoded labels; raise ValueError unless there are ``n`` of them."""
    if labels is None:
        return None
    column = LabelColumn.from_values(labels, name=name, place=lambda i: place(i) if i < n else f"entry {i}")
    if len(column) != n:
        raise ValueError(f"{name} has {len(column)} values for {n} {things}")
    return column


def check_node_labels(labels: Any, graph_ptr: NDArray[np.int64]) -> LabelColumn | LabelDistributions | None:
    """Return encoded node labels, or label distributions, one per node."""
    n = int(graph_ptr[-1])
    if isinstance(labels, LabelDistributions) or looks_like_distributions(labels):
        distributions = labels if isinstance(labels, LabelDistributions) else LabelDistributions(labels)
        if len(distributions) != n:
            raise ValueError(f"node_labels has {len(distributions)} label distributions for {n} nodes")
        return distributions
    return check_labels(labels, n, "node_labels", "nodes", lambda i: name_node(i, graph_ptr))


def looks_like_distributions(labels: Any) -> bool:
    """Return whether labels are a matrix of probabilities instead of a list of labels."""
    shape: tuple[int, ...] = getattr(labels, "shape", ())
    return issparse(labels) or (hasattr(labels, "__array__") and len(shape) == 2 and shape[1] != 1)


def check_attributes(attributes: Any, graph_ptr: NDArray[np.int64]) -> NDArray[np.float64] | csr_array | None:
    """Return attributes as (N, D) float64, finite or NaN (not observed): sparse if they are, else dense."""
    if attributes is None:
        return None
    if issparse(attributes) and attributes.ndim == 2:
        return _check_sparse_attributes(attributes, graph_ptr)
    array = _rows_of_numbers(attributes, "node_attributes", int(graph_ptr[-1]), "nodes")
    infinite = np.isinf(array)
    if infinite.any():
        node, dimension = (int(i) for i in np.argwhere(infinite)[0])
        _refuse_infinite(node, dimension, array[node, dimension], graph_ptr)
    return array


def check_edge_attributes(attributes: Any, n_entries: int) -> NDArray[np.float64] | None:
    """Return a float64 array with one row per stored entry: finite or NaN (not observed)."""
    if attributes is None:
        return None
    array = _rows_of_numbers(attributes, "edge_attributes", n_entries, "stored entries of adjacency")
    if np.isinf(array).any():
        row, column = (int(i) for i in np.argwhere(np.isinf(array))[0])
        raise ValueError(f"edge_attributes: entry {row} is infinite in dimension {column}")
    return array


def _check_sparse_attributes(attributes: Any, graph_ptr: NDArray[np.int64]) -> csr_array:
    """Return a sorted float64 CSR copy without zeros."""
    n, matrix = int(graph_ptr[-1]), check_sparse(attributes, "node_attributes")
    if np.dtype(matrix.dtype).kind not in "biuf":
        raise TypeError(f"node_attributes must hold real numbers, got dtype {matrix.dtype}")
    if matrix.shape[0] != n:
        raise ValueError(f"node_attributes has {matrix.shape[0]} rows for {n} nodes")
    csr = sorted_csr(matrix)
    infinite = np.flatnonzero(np.isinf(csr.data))
    if infinite.size:
        node = int(np.searchsorted(csr.indptr, infinite[0], side="right")) - 1
        _refuse_infinite(node, int(csr.indices[infinite[0]]), csr.data[infinite[0]], graph_ptr)
    return csr


def _refuse_infinite(node: int, dimension: int, value: float, graph_ptr: NDArray[np.int64]) -> None:
    place = name_node(node, graph_ptr)
    raise ValueError(f"{place} has an infinite attribute in dimension {dimension}: {value}")


def _rows_of_numbers(attributes: Any, name: str, n_rows: int, noun: str) -> NDArray[np.float64]:
    """Return a float64 copy of attributes, (n_rows, D); masked entries become NaN."""
    try:
        raw = np.asarray(np.ma.getdata(attributes))
        if raw.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):  # overflows become infinite, which the caller refuses
            array = np.array(raw, dtype=np.float64, order="C")
    except OverflowError:
        raise ValueError(f"{name} hold a whole number that is too large for a float") from None
    except (TypeError, ValueError, RecursionError):
        raise TypeError(f"{name} must be an array of numbers, one row for each of {n_rows} {noun}") from None
    if isinstance(attributes, np.ma.MaskedArray):
        array[np.ma.getmaskarray(attributes)] = np.nan
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != n_rows:
        raise ValueError(f"{name} must have one row for each of {n_rows} {noun}, got shape {array.shape}")
    return array


def name_node(node: int, graph_ptr: NDArray[np.int64]) -> str:
    """Return "node i of graph g" for a node number of the database."""
    graph = _graph_of(node, graph_ptr)
    return f"node {node - int(graph_ptr[graph])} of graph {graph}"


def name_edge(row: int, column: int, graph_ptr: NDArray[np.int64]) -> str:
    """Return "edge (i, j) of graph g" for an entry of the adjacency."""
    graph = _graph_of(row, graph_ptr)
    start = int(graph_ptr[graph])
    return f"edge ({int(row) - start}, {int(column) - start}) of graph {graph}"


def _graph_of(node: int, graph_ptr: NDArray[np.int64]) -> int:
    return min(int(np.searchsorted(graph_ptr, node, side="right")), len(graph_ptr) - 1) - 1


def check_edges_stay_inside(adjacency: csr_array, graph_ptr: NDArray[np.int64]) -> None:
    """Raise ValueError for an edge between two graphs, given sorted columns."""
    sizes = np.diff(graph_ptr)
    rows = np.flatnonzero(np.diff(adjacency.indptr))
    # columns are sorted, so the first and last entry of a row decide
    first = adjacency.indices[adjacency.indptr[rows]]
    last = adjacency.indices[adjacency.indptr[rows + 1] - 1]
    outside_left = first < np.repeat(graph_ptr[:-1], sizes)[rows]
    outside = outside_left | (last >= np.repeat(graph_ptr[1:], sizes)[rows])
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        column = int(first[at] if outside_left[at] else last[at])
        source, target = name_node(int(rows[at]), graph_ptr), name_node(column, graph_ptr)
        raise ValueError(f"an edge leads from {source} to {target}: edges must stay inside one graph")


def check_weights(adjacency: csr_array, graph_ptr: NDArray[np.int64]) -> None:
    """Raise ValueError for weights that would make degrees, their reciprocals or path lengths non-normal.

    Errors name the edge of a negative, NaN or infinite weight. If the weights of each graph add up to less
    than ``LARGEST_SUM``, so do those of each node and path. For usual weights the minimum and maximum
    suffice.
    """
    data = adjacency.data
    if len(data) == 0 or (float(data.min()) >= SMALLEST_SUM and float(data.max()) * len(data) < LARGEST_SUM):
        return
    wrong = np.flatnonzero(~((data >= 0) & (data < np.inf)))
    if wrong.size:
        row = int(np.searchsorted(adjacency.indptr, wrong[0], side="right")) - 1
        edge = name_edge(row, adjacency.indices[wrong[0]], graph_ptr)
        raise ValueError(f"{edge} has weight {data[wrong[0]]}: weights must be finite and not negative")
    _check_sums(adjacency, graph_ptr)


def _check_sums(adjacency: csr_array, graph_ptr: NDArray[np.int64]) -> None:
    """Raise ValueError for graphs with too large and nodes with too small sums of weights."""
    data, n_nodes = adjacency.data, adjacency.shape[0]
    graphs = np.repeat(np.arange(len(graph_ptr) - 1), np.diff(adjacency.indptr[graph_ptr]))
    large = np.flatnonzero(np.bincount(graphs, data * 2.0**-64) >= LARGEST_SUM * 2.0**-64)
    if large.size:
        limit = f"{LARGEST_SUM:.3g}: divide them by a constant"
        raise ValueError(f"the weights of graph {large[0]} add up to more than {limit}")
    rows = np.repeat(np.arange(n_nodes), np.diff(adjacency.indptr))
    for ends in (rows, adjacency.indices):  # outgoing edges, then incoming edges
        sums = np.bincount(ends, data, n_nodes)
        small = np.flatnonzero((sums > 0) & (sums < SMALLEST_SUM))
        if small.size:
            limit = f"less than {SMALLEST_SUM:.3g}: multiply them by a constant"
            raise ValueError(f"the weights at {name_node(int(small[0]), graph_ptr)} add up to {limit}")


TOLERANCE = 1e-6  # of the sum of the probabilities of a pixel


@dataclass(frozen=True)
class CheckedImage:
    """A valid image: shape, flat mask (None: all pixels count), and labels of the pixels that count."""

    shape: tuple[int, ...]
    inside: NDArray[np.bool_] | None
    labels: LabelColumn | LabelDistributions


def as_images(images: Any) -> list[Any]:
    """Return a list of images; raise TypeError for a single image or another type."""
    if isinstance(images, np.ndarray) and images.dtype != object:
        labels = images.dtype.kind in "biu"
        if images.ndim < (3 if labels else 4):
            raise TypeError(
                f"expected several images, got one array of shape {images.shape}: put it into a list, [image]"
            )
    if isinstance(images, (str, bytes, Mapping, Set)) or not hasattr(images, "__iter__"):
        raise TypeError(f"images must be a list of arrays, got {kind_of(images)}")
    return list(images)


def as_masks(masks: Any, n_images: int) -> list[Any]:
    """Return a list with a mask or None per image."""
    if masks is None:
        return [None] * n_images
    return _one_each(masks, "masks", "boolean arrays, or None", n_images)


def _one_each(arrays: Any, name: str, kind: str, n_images: int) -> list[Any]:
    """Return a list of something for each image."""
    if isinstance(arrays, (str, bytes, Mapping, Set)) or not hasattr(arrays, "__iter__"):
        raise TypeError(f"{name} must be a list of {kind}, got {shown(arrays)}")
    listed = list(arrays)
    if len(listed) != n_images:
        raise ValueError(f"there are {name} of {len(listed)} images for {n_images} images")
    return listed


def check_image(image: Any, mask: Any, position: int) -> CheckedImage:
    """Validate an image of labels (integers) or label distributions (floats, labels along the last axis)."""
    array = _as_array(image, position)
    distributed = array.dtype.kind == "f"
    shape = array.shape[:-1] if distributed else array.shape
    if not shape:
        kind = "label distributions" if distributed else "labels"
        raise ValueError(f"image {position} has no grid: {kind} of shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"image {position} has no pixels: its shape is {array.shape}")
    inside = _check_mask(mask, shape, position)
    pixels = array.reshape(-1, array.shape[-1]) if distributed else array.reshape(-1)
    kept = pixels if inside is None else pixels[inside]
    make = _distributions if distributed else _image_labels
    return CheckedImage(shape, inside, make(kept, shape, inside, position))


def pixel_attributes(attributes: Any, images: list[CheckedImage]) -> NDArray[Any]:
    """Return one row per counted pixel of arrays of shape (h, w, D), or (h, w) for one attribute."""
    listed = _one_each(attributes, "attributes", "arrays, one per image", len(images))
    rows: list[NDArray[Any]] = []
    for position, (values, image) in enumerate(zip(listed, images, strict=True)):
        array = np.ma.filled(values, np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        array = array[..., None] if array.shape == image.shape else array
        if array.dtype.kind not in "biuf" or array.shape[:-1] != image.shape:
            raise ValueError(
                f"the attributes of image {position} must be numbers of shape {(*image.shape, 'D')}, "
                f"got dtype {array.dtype} and shape {array.shape}"
            )
        flat = array.reshape(-1, array.shape[-1])
        rows.append(flat if image.inside is None else flat[image.inside])
        if rows[0].shape[1] != rows[-1].shape[1]:
            numbers = rows[-1].shape[1], rows[0].shape[1]
            raise ValueError(
                f"image {position} has {numbers[0]} attributes per pixel, but image 0 has {numbers[1]}"
            )
    return np.concatenate(rows) if rows else np.empty((0, 0))


def _as_array(image: Any, position: int) -> NDArray[Any]:
    try:
        array = image if isinstance(image, np.ma.MaskedArray) else np.asarray(image)
    except ValueError:
        raise ValueError(f"image {position} is not an array: its rows have different lengths") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"image {position} must hold labels (integers) or label distributions (floats), "
            f"got {kind_of(image)} of dtype {array.dtype}"
        )
    return array


def _check_mask(mask: Any, shape: tuple[int, ...], position: int) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    array = np.asarray(mask)
    if array.dtype != bool:
        raise TypeError(f"the mask of image {position} must be boolean, got dtype {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"the mask of image {position} has shape {array.shape}, the image {shape}")
    if not array.any():
        raise ValueError(f"image {position} has no pixels: its mask is False throughout")
    return None if array.all() else array.ravel()


def _image_labels(
    pixels: NDArray[Any], shape: tuple[int, ...], inside: NDArray[np.bool_] | None, position: int
) -> LabelColumn:
    values = np.ma.filled(pixels, UNOBSERVED) if isinstance(pixels, np.ma.MaskedArray) else pixels
    if values.dtype.kind == "i" and values.min() < UNOBSERVED:
        at = int(values.argmin())
        raise ValueError(
            f"image {position} has the label {values[at]} at {_place(at, shape, inside)}: labels must not be "
            f"below {UNOBSERVED}, the mark of an unobserved pixel"
        )
    return LabelColumn.from_values(values)


def _distributions(
    pixels: NDArray[Any], shape: tuple[int, ...], inside: NDArray[np.bool_] | None, position: int
) -> LabelDistributions:
    """Return label distributions; a pixel whose probabilities are all masked or NaN is unobserved."""
    values = np.ma.filled(pixels, np.nan) if isinstance(pixels, np.ma.MaskedArray) else pixels
    known = ~np.isnan(values).all(axis=1)
    sums = values.sum(axis=1, dtype=np.float64)
    wrong = known & ~((values >= 0).all(axis=1) & (np.abs(sums - 1) < TOLERANCE))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"image {position} holds no label distribution at {_place(at, shape, inside)}: "
            f"{_shortly(values[at])} must be probabilities that add up to 1 "
            "(floats are label distributions, labels are integers; other numbers go into attributes=)"
        )
    return LabelDistributions(np.where(known[:, None], values, 0.0), known=known)


def _shortly(values: NDArray[Any]) -> str:
    listed = ", ".join(f"{value:g}" for value in values[:4])
    return f"[{listed}{', ...' if len(values) > 4 else ''}]"


def _place(at: int, shape: tuple[int, ...], inside: NDArray[np.bool_] | None) -> tuple[int, ...]:
    """Return the coordinates of the pixel at position ``at`` of the pixels inside the mask."""
    flat = at if inside is None else int(np.flatnonzero(inside)[at])
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def check_same_dimension(shapes: list[tuple[int, ...]]) -> int:
    """Return the common number of axes of all images; 2 without images."""
    for position, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]):
            raise ValueError(
                f"image {position} has {len(shape)} dimensions but image 0 has {len(shapes[0])}: "
                "one database holds images of one dimension"
            )
    return len(shapes[0]) if shapes else 2
