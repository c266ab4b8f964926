"""draw_similarity: two molecules side by side, colored by their shared substructures."""

from __future__ import annotations

from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels._utils.optional import has_package, import_optional
from propkernels._utils.typing import Estimator, Molecule
from propkernels.convert.asking_rdkit import with_atoms
from propkernels.convert.check import check_graphs
from propkernels.convert.graph_molecules import known_molecule
from propkernels.convert.rdkit import is_mol
from propkernels.explain.edge_shares import edge_contributions
from propkernels.explain.shared_bins import Similarity, similar_because
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.database import GraphDatabase
from propkernels.molecules.depiction import Panel, light_colors, values_of_bonds
from propkernels.molecules.molecule_pictures import Picture, picture_of
from propkernels.molecules.read_molecules import as_molecules
from propkernels.plotting.plot_explanation import shown

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

DOTS = 100  # per inch
PALEST, STRONGEST = 0.0, 0.65  # part of the color map on which black text is legible


def draw_similarity(
    g: Molecule | OneGraph,
    h: Molecule | OneGraph,
    *,
    kernel: Estimator | None = None,
    t: int | None = None,
    bonds: bool = True,
    cmap: str | Colormap | None = "Greens",
    size: tuple[int, int] = (450, 350),
) -> Picture:
    """Draw two molecules or other graphs, nodes colored by their contribution to the similarity.

    The contribution of a shared bin is divided among its nodes, in each of the two graphs. The color of a
    bond shows its share in the neighborhoods of these atoms, on a separate scale. The second of two graphs
    that are not molecules is turned so that nodes with equal neighborhoods are in similar places.

    Parameters
    ----------
    g, h : str, rdkit.Chem.Mol or graph
        SMILES, molecules, or graphs of any kind (see :func:`propkernels.check_graphs`); graphs whose labels
        are called as elements and bonds are drawn as molecules.
    kernel : estimator, optional
        A kernel, a model or an index, as for :func:`similar_because`; or a fitted pipeline that begins with
        :class:`MoleculesToGraphs`.
    t : int, optional
        Iteration to show (neighborhoods of up to t bonds); by default the sum over all iterations.
    bonds : bool, default=True
        Whether bonds are colored.
    cmap : str or Colormap, default="Greens"
        Color map that is nearly white at 0.
    size : pair of int, default=(450, 350)
        Width and height of each molecule in pixels.

    Returns
    -------
    Picture
        With ``svg``, ``png`` and ``save``; notebooks display it. A :class:`MoleculePicture` for molecules.

    See Also
    --------
    similar_because : The shared bins.
    propkernels.molecules.draw_molecule : Contributions of atoms and bonds to a prediction.
    propkernels.plotting.plot_similarity : The same for graphs of any kind.

    Examples
    --------
    >>> import propkernels as pk
    >>> picture = pk.molecules.draw_similarity("CCOC(=O)c1ccccc1", "CCOC(=O)C1CCCC1")
    >>> picture
    MoleculePicture(2 panels)
    >>> bool(picture.panels[0].values[0] > 0)
    True
    """
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    pipeline: Any = kernel if hasattr(kernel, "named_steps") else None
    if all(isinstance(one, str) or is_mol(one) for one in (g, h)):
        mols = as_molecules([g, h])
        graphs = check_graphs(mols) if pipeline is None else pipeline[:-1].transform(mols)
    else:
        graphs = check_graphs([g, h])
        mols = [_molecule(graphs, i) for i in (0, 1)]
        if None in mols:
            return _drawn(similar_because(graphs[0], graphs[1], kernel=kernel), t, cmap, size)
    similarity = similar_because(graphs[0], graphs[1], kernel=kernel if pipeline is None else pipeline[-1])
    panels = []
    for i, side in enumerate("gh"):
        molecule = with_atoms(mols[i], int(graphs.graph_sizes[i]), i)
        contributions = similarity.node_contributions(side)
        (values,) = shown(contributions, None if t is None else int(t)).values()
        ends, shares = edge_contributions(graphs[i].adjacency, contributions)
        of_bonds = values_of_bonds(molecule, ends, shares.sum(axis=1) if t is None else shares[:, t])
        colored = f"{np.count_nonzero(values)} of {len(values)} atoms"
        which = "" if t is None else f" at t = {t}"
        title = f"{similarity.noun} = {similarity.value:.3g}; {side}: {colored}{which}"
        panels.append(Panel(molecule, values, of_bonds if bonds else None, title))
    largest = max(float(panel.values.max(initial=0.0)) for panel in panels)
    norm = colors.Normalize(0.0, largest or 1.0)
    return picture_of(panels, norm, size, light_colors(cmap, PALEST, STRONGEST), n_columns=2)


def _molecule(graphs: Any, i: int) -> Any:
    """Return the molecule of a graph; None for other graphs and for images."""
    return known_molecule(graphs[[i]]) if isinstance(graphs, GraphDatabase) and has_package("rdkit") else None


def _drawn(similarity: Similarity, t: int | None, cmap: Any, size: tuple[int, int]) -> Picture:
    """Return a picture of two graphs that are no molecules, drawn by matplotlib."""
    figure = import_optional("matplotlib.figure", extra="plot", purpose="plots need").Figure
    canvas = figure(figsize=(2 * size[0] / DOTS, size[1] / DOTS), dpi=DOTS, layout="constrained")
    similarity.plot(t=t, cmap=cmap, ax=canvas.subplots(1, 2))
    svg, png = StringIO(), BytesIO()
    canvas.savefig(svg, format="svg")
    canvas.savefig(png, format="png", dpi=2 * DOTS)
    return Picture(svg.getvalue(), png.getvalue())
