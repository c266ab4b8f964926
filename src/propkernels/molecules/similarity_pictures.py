"""draw_similarity: two molecules side by side, colored by their shared substructures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Estimator, Molecule
from propkernels.convert.asking_rdkit import with_atoms
from propkernels.convert.check import check_graphs
from propkernels.explain.edge_shares import edge_contributions
from propkernels.explain.shared_bins import similar_because
from propkernels.molecules.depiction import Panel, light_colors, values_of_bonds
from propkernels.molecules.molecule_pictures import MoleculePicture, picture_of
from propkernels.molecules.read_molecules import as_molecules
from propkernels.plotting.plot_explanation import shown

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

PALEST, STRONGEST = 0.0, 0.65  # part of the color map on which black text is legible


def draw_similarity(
    kernel: Estimator,
    g: Molecule,
    h: Molecule,
    *,
    t: int | None = None,
    bonds: bool = True,
    cmap: str | Colormap | None = "Greens",
    size: tuple[int, int] = (450, 350),
) -> MoleculePicture:
    """Draw two molecules with atoms and bonds colored by their contribution to k(g, h).

    The contribution of a shared bin is divided among its atoms, in each of the two molecules. The color of a
    bond shows its share in the surroundings of these atoms, on a separate scale.

    Parameters
    ----------
    kernel : estimator
        A kernel, a model or an index, as for :func:`similar_because`; or a fitted pipeline that begins with
        :class:`MoleculesToGraphs`.
    g, h : str or rdkit.Chem.Mol
        SMILES or molecules.
    t : int, optional
        Iteration to show (surroundings of up to t bonds); by default the sum over all iterations.
    bonds : bool, default=True
        Whether bonds are colored.
    cmap : str or Colormap, default="Greens"
        Color map that is nearly white at 0.
    size : pair of int, default=(450, 350)
        Width and height of each molecule in pixels.

    Returns
    -------
    MoleculePicture
        Picture with ``svg``, ``png`` and ``save``; notebooks display it.

    See Also
    --------
    similar_because : The shared bins.
    propkernels.molecules.draw_molecule : Contributions of atoms and bonds to a prediction.
    propkernels.plotting.plot_similarity : The same for graphs of any kind.

    Examples
    --------
    >>> import propkernels as pk
    >>> kernel = pk.WeisfeilerLehman(t_max=2, normalize=True)
    >>> picture = pk.molecules.draw_similarity(kernel, "CCOC(=O)c1ccccc1", "CCOC(=O)C1CCCC1")
    >>> picture
    MoleculePicture(2 panels)
    >>> bool(picture.panels[0].values[0] > 0)
    True
    """
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    mols = as_molecules([g, h])
    pipeline: Any = kernel if hasattr(kernel, "named_steps") else None
    graphs = check_graphs(mols) if pipeline is None else pipeline[:-1].transform(mols)
    similarity = similar_because(kernel if pipeline is None else pipeline[-1], graphs[0], graphs[1])
    panels = []
    for i, side in enumerate("gh"):
        molecule = with_atoms(mols[i], int(graphs.graph_sizes[i]), i)
        contributions = similarity.node_contributions(side)
        (values,) = shown(contributions, None if t is None else int(t)).values()
        ends, shares = edge_contributions(graphs[i].adjacency, contributions)
        of_bonds = values_of_bonds(molecule, ends, shares.sum(axis=1) if t is None else shares[:, t])
        colored = f"{np.count_nonzero(values)} of {len(values)} atoms"
        which = "" if t is None else f" at t = {t}"
        title = f"k(g, h) = {similarity.value:.3g}; {side}: {colored}{which}"
        panels.append(Panel(molecule, values, of_bonds if bonds else None, title))
    largest = max(float(panel.values.max(initial=0.0)) for panel in panels)
    norm = colors.Normalize(0.0, largest or 1.0)
    return picture_of(panels, norm, size, light_colors(cmap, PALEST, STRONGEST), n_columns=2)
