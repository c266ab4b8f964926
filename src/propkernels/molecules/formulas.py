"""formula_svg: small skeletal formulas for tables, notebooks and pages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import Any

import numpy as np

from propkernels._utils.optional import has_package
from propkernels._utils.typing import Array
from propkernels.convert.graph_molecules import known_molecule, laid_out, sketched_molecule
from propkernels.graphs.container import Graph
from propkernels.molecules.depiction import BOND_WIDTH, RADIUS, themed, values_of_bonds

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
