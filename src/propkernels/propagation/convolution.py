"""Propagation on grids: convolution with a filter (Algorithm 5), and diffusion that keeps edges sharp."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.checks import check_choice, check_positive, check_share
from propkernels._utils.locks import cached_property
from propkernels._utils.typing import NeighborhoodLike
from propkernels.graphs.grid_database import Database, GridDatabase
from propkernels.graphs.neighborhoods import BOUNDARIES, NEAREST, resolve_neighborhood
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.schemes import SCHEMES, PropagationScheme

Offset = tuple[int, ...]


class Taps(NamedTuple):
    """Taps of one or several filters, applied in sequence, as arrays for the compiled loops.

    Attributes
    ----------
    offsets : ndarray of int64, (taps, d)
        Offset of each tap from the pixel.
    group_ptr : ndarray of int64, (groups + 1,)
        Groups of 1, 2, 4 or 8 taps with equal weights. They are summed as a balanced tree, opposite
        taps first: floating-point addition commutes, so a quarter turn of the image, which only exchanges
        branches of the tree, does not change a single bit of the sum.
    weights : ndarray, (groups,)
    stage_ptr : ndarray of int64, (stages + 1,)
        Groups of each filter; a separable filter has one stage per axis.
    radius : ndarray of int64, (d,)
        Largest offset along each axis.
    """

    offsets: NDArray[np.int64]
    group_ptr: NDArray[np.int64]
    weights: NDArray[np.float64]
    stage_ptr: NDArray[np.int64]
    radius: NDArray[np.int64]


def arrange_taps(stages: list[NDArray[np.float64]]) -> Taps:
    """Return the taps of filters that are applied in sequence."""
    groups = [_groups(weights) for weights in stages]
    listed = [group for stage in groups for group, _ in stage]
    offsets = np.array([offset for group in listed for offset in group], dtype=np.int64)
    return Taps(
        offsets.reshape(-1, stages[0].ndim),
        np.cumsum([0, *map(len, listed)]).astype(np.int64),
        np.array([weight for stage in groups for _, weight in stage]),
        np.cumsum([0, *map(len, groups)]).astype(np.int64),
        np.max([np.array(weights.shape) // 2 for weights in stages], axis=0).astype(np.int64),
    )


def _groups(weights: NDArray[np.float64]) -> list[tuple[list[Offset], float]]:
    """Return groups of taps, from the center outwards: each tap with its images under symmetries."""
    center = np.array(weights.shape) // 2
    left = {tuple(int(i) for i in tap - center): float(weights[tuple(tap)]) for tap in np.argwhere(weights)}
    groups = []
    while left:
        tap = min(left, key=lambda offset: (sum(i * i for i in offset), sorted(map(abs, offset)), offset))
        weight = left[tap]
        group = next(
            family
            for family in families(tap)
            if len(set(family)) == len(family) and all(left.get(other) == weight for other in family)
        )
        for other in group:
            del left[other]
        groups.append((group, weight))
    return groups


def families(offset: Offset) -> list[list[Offset]]:
    """Return candidate groups of a tap, largest first; opposite taps are adjacent."""
    opposite = tuple(-i for i in offset)
    smaller = [[offset, opposite], [offset]]
    if len(offset) != 2:
        return smaller
    turned = _turns(offset)
    mirrored = _turns((offset[1], offset[0]))
    return [turned + mirrored, turned, *smaller]


def _turns(offset: Offset) -> list[Offset]:
    """Return the offset, its opposite, and these two after a quarter turn."""
    y, x = offset
    return [(y, x), (-y, -x), (x, -y), (-x, y)]


def separate(weights: NDArray[np.float64]) -> list[NDArray[np.float64]] | None:
    """Return one filter per axis whose product is the filter, or None if it is not separable."""
    total = weights.sum()
    stages = []
    product = np.ones(())
    for axis in range(weights.ndim):
        others = tuple(a for a in range(weights.ndim) if a != axis)
        line = weights.sum(axis=others) / (total if axis else 1.0)
        stages.append(line.reshape([-1 if a == axis else 1 for a in range(weights.ndim)]))
        product = np.multiply.outer(product, line)
    same = np.allclose(product, weights, rtol=1e-13, atol=0.0)
    return stages if same and weights.ndim > 1 else None


PADDING = {"renormalize": "constant", "zero": "constant", "wrap": "wrap", "reflect": "symmetric"}
Array = NDArray[np.float64]


def fourier_step(grids: GridDatabase, weights: Array, boundary: str, current: Array) -> Array:
    """Convolve every column of every image; images have no masks."""
    following = np.empty_like(current, dtype=np.float64)
    mass: dict[tuple[int, ...], Array] = {}
    for i, shape in enumerate(map(tuple, grids.shapes.tolist())):
        nodes = slice(grids.graph_ptr[i], grids.graph_ptr[i + 1])
        image = np.asarray(current[nodes], dtype=np.float64).reshape(*shape, -1)
        result = correlated(image, weights, boundary)
        if boundary == "renormalize":
            if shape not in mass:
                mass[shape] = mass_inside(shape, weights)[..., None]
            received = mass[shape]
            result = np.where(received > 0, result / np.where(received > 0, received, 1.0), image)
        following[nodes] = result.reshape(len(following[nodes]), -1)
    return following


def correlated(image: Array, weights: Array, boundary: str) -> Array:
    """Return the sum over taps o of B[o] * image[x + o], for all columns of an image (..., columns)."""
    from scipy.signal import oaconvolve

    border = [(length // 2, length // 2) for length in weights.shape]
    mode: Any = PADDING[boundary]
    padded = np.pad(image, [*border, (0, 0)], mode=mode)
    mirrored = weights[(slice(None, None, -1),) * weights.ndim][..., None]
    return np.asarray(oaconvolve(padded, mirrored, mode="valid", axes=range(weights.ndim)))


def mass_inside(shape: tuple[int, ...], weights: Array) -> Array:
    """Return, per pixel, the filter mass inside the image; without cancellation, so that zeros are exact.

    Examples
    --------
    >>> mass_inside((3,), np.array([1.0, 0.0, 1.0]))
    array([1., 2., 1.])
    """
    mass = weights
    for length in shape:  # each turn sums the first axis away and appends the pixels' axis
        reach = mass.shape[0] // 2
        position = np.arange(length)[:, None] + np.arange(-reach, reach + 1)
        inside = ((position >= 0) & (position < length)).astype(np.float64)
        mass = np.tensordot(mass, inside, axes=([0], [1]))
    return np.asarray(mass)


NOTHING = np.empty(0, dtype=np.bool_)
FOURIER_FROM = 256  # number of taps above which Fourier transforms are faster than sums (measured)


@dataclass(frozen=True)
class GridOperator:
    """Affine step on the counted pixels of grids: P' = spread * (B P) + keep * P.

    With "renormalize", spread is 1 over the filter mass inside image and mask; with other boundaries it
    is 1. It does not depend on the labels, so the step commutes with the projection of a hash.

    Attributes
    ----------
    grids : GridDatabase
    weights : ndarray
        The filter B.
    boundary : {"renormalize", "zero", "wrap", "reflect"}
    held, pushed_back : ndarray of bool, (N,)
        Pixels that never change, and pixels that are reset to P_0 before each step. Empty: none.
    path : {"direct", "separable", "fourier"}
        Algorithm for the sums. Results agree up to rounding; "direct" is bit-exact under quarter turns.
    """

    grids: GridDatabase
    weights: NDArray[np.float64]
    boundary: str
    held: NDArray[np.bool_] = field(default_factory=NOTHING.copy)
    pushed_back: NDArray[np.bool_] = field(default_factory=NOTHING.copy)
    path: str = "direct"

    @cached_property
    def taps(self) -> Taps:
        """Taps of the filter, for the compiled loops."""
        stages = separate(self.weights) if self.path == "separable" else None
        return arrange_taps(stages or [self.weights])

    @property
    def images(self) -> tuple[Any, ...]:
        """Grids, their counted, held and pushed-back pixels, and the number of the boundary."""
        grids, boundary = self.grids, BOUNDARIES.index(self.boundary)
        inside = NOTHING if grids.inside is None else grids.inside
        pixels = inside, self.held, self.pushed_back
        return grids.shapes, grids.pixel_ptr, grids.graph_ptr, *pixels, boundary

    @property
    def changes(self) -> NDArray[np.int64]:
        """The images whose shape is not that of the image before."""
        shapes = self.grids.shapes
        return np.flatnonzero((shapes[1:] != shapes[:-1]).any(axis=1)) + 1

    def step(self, current: NDArray[np.float64], initial: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns (label probabilities, or projections of them) after one step."""
        if len(self.pushed_back):
            current = np.where(self.pushed_back[:, None], initial, current)
        if self.path == "fourier":
            following = fourier_step(self.grids, self.weights, self.boundary, current)
        else:
            following = np.empty_like(current, dtype=np.float64)
            values = np.ascontiguousarray(current, dtype=np.float64)
            bounds = np.union1d(self.changes, [0, len(self.grids)])
            _core.step_grids(self.images, self.taps, values, bounds, following)
        if self.path == "fourier" and len(self.held):
            following[self.held] = current[self.held]
        return following


