"""RDKit's depiction of a molecule with colored atoms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.utils.optional import import_optional

FIRST, LAST = 0.18, 0.82  # part of the color map in which black text can be read
RADIUS = 0.38
LONGEST = 9  # a bond is at most this part of the picture's width


def light_colors(cmap: Any = "RdBu_r") -> Any:
    """Return the middle part of a color map, on which symbols of atoms can be read."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="plots need")
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    whole = matplotlib.colormaps[cmap] if isinstance(cmap, str) else cmap
    return colors.LinearSegmentedColormap.from_list("light", whole(np.linspace(FIRST, LAST, 101)))


def with_atoms(molecule: Any, n_nodes: int, number: int) -> Any:
    """Return the molecule with as many atoms as its graph has nodes: itself, or with hydrogens."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    if molecule.GetNumAtoms() == n_nodes:
        return molecule
    full = chem.AddHs(molecule)
    if full.GetNumAtoms() != n_nodes:
        raise ValueError(
            f"molecules are not those that were explained: molecule {number} has {molecule.GetNumAtoms()} "
            f"atoms, and its graph has {n_nodes} nodes"
        )
    return full


def depict(
    molecule: Any,
    values: NDArray[np.float64],
    norm: Any,
    title: str,
    size: tuple[int, int],
    kind: str,
    cmap: Any = "RdBu_r",
) -> bytes:
    """Draw a molecule as SVG or PNG.

    Parameters
    ----------
    molecule : rdkit.Chem.Mol
    values : ndarray, (atoms,)
        What colors stand for.
    norm, cmap
        Of matplotlib.
    title : str
        Written below.
    size : pair of int
    kind : {"svg", "png"}
    """
    draw = import_optional("rdkit.Chem.Draw.rdMolDraw2D", extra="chem", purpose="pictures of molecules need")
    canvas = (draw.MolDraw2DSVG if kind == "svg" else draw.MolDraw2DCairo)(*size)
    options = canvas.drawOptions()
    options.useBWAtomPalette()
    options.legendFontSize = 15
    options.fixedBondLength = size[0] / LONGEST
    every = list(range(len(values)))
    rgb = light_colors(cmap)(norm(values))[:, :3]
    canvas.DrawMolecule(
        draw.PrepareMolForDrawing(molecule, addChiralHs=False),
        legend=title,
        highlightAtoms=every,
        highlightAtomColors={i: tuple(color.tolist()) for i, color in enumerate(rgb)},
        highlightAtomRadii=dict.fromkeys(every, RADIUS),
        highlightBonds=[],
    )
    canvas.FinishDrawing()
    text = canvas.GetDrawingText()
    return text.encode() if isinstance(text, str) else bytes(text)
