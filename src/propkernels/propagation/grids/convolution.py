"""Convolution: propagation on grids, Algorithm 5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.grids.database import GridDatabase
from propkernels.graphs.grids.neighborhoods import BOUNDARIES, NEAREST, resolve_neighborhood
from propkernels.propagation.base import PropagationScheme
from propkernels.propagation.grids.operator import NOTHING, GridOperator, cheapest_path
from propkernels.propagation.initial import InitialDistributions
from propkernels.utils.checks import check_choice

CLAMPS = (None, "after", "before")


class Convolution(PropagationScheme):
    """Discrete convolution of label images with a filter: P' = P * B (Algorithm 5).

    Parameters
    ----------
    neighborhood : "nearest", (radius, points) or array, default="nearest"
        The filter B. "nearest": the 2 d nearest pixels alike, in the plane the paper's N_{1,4}.
        ``(1, 4)``, ``(1, 8)``, ``(2, 16)``: the paper's circular neighbor sets with the values that it
        prints; any other (radius, points) is computed in the same way
        (:func:`propkernels.circular_neighborhood`). An array of odd lengths, with as many dimensions as
        the images: ``B[center + o]`` is the weight with which a pixel listens to the pixel at offset o.
        For filters that are not symmetric this is the paper's "weighted adjacency of the center
        node"; signal processing calls it correlation, convolution with the mirrored filter.
    boundary : {"renormalize", "zero", "wrap", "reflect"}, default="renormalize"
        What lies beyond the image. "renormalize": nothing, and each pixel is divided by the filter's
        mass that falls inside the image and its mask, for N_{1,4} exactly the random walk on the
        grid; a pixel that hears nothing stays as it is. "zero": zeros, and no division. "wrap": the
        opposite side. "reflect": the image mirrored, its outermost pixels repeated. Pixels outside a
        mask are zeros in the last three.
    clamp : {None, "after", "before"}, default=None
        Whether observed pixels are held, as in :class:`LabelPropagation`: not at all; after each step; or
        pushed back before each step.

    See Also
    --------
    circular_neighborhood : The filters of the paper.
    AnisotropicDiffusion : Diffusion that keeps the edges of regions.

    Notes
    -----
    Circular neighbor sets with a number of points divisible by four give bit for bit the same
    distributions when an image is turned by 90 degrees or mirrored, and "wrap" when it is shifted
    around. Filters of many taps are applied one axis after the other where they are separable, or else by
    Fourier transforms; these agree with the sum over taps up to rounding only.

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
    >>> kernel = pk.PropagationKernel(propagation=pk.Convolution((1, 8)), t_max=3, random_state=0)
    >>> bool(np.ptp(kernel.fit_transform(grids)) == 0)
    True
    """

    affine = True
    grids_only = True

    def __init__(
        self, neighborhood: Any = NEAREST, boundary: str = "renormalize", *, clamp: str | None = None
    ) -> None:
        self.neighborhood = neighborhood
        self.boundary = boundary
        self.clamp = clamp

    def prepare(self, graphs: Any, initial: InitialDistributions) -> GridOperator:
        """Return the operator of these grids."""
        grids = check_grids(graphs, self)
        check_choice(self.boundary, BOUNDARIES, "boundary")
        check_choice(self.clamp, CLAMPS, "clamp")
        weights = resolve_neighborhood(self.neighborhood, grids.dimension)
        held = initial.observed if self.clamp == "after" else NOTHING
        pushed = initial.observed if self.clamp == "before" else NOTHING
        path = cheapest_path(weights, grids.inside is not None)
        return GridOperator(grids, weights, self.boundary, held, pushed, path)

    def step(
        self, prepared: GridOperator, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Apply the operator."""
        return prepared.step(current, initial)


def check_grids(graphs: Any, scheme: PropagationScheme) -> GridDatabase:
    """Refuse graphs that are not grids."""
    if not isinstance(graphs, GridDatabase):
        name = type(scheme).__name__
        raise TypeError(f"{name} works on a GridDatabase, got a {type(graphs).__name__}: use Diffusion")
    return graphs
