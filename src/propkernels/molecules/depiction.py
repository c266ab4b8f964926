"""RDKit drawings of molecules with colored atoms and bonds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import asking_rdkit

Values = NDArray[np.float64]
FIRST, LAST = 0.18, 0.82  # part of a diverging color map on which black text is legible
RADIUS = 0.38  # of a colored atom, in RDKit's units
BOND_WIDTH = 14  # of a colored bond, in line widths
BLACK = "#000000"
# colors that RDKit gives to elements, and those of pages
ELEMENTS = {
    "#0000FF": "atom-n", "#FF0000": "atom-o", "#CCCC00": "atom-s", "#FF7F00": "atom-p", "#33CCCC": "atom-f",
    "#00CC00": "atom-f", "#7F4C19": "atom-br", "#7F3319": "atom-br", "#A01EEF": "atom-i", "#FFB5B5": "atom-b",
}  # fmt: skip
DARK_GROUND = np.array([25, 29, 34])  # --canvas, --for, --shared and --against of dark pages
DARK_COLORS = np.array([[255, 106, 92], [63, 191, 107], [74, 163, 245]])
LONGEST = 9  # a bond is at most 1 / LONGEST of the width of the picture


@dataclass(frozen=True, eq=False)
class Panel:
    """One molecule of a picture, with its values and title.

    Attributes
    ----------
    molecule : rdkit.Chem.Mol
    values : ndarray of shape (atoms,)
        Values that the colors of atoms show.
    bonds : ndarray of shape (bonds,), or None
        Values that the colors of bonds show; None: bonds are not colored.
    title : str
        Text below the molecule.
    """

    molecule: Any
    values: Values
    bonds: Values | None = None
    title: str = ""


def light_colors(cmap: Any = "RdBu_r", first: float = FIRST, last: float = LAST) -> Any:
    """Return the part of a color map on which atom symbols are legible."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="plots need")
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    whole = matplotlib.colormaps[cmap] if isinstance(cmap, str) else cmap
    return colors.LinearSegmentedColormap.from_list("light", whole(np.linspace(first, last, 101)))


def themed(svg: str) -> str:
    """Return an SVG element of RDKit in the colors of its page: transparent, and legible in light and dark.

    Black becomes ink, elements get the colors of the page, and halos, which are colors mixed with white, are
    mixed with a dark ground where the page is dark.
    """

    def color(found: re.Match[str]) -> str:
        name = found[0].upper()
        if name in (BLACK, *ELEMENTS):
            return f"var(--{ELEMENTS.get(name, 'ink')}, {name})"
        light = np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)])
        strength = 1 - light.min() / 255
        dark = (1 - strength) * DARK_GROUND + strength * DARK_COLORS[int(light.argmax())]
        red, green, blue = np.round(dark).astype(int).tolist()
        return f"light-dark({name}, #{red:02X}{green:02X}{blue:02X})"

    body = svg[svg.index("<svg") :]
    body = re.sub(r"<rect [^>]*fill:#FFFFFF[^>]*>\s*</rect>\n?", "", body)
    return re.sub(r"#[0-9A-Fa-f]{6}\b", color, body)


def values_of_bonds(molecule: Any, ends: NDArray[np.int64], values: Values) -> Values:
    """Return one value per bond of a molecule, from the values of pairs of atoms ``ends``."""
    numbers = [molecule.GetBondBetweenAtoms(int(i), int(j)).GetIdx() for i, j in ends]
    by_bond = np.zeros(molecule.GetNumBonds())
    by_bond[numbers] = values
    return by_bond


def depict(
    panels: Sequence[Panel],
    norm: Any,
    size: tuple[int, int],
    kind: str,
    colors: Any = None,
    n_columns: int = 1,
    scale: float | None = None,
) -> bytes:
    """Return a picture of one molecule, or of several in a grid, as the bytes of an SVG or PNG file.

    Values of bonds are smaller than those of atoms, so they are scaled: the largest value of a bond gets the
    color of the largest value of an atom.

    Parameters
    ----------
    panels : sequence of Panel
    norm, colors
        Normalization and color map of matplotlib; by default red for positive and blue for negative values.
    size : pair of int
        Width and height of one panel in pixels.
    kind : {"svg", "png"}
    n_columns : int, default=1
    scale : float, optional
        Factor of the values of bonds; by default :func:`bond_scale` of the panels.
    """
    draw = import_optional("rdkit.Chem.Draw.rdMolDraw2D", extra="chem", purpose="pictures of molecules need")
    colors = light_colors() if colors is None else colors
    n_columns = min(n_columns, len(panels))
    whole = size[0] * n_columns, size[1] * -(-len(panels) // n_columns)
    canvas = (draw.MolDraw2DSVG if kind == "svg" else draw.MolDraw2DCairo)(*whole, *size)
    options = canvas.drawOptions()
    options.useBWAtomPalette()
    options.legendFontSize, options.legendFraction = 14, 0.16  # two lines
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
        highlightBonds=[list(by_bond) for by_bond in bonds],
        highlightBondColors=bonds,
    )
    canvas.FinishDrawing()
    text = canvas.GetDrawingText()
    return text.encode() if isinstance(text, str) else bytes(text)


def _prepared(draw: Any, molecule: Any, number: int) -> Any:
    with asking_rdkit(f"panel {number}"):
        return draw.PrepareMolForDrawing(molecule, addChiralHs=False)


def bond_scale(values: Sequence[Values], bonds: Sequence[Values | None]) -> float:
    """Return the largest absolute value of an atom divided by that of a bond; 1 if either is 0."""
    largest = [
        max((float(np.abs(panel).max(initial=0.0)) for panel in panels if panel is not None), default=0.0)
        for panels in (values, bonds)
    ]
    return largest[0] / largest[1] if all(largest) else 1.0


def _colors(values: Values | None, norm: Any, colors: Any) -> dict[int, tuple[float, ...]]:
    """Return the RGB color of each atom or bond by its number."""
    if values is None:
        return {}
    return {i: tuple(color.tolist()) for i, color in enumerate(colors(norm(values))[:, :3])}
