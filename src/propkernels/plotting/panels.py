"""One panel with nodes colored by value: a molecule, a grid or a graph; two of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import has_package, import_optional
from propkernels.convert.graph_molecules import BOND_LENGTH, atom_positions, known_molecule, placed_molecule
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.layout import node_positions
from propkernels.plotting.draw_graph import draw_graph
from propkernels.plotting.draw_grid import draw_grid

Values = NDArray[np.float64]
MOLECULE_SIZE = (900, 700)  # pixels


def draw_panel(
    ax: Any,
    graph: Graph | Grid,
    values: Values,
    norm: Any,
    cmap: Any,
    *,
    positions: Values | None = None,
    labels: Any = True,
    picture: Any = None,
) -> Any:
    """Draw a graph, or an image with a heat map over it, and return the mappable for a color bar."""
    if isinstance(graph, Grid):
        image = np.full(graph.shape, np.nan)
        image[np.ones(graph.shape, dtype=bool) if graph.mask is None else graph.mask] = values
        return draw_grid(ax, graph, image, picture, norm, cmap)
    places = node_positions(graph) if positions is None else positions
    return draw_graph(ax, graph, places, labels, c=values, norm=norm, cmap=cmap)


def draw_formula(ax: Any, panel: Any, norm: Any, cmap: Any, scale: float = 1.0) -> Any:
    """Draw a molecule into axes, and return the mappable for a color bar."""
    from propkernels.molecules.depiction import LAST, depict, light_colors

    cm = import_optional("matplotlib.cm", extra="plot", purpose="plots need")
    image = import_optional("matplotlib.image", extra="plot", purpose="plots need")
    colors = light_colors(cmap) if norm.vmin < 0 else light_colors(cmap, 0.0, LAST)
    ax.imshow(image.imread(BytesIO(depict([panel], norm, MOLECULE_SIZE, "png", colors, scale=scale))))
    ax.set_axis_off()
    return cm.ScalarMappable(norm, colors)


def draw_pair(
    axes: Sequence[Any],
    graphs: GraphDatabase | GridDatabase,
    values: Sequence[Values],
    norm: Any,
    cmap: Any,
    *,
    pairs: NDArray[np.int64] | None,
    as_formulas: bool,
    meaning: str,
) -> list[Values]:
    """Draw two graphs, the second turned towards the first, add a color bar, and return node positions.

    Parameters
    ----------
    axes : pair of Axes
    graphs : GraphDatabase or GridDatabase
        Two graphs.
    values : pair of ndarrays
        One value per node.
    norm, cmap
        Normalization and color map of matplotlib.
    pairs : ndarray of shape (pairs, 2) or None
        Nodes that are to be in similar places; None for grids.
    as_formulas : bool
        Whether two molecules are drawn as skeletal formulas.
    meaning : str
        Label of the color bar.
    """
    molecules = [molecule_of(graphs, i) if as_formulas else None for i in (0, 1)]
    places: list[Any] = [None, None]
    if pairs is not None:
        first, second = (_usual_positions(graphs[i]) for i in (0, 1))
        places = [first, turned(second, first, pairs)]
    for i, ax in enumerate(axes):
        if any(molecule is None for molecule in molecules):
            mappable = draw_panel(ax, graphs[i], values[i], norm, cmap, positions=places[i])
        else:
            from propkernels.molecules.depiction import Panel

            panel = Panel(placed_molecule(molecules[i], places[i]), values[i])
            mappable = draw_formula(ax, panel, norm, cmap)
    axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25).set_label(meaning)
    return places


def molecule_of(graphs: GraphDatabase | GridDatabase, at: int) -> Any:
    """Return the molecule of a graph with names of elements and bonds; None for other graphs."""
    if not isinstance(graphs, GraphDatabase) or not has_package("rdkit"):
        return None
    return known_molecule(graphs[[at]])


def turned(points: Values, reference: Values, pairs: NDArray[np.int64]) -> Values:
    """Return points that are moved, turned or mirrored so that pairs of nodes come close to each other.

    The orthogonal Procrustes problem: of the pairs (i, j), point j goes near reference point i.
    """
    if len(pairs) < 2:
        return points
    wanted, given = reference[pairs[:, 0]], points[pairs[:, 1]]
    left, _, right = np.linalg.svd((given - given.mean(axis=0)).T @ (wanted - wanted.mean(axis=0)))
    moved: Values = (points - given.mean(axis=0)) @ (left @ right) + wanted.mean(axis=0)
    return moved


def _usual_positions(graph: Any) -> Values:
    """Return where RDKit draws the atoms of a molecule, with edges about 1 long; else the usual layout."""
    atoms = atom_positions(graph.database) if has_package("rdkit") else None
    return node_positions(graph) if atoms is None else atoms / BOND_LENGTH
