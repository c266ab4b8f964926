"""Anisotropic (Perona-Malik) diffusion on grids, which keeps edges between regions sharp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice, check_positive, check_share
from propkernels.graphs.accepted import Database
from propkernels.graphs.grid_database import GridDatabase
from propkernels.propagation.convolution import check_grids
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.schemes import SCHEMES, PropagationScheme

CONDUCTIONS = ("exponential", "rational")
Array = NDArray[np.float64]


class AnisotropicDiffusion(PropagationScheme):
    """Perona-Malik diffusion of label distributions, an extension named in the paper (section "Grid Graphs").

    Pixels exchange label mass with their 2 d nearest neighbors; conduction falls as their difference grows:
    ``P'_x = P_x + rate / (2 d) * sum_y g(|P_y - P_x|) (P_y - P_x)``. Distributions stay distributions, edges
    between regions stay sharp. The border, and pixels outside a mask, exchange nothing.

    Parameters
    ----------
    contrast : float, default=0.5
        The Euclidean distance between distributions at which conduction has fallen to 1/e ("exponential") or
        1/2 ("rational"). Deltas at two labels are sqrt(2) apart.
    rate : float in [0, 1], default=1
        Step size; 1 is the largest that keeps distributions distributions.
    conduction : {"exponential", "rational"}, default="exponential"
        g(s) = exp(-(s / contrast)^2), or 1 / (1 + (s / contrast)^2).

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

    def __init__(self, contrast: float = 0.5, rate: float = 1.0, *, conduction: str = "exponential") -> None:
        self.contrast = contrast
        self.rate = rate
        self.conduction = conduction

    def prepare(self, graphs: Database, initial: InitialDistributions) -> PreparedDiffusion:
        """Return the grids with validated parameters."""
        grids = check_grids(graphs, self)
        check_choice(self.conduction, CONDUCTIONS, "conduction")
        contrast, rate = check_positive(self.contrast, "contrast"), check_share(self.rate, "rate")
        return PreparedDiffusion(grids, contrast, rate / (2 * grids.dimension), self.conduction)

    def step(self, prepared: PreparedDiffusion, current: Array, initial: Array) -> Array:
        """Return the distributions after one exchange between neighbors."""
        return prepared.step(current)


@dataclass(frozen=True)
class PreparedDiffusion:
    """Grids with the validated parameters of a step."""

    grids: GridDatabase
    contrast: float
    rate: float
    conduction: str

    def step(self, current: Array) -> Array:
        """Return the distributions after one step, computed image by image."""
        following = np.empty_like(current)
        for i, shape in enumerate(self.grids.shapes.tolist()):
            nodes = slice(self.grids.graph_ptr[i], self.grids.graph_ptr[i + 1])
            inside = self.grids.inside_of(i)
            mask = np.ones(shape, dtype=bool) if inside is None else inside.reshape(shape)
            image = np.zeros((*shape, current.shape[1]))
            image[mask] = current[nodes]
            following[nodes] = (image + self.rate * self._received(image, mask))[mask]
        return following

    def _received(self, image: Array, mask: NDArray[np.bool_]) -> Array:
        """Return the mass that flows into each pixel; the two neighbors along an axis are added first."""
        total = np.zeros_like(image)
        for axis in range(mask.ndim):
            near, far = _ends(axis, slice(None, -1)), _ends(axis, slice(1, None))
            difference = image[far] - image[near]
            flow = self._conductance(difference) * difference
            flow[~(mask[near] & mask[far])] = 0.0
            along = np.zeros_like(image)
            along[near] += flow
            along[far] -= flow
            total += along
        return total

    def _conductance(self, difference: Array) -> Array:
        """Return g of the Euclidean length of each difference."""
        squares = (difference**2).sum(axis=-1, keepdims=True) / self.contrast**2
        return np.asarray(np.exp(-squares) if self.conduction == "exponential" else 1.0 / (1.0 + squares))


def _ends(axis: int, part: slice) -> tuple[slice, ...]:
    """Return an index that takes ``part`` of one axis and all of the axes before it."""
    return (slice(None),) * axis + (part,)


SCHEMES["anisotropic_diffusion"] = AnisotropicDiffusion