def cheapest_path(weights: NDArray[np.float64], masked: bool) -> str:
    """Return the fastest algorithm: sums over taps, one filter per axis, or Fourier transforms.

    Examples
    --------
    >>> box = np.ones((9, 9))
    >>> cheapest_path(box, masked=False), cheapest_path(box[:3, :3], masked=False)
    ('separable', 'direct')
    """
    n_taps = int(np.count_nonzero(weights))
    along_axes = sum(weights.shape) + 3 * weights.ndim  # each further stage is another pass over the image
    if n_taps > along_axes and separate(weights) is not None:
        return "separable"
    return "fourier" if n_taps > FOURIER_FROM and not masked else "direct"


CLAMPS = (None, "after", "before")


@dataclass(eq=False, repr=False)
class Convolution(PropagationScheme):
    """Discrete convolution of label images with a filter: P' = P * B (Algorithm 5).

    Parameters
    ----------
    neighborhood : "nearest", (radius, points) or array, default="nearest"
        The filter B. "nearest": equal weights for the 2 d nearest pixels, in 2-d the paper's N_{1,4}.
        ``(1, 4)``, ``(1, 8)``, ``(2, 16)``: the paper's circular neighbor sets with the values that it
        prints; any other (radius, points) is computed in the same way
        (:func:`propkernels.graphs.circular_neighborhood`). An array of odd lengths, with as many dimensions
        as the images: ``B[center + o]`` is the weight of the pixel at offset o.
        For filters that are not symmetric this is the paper's "weighted adjacency of the center
        node"; signal processing calls it correlation, convolution with the mirrored filter: see ``mirror``.
        On grids of more than two dimensions, a circle lies in each plane of two axes, and the filter is
        their mean.
    boundary : {"renormalize", "zero", "wrap", "reflect"}, default="renormalize"
        Padding of the image. "renormalize": zeros, and each pixel is divided by the filter mass inside
        the image and its mask, for N_{1,4} exactly the random walk on the grid; a pixel whose filter mass
        is 0 does not change. "zero": zeros, without division. "wrap": the opposite side. "reflect": the
        mirrored image, outermost pixels repeated. In the last three, pixels outside a mask are zeros.
    clamp : {None, "after", "before"}, default=None
        When observed pixels are reset to their labels, as in :class:`LabelPropagation`: never, after each
        step, or before each step.
    mirror : bool, default=False
        True: the convolution of the paper's formula, ``sum_i P(i) B(x - i)``, that is, ``B[center - o]`` is
        the weight of the pixel at offset o. It differs for filters that are not symmetric.

    See Also
    --------
    propkernels.graphs.circular_neighborhood : The filters of the paper.
    propkernels.propagation.AnisotropicDiffusion : Diffusion that keeps the edges of regions.

    Notes
    -----
    With circular neighbor sets whose number of points is divisible by four, distributions are bit-equal
    after an image is rotated by 90 degrees or mirrored; with "wrap", also after a cyclic shift. Filters
    with many taps are applied axis by axis if they are separable, else by Fourier transforms; the results
    equal the sum over taps up to rounding.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 5.
    .. [2] T. Ojala, M. Pietikäinen and T. Mäenpää (2002). Multiresolution gray-scale and rotation invariant
       texture classification with local binary patterns. IEEE Transactions on Pattern Analysis and Machine
       Intelligence 24, 971-987. doi:10.1109/TPAMI.2002.1017623.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> image = np.arange(20).reshape(4, 5) % 3
    >>> grids = pk.GridDatabase([image, np.rot90(image)])
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.Convolution((1, 8)), t_max=3, random_state=0)
    >>> bool(np.ptp(kernel.fit_transform(grids)) == 0)
    True
    """

    affine = True
    grids_only = True

    neighborhood: NeighborhoodLike = NEAREST
    boundary: str = "renormalize"
    _: KW_ONLY
    clamp: str | None = None
    mirror: bool = False

    def prepare(self, graphs: Database, initial: InitialDistributions) -> GridOperator:
        """Return the operator of these grids."""
        return self.operator(graphs, initial.observed)

    def operator(self, graphs: Database, observed: NDArray[np.bool_] = NOTHING) -> GridOperator:
        """Return the operator of grids in which these pixels are observed."""
        grids = check_grids(graphs, self)
        check_choice(self.boundary, BOUNDARIES, "boundary")
        check_choice(self.clamp, CLAMPS, "clamp")
        check_choice(self.mirror, (False, True), "mirror")
        weights = resolve_neighborhood(self.neighborhood, grids.dimension)
        weights = np.ascontiguousarray(np.flip(weights)) if self.mirror else weights
        held = observed if self.clamp == "after" else NOTHING
        pushed = observed if self.clamp == "before" else NOTHING
        path = cheapest_path(weights, grids.inside is not None)
        return GridOperator(grids, weights, self.boundary, held, pushed, path)

    def step(
        self, prepared: GridOperator, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the result of the operator."""
        return prepared.step(current, initial)


def check_grids(graphs: Any, scheme: PropagationScheme) -> GridDatabase:
    """Return the graphs if they are a GridDatabase; else raise a TypeError."""
    if not isinstance(graphs, GridDatabase):
        name = type(scheme).__name__
        raise TypeError(f"{name} requires a GridDatabase, got a {type(graphs).__name__}: use Diffusion")
    return graphs


SCHEMES["convolution"] = Convolution


@dataclass(eq=False, repr=False)
class AnisotropicDiffusion(PropagationScheme):
    """Perona-Malik diffusion of label distributions, an extension named in the paper (section "Grid Graphs").

    Pixels exchange label mass with their 2 d nearest neighbors; conduction falls as their difference grows:
    ``P'_x = P_x + rate / (2 d) * sum_y g(|P_y - P_x|) (P_y - P_x)``. Distributions stay distributions, edges
    between regions stay sharp. The border, and pixels outside a mask, exchange nothing.

    Parameters
    ----------
    contrast : float, default=0.5
        The Euclidean distance between distributions at which conduction, ``g(s) = exp(-(s / contrast)^2)``,
        has fallen to 1/e. Deltas at two labels are sqrt(2) apart.
    rate : float in [0, 1], default=1
        Step size; 1 is the largest that keeps distributions distributions.

    See Also
    --------
    propkernels.propagation.Convolution : Linear diffusion on grids.

    References
    ----------
    .. [1] P. Perona and J. Malik (1990). Scale-space and edge detection using anisotropic diffusion. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 12, 629-639. doi:10.1109/34.56205.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> grids = pk.GridDatabase([np.eye(6, dtype=int), np.tri(6, dtype=int)])
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.AnisotropicDiffusion(contrast=1.0), t_max=2)
    >>> kernel.fit_transform(grids).shape
    (2, 2)
    """

    affine = False
    grids_only = True

    contrast: float = 0.5
    rate: float = 1.0

    def prepare(self, graphs: Database, initial: InitialDistributions) -> GridDatabase:
        """Return the grids, after validating the parameters."""
        check_positive(self.contrast, "contrast")
        check_share(self.rate, "rate")
        return check_grids(graphs, self)

    def step(self, prepared: GridDatabase, current: Array, initial: Array) -> Array:
        """Return the distributions after one exchange between neighbors, computed image by image."""
        following, rate = np.empty_like(current), float(self.rate) / (2 * prepared.dimension)
        for i, shape in enumerate(prepared.shapes.tolist()):
            nodes = slice(prepared.graph_ptr[i], prepared.graph_ptr[i + 1])
            inside = prepared.inside_of(i)
            mask = np.ones(shape, dtype=bool) if inside is None else inside.reshape(shape)
            image = np.zeros((*shape, current.shape[1]))
            image[mask] = current[nodes]
            following[nodes] = (image + rate * self._received(image, mask))[mask]
        return following

    def _received(self, image: Array, mask: NDArray[np.bool_]) -> Array:
        """Return the mass that flows into each pixel; the two neighbors along an axis are added first."""
        total = np.zeros_like(image)
        for axis in range(mask.ndim):
            near, far = _ends(axis, slice(None, -1)), _ends(axis, slice(1, None))
            difference = image[far] - image[near]
            squares = (difference**2).sum(axis=-1, keepdims=True) / float(self.contrast) ** 2
            flow = np.exp(-squares) * difference
            flow[~(mask[near] & mask[far])] = 0.0
            along = np.zeros_like(image)
            along[near] += flow
            along[far] -= flow
            total += along
        return total


def _ends(axis: int, part: slice) -> tuple[slice, ...]:
    """Return an index that takes ``part`` of one axis and all of the axes before it."""
    return (slice(None),) * axis + (part,)


SCHEMES["anisotropic_diffusion"] = AnisotropicDiffusion
