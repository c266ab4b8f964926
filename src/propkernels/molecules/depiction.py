"""RDKit's depiction of molecules with colored atoms and bonds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import asking_rdkit

Values = NDArray[np.float64]
FIRST, LAST = 0.18, 0.82  # part of a diverging color map in which black text can be read
RADIUS = 0.38
BOND_WIDTH = 14  # of a color, in widths of the line
LONGEST = 9  # a bond is at most this part of the picture's width


@dataclass(frozen=True, eq=False)
class Panel:
    """A molecule to draw.

    Attributes
    ----------
    molecule : rdkit.Chem.Mol
    values : ndarray, (atoms,)
        What the colors of atoms stand for.
    bonds : ndarray, (bonds,), or None
        The same for bonds; None: they have no color.
    title : str
        Written below.
    """

    molecule: Any
    values: Values
    bonds: Values | None = None
    title: str = ""


def light_colors(cmap: Any = "RdBu_r", first: float = FIRST, last: float = LAST) -> Any:
    """Return the middle part of a color map, on which symbols of atoms can be read."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="plots need")
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    whole = matplotlib.colormaps[cmap] if isinstance(cmap, str) else cmap
    return colors.LinearSegmentedColormap.from_list("light", whole(np.linspace(first, last, 101)))


def with_atoms(molecule: Any, n_nodes: int, number: int) -> Any:
    """Return the molecule with as many atoms as its graph has nodes: itself, or with hydrogens."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    if molecule.GetNumAtoms() == n_nodes:
        return molecule
    with asking_rdkit(f"molecule {number}"):
        full = chem.AddHs(molecule)
    if full.GetNumAtoms() != n_nodes:
        raise ValueError(
            f"molecules are not those that were explained: molecule {number} has {molecule.GetNumAtoms()} "
            f"atoms, and its graph has {n_nodes} nodes"
        )
    return full


def values_of_bonds(molecule: Any, ends: NDArray[np.int64], values: Values) -> Values:
    """Values of pairs of atoms, in the order of the molecule's bonds."""
    numbers = [molecule.GetBondBetweenAtoms(int(i), int(j)).GetIdx() for i, j in ends]
    found = np.zeros(molecule.GetNumBonds())
    found[numbers] = values
    return found


def depict(
    panels: Sequence[Panel],
    norm: Any,
    size: tuple[int, int],
    kind: str,
    colors: Any = None,
    n_columns: int = 1,
    scale: float | None = None,
) -> bytes:
    """Draw molecules, one or in a grid, as SVG or PNG.

    Parameters
    ----------
    panels : sequence of Panel
    norm, colors
        Of matplotlib: where values of atoms lie among the colors; by default red for and blue against. Bonds,
        which are more than atoms know of and therefore have small parts, have a scale of their own: the
        largest value of a bond has the color of the largest value of an atom.
    size : pair of int
        Width and height of one panel in pixels.
    kind : {"svg", "png"}
    n_columns : int, default=1
    scale : float, optional
        What values of bonds are multiplied by; by default :func:`bond_scale` of the panels.
    """
    draw = import_optional("rdkit.Chem.Draw.rdMolDraw2D", extra="chem", purpose="pictures of molecules need")
    colors = light_colors() if colors is None else colors
    n_columns = min(n_columns, len(panels))
    whole = size[0] * n_columns, size[1] * -(-len(panels) // n_columns)
    canvas = (draw.MolDraw2DSVG if kind == "svg" else draw.MolDraw2DCairo)(*whole, *size)
    options = canvas.drawOptions()
    options.useBWAtomPalette()
    options.legendFontSize = 15
    options.fixedBondLength = size[0] / LONGEST
    options.highlightBondWidthMultiplier = BOND_WIDTH
    if scale is None:
        scale = bond_scale([panel.values for panel in panels], [panel.bonds for panel in panels])
    scaled = [None if panel.bonds is None else scale * panel.bonds for panel in panels]
    bonds = [_colors(values, norm, colors) for values in scaled]
    canvas.DrawMolecules(
        [_prepared(draw, panel.molecule, number) for number, panel in enumerate(panels)],
        legends=[panel.title for panel in panels],
        highlightAtoms=[list(range(len(panel.values))) for panel in panels],
        highlightAtomColors=[_colors(panel.values, norm, colors) for panel in panels],
        highlightAtomRadii=[dict.fromkeys(range(len(panel.values)), RADIUS) for panel in panels],
        highlightBonds=[list(some) for some in bonds],
        highlightBondColors=bonds,
    )
    canvas.FinishDrawing()
    text = canvas.GetDrawingText()
    return text.encode() if isinstance(text, str) else bytes(text)


def _prepared(draw: Any, molecule: Any, number: int) -> Any:
    with asking_rdkit(f"panel {number}"):
        return draw.PrepareMolForDrawing(molecule, addChiralHs=False)


def bond_scale(values: Sequence[Values], bonds: Sequence[Values | None]) -> float:
    """The factor that brings the largest value of a bond to that of an atom."""
    largest = [
        max((float(np.abs(one).max(initial=0.0)) for one in some if one is not None), default=0.0)
        for some in (values, bonds)
    ]
    return largest[0] / largest[1] if all(largest) else 1.0


def _colors(values: Values | None, norm: Any, colors: Any) -> dict[int, tuple[float, ...]]:
    if values is None:
        return {}
    return {i: tuple(color.tolist()) for i, color in enumerate(colors(norm(values))[:, :3])}
