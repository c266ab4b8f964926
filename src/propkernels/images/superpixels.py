"""Graphs of images: one node per superpixel, edges between adjacent ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import offsets
from propkernels._utils.optional import import_optional
from propkernels.graphs.container import block_diagonal
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import UNOBSERVED
from propkernels.images.quantizers import Images, Picture, check_pictures

Segments = NDArray[np.int64]


def from_superpixels(
    images: Images,
    labels: Iterable[ArrayLike] | None = None,
    *,
    segments: Iterable[ArrayLike] | None = None,
    ratio: float = 0.5,
    kernel_size: float = 4,
    max_dist: float = 20,
    random_state: int = 0,
) -> GraphDatabase:
    """Make a graph of each image: its superpixels, connected where they touch, as the paper's MSRC graphs.

    Quick shift divides an image into superpixels. Nodes have the mean color of their pixels as attributes;
    if pixels have labels, nodes have the most frequent one.

    Parameters
    ----------
    images : sequence of arrays
        Gray (h, w) or color (h, w, 3): unsigned integers, or floats from 0 to 1.
    labels : sequence of integer arrays of shape (h, w), optional
        Label of each pixel, such as the object it belongs to; -1: not known. A superpixel without a known
        pixel has no label; of equally frequent labels, the smallest counts.
    segments : sequence of integer arrays of shape (h, w), optional
        The superpixel of each pixel, by another method: then quick shift is not run.
    ratio, kernel_size, max_dist : float, default=0.5, 4, 20
        Of quick shift: weight of color against position, width of the density in pixels, and largest distance
        between pixels of a superpixel; larger ones make fewer superpixels. By default, a photograph of the
        size of MSRC's, 213 x 320, has about as many as there, 40 to 80.
    random_state : int, default=0
        Seed of quick shift, which breaks ties at random.

    Returns
    -------
    GraphDatabase
        Nodes are numbered by their first pixel, row by row.

    Raises
    ------
    ImportError
        If scikit-image is not installed and ``segments`` are not given.

    See Also
    --------
    propkernels.GridDatabase : Every pixel is a node.

    References
    ----------
    .. [1] A. Vedaldi and S. Soatto (2008). Quick shift and kernel methods for mode seeking. European
       Conference on Computer Vision, 705-718. doi:10.1007/978-3-540-88693-8_52.
    .. [2] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> things = np.repeat([0, 1], [12, 8])[:, None] * np.repeat([1, 2], 15)  # sky above sea and sand
    >>> image = np.array([[0.5, 0.7, 1], [0, 0.2, 0.5], [1, 0.9, 0.6]])[things]
    >>> pk.images.from_superpixels([image], [things])
    GraphDatabase(1 graph, 3 nodes, 3 edges, 3 node labels, 3 attributes)
    """
    pictures = check_pictures(images)
    given = None if labels is None else [np.asarray(image) for image in labels]
    if segments is None:
        parts = [_quick_shift(picture, ratio, kernel_size, max_dist, random_state) for picture in pictures]
    else:
        parts = [np.asarray(part) for part in segments]
    for name, arrays in (("labels", given), ("segments", parts)):
        _check(name, arrays, pictures)
    parts = [_numbered(part) for part in parts]
    sizes = [int(part.max()) + 1 for part in parts]
    colors = [_means(part, picture) for part, picture in zip(parts, pictures, strict=True)]
    if len({color.shape[1] for color in colors}) > 1:
        raise ValueError("some images are gray and others have colors: convert them to one kind")
    modes = None if given is None else [_modes(part, image) for part, image in zip(parts, given, strict=True)]
    return GraphDatabase(
        block_diagonal([_adjacency(part, size) for part, size in zip(parts, sizes, strict=True)]),
        offsets(sizes),
        None if modes is None else np.concatenate(modes),
        np.concatenate(colors),
    )


def _quick_shift(
    picture: Picture, ratio: float, kernel_size: float, max_dist: float, random_state: int
) -> Segments:
    segmentation = import_optional("skimage.segmentation", extra="images", purpose="superpixels need")
    color = np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture
    found = segmentation.quickshift(
        color, ratio=ratio, kernel_size=kernel_size, max_dist=max_dist, rng=random_state
    )
    return np.asarray(found, dtype=np.int64)


def _check(name: str, arrays: list[NDArray[np.int64]] | None, pictures: list[Picture]) -> None:
    """Raise an error unless there is an array of integers for each picture, of its shape."""
    if arrays is None:
        return
    if len(arrays) != len(pictures):
        raise ValueError(f"there are {name} of {len(arrays)} images for {len(pictures)} images")
    for position, (array, picture) in enumerate(zip(arrays, pictures, strict=True)):
        if array.dtype.kind not in "biu" or array.shape != picture.shape[:2]:
            raise ValueError(
                f"the {name} of image {position} must be integers of shape {picture.shape[:2]}, "
                f"got dtype {array.dtype} and shape {array.shape}"
            )


def _numbered(part: NDArray[np.int64]) -> Segments:
    """Return superpixels numbered from 0 in the order of their first pixels."""
    _, first, number = np.unique(part.ravel(), return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number].reshape(part.shape), dtype=np.int64)


def _adjacency(part: Segments, size: int) -> csr_array:
    """Return the edges between superpixels that share a side of a pixel."""
    sides = [(part[:, :-1], part[:, 1:]), (part[:-1], part[1:])]
    ends = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in sides])
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    both = np.concatenate([ends, ends[:, ::-1]])
    return csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(size, size))


def _means(part: Segments, picture: Picture) -> NDArray[np.float64]:
    """Return the mean color of each superpixel."""
    pixels = picture.reshape(part.size, -1)
    sums = [np.bincount(part.ravel(), column) for column in pixels.T]
    return np.stack(sums, axis=1) / np.bincount(part.ravel())[:, None]


def _modes(part: Segments, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most frequent known label of each superpixel; -1 without any."""
    known = labels.ravel() != UNOBSERVED
    values, ids = np.unique(labels.ravel()[known], return_inverse=True)
    size = int(part.max()) + 1
    cells = np.bincount(part.ravel()[known] * len(values) + ids, minlength=size * len(values))
    counts = cells.reshape(size, len(values))
    if not len(values):
        return np.full(size, UNOBSERVED)
    return np.where(counts.any(axis=1), values[counts.argmax(axis=1)], UNOBSERVED).astype(np.int64)
