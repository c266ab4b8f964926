"""RDKit drawings of molecules with colored atoms and bonds, and small skeletal formulas."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import has_package, import_optional
from propkernels._utils.typing import Array
from propkernels.convert.asking_rdkit import asking_rdkit
from propkernels.convert.graph_molecules import known_molecule, laid_out, sketched_molecule
from propkernels.graphs.container import Graph

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


RED, BLUE, MARK = np.array([178, 24, 43]) / 255, np.array([33, 102, 172]) / 255, (0.66, 0.82, 1.0)
PALEST = 0.15  # share of white in the color of the largest value
MOST_ATOMS = 150


def formula_svg(
    graph: Graph,
    *,
    values: Sequence[float] | Array | None = None,
    edges: tuple[Array, Array] | None = None,
    marked: Collection[int] = (),
    size: tuple[int, int] = (240, 170),
    title: str = "",
) -> str | None:
    """Return the skeletal formula of a graph as an SVG element; None if the graph is no molecule.

    Parameters
    ----------
    graph : Graph
        A graph that was made from a molecule, or whose labels are called "C", "N", ... and its edge labels
        "single", "double", ...; without names of edges, all bonds are drawn as single.
    values : sequence of float, optional
        One number per atom, shown as a red (positive) or blue (negative) halo.
    edges : pair of arrays, optional
        Ends of bonds, (bonds, 2), and one number per bond, shown in the same way on a scale of their own.
    marked : collection of int, optional
        Atoms with a light blue halo.
    size : pair of int, default=(240, 170)
        Width and height in pixels.
    title : str, optional
        Text for screen readers.

    See Also
    --------
    propkernels.molecules.draw_molecule : Explanations of molecules, with bonds and titles.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.molecules.formula_svg(pk.from_smiles(["CCO"])[0]).startswith("<svg")
    True
    """
    if not has_package("rdkit") or not 0 < graph.n_nodes <= MOST_ATOMS:
        return None
    molecule = known_molecule(graph.database)
    molecule = sketched_molecule(graph.database) if molecule is None else molecule
    if molecule is None:
        return None
    return _drawn(molecule, values, edges, marked, size, title)


def _drawn(molecule: Any, values: Any, edges: Any, marked: Collection[int], size: Any, title: str) -> str:
    from rdkit.Chem.Draw import rdMolDraw2D

    colors = {} if values is None else _halos(np.asarray(values, dtype=np.float64))
    bonds = {} if edges is None else _halos(values_of_bonds(molecule, *edges))
    colors |= dict.fromkeys(marked, MARK) if values is None else {}
    canvas = rdMolDraw2D.MolDraw2DSVG(*size)
    options: Any = canvas.drawOptions()
    options.padding, options.fixedBondLength = 0.06, 26
    options.highlightBondWidthMultiplier = BOND_WIDTH * 3 // 4
    canvas.DrawMolecule(
        rdMolDraw2D.PrepareMolForDrawing(laid_out(molecule), addChiralHs=False),
        highlightAtoms=list(colors),
        highlightAtomColors=colors,
        highlightAtomRadii=dict.fromkeys(colors, RADIUS),
        highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )
    canvas.FinishDrawing()
    head, _, rest = themed(canvas.GetDrawingText()).partition(">")
    return f"{head} role='img'><title>{escape(title)}</title>{rest}".strip()


def _halos(values: Any) -> dict[int, tuple[float, ...]]:
    """Return the color of each atom whose value is not small."""
    largest = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    shares = (1 - PALEST) * np.abs(values) / largest
    ends = np.where((values > 0)[:, None], RED, BLUE)
    shades = 1 - shares[:, None] * (1 - ends)
    return {i: tuple(shade) for i, shade in enumerate(shades.tolist()) if shares[i] > 0.02}
