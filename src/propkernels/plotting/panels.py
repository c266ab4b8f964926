"""Axes and panels of figures: a molecule, a grid or a graph with nodes colored by value, or two of them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.checks import kind_of
from propkernels._utils.optional import has_package, import_optional
from propkernels.convert.graph_molecules import BOND_LENGTH, atom_positions, known_molecule, placed_molecule
from propkernels.explain.explanation import Explanation
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.drawing import LARGEST, LEAST_SHOWN, MOST_SQUARES, SMALLEST, gray_labels
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.layout import node_positions
from propkernels.plotting.draw_graph import draw_graph

Values = NDArray[np.float64]


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``; without matplotlib, raise an error that names the extra to install."""
    return import_optional("matplotlib.pyplot", extra="plot", purpose="plots need")


def one_axes(ax: Any, size: tuple[float, float] = (5.0, 4.2)) -> Any:
    """Return ``ax``, or the axes of a new figure if it is None."""
    pyplot = import_pyplot()
    if ax is None:
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    if not hasattr(ax, "imshow"):
        raise TypeError(f"ax must be matplotlib axes, got {kind_of(ax)}")
    return ax


def several_axes(ax: Any, n: int, columns: int = 4) -> list[Any]:
    """Return n axes: those of ``ax``, or those of a new figure with ``columns`` axes per row."""
    pyplot = import_pyplot()
    if ax is not None:
        given = list(np.ravel(np.array(ax, dtype=object)))
        if len(given) != n:
            raise ValueError(f"ax must hold {n} axes, one per iteration; got {len(given)}")
        return [one_axes(axes) for axes in given]
    columns = min(n, columns)
    rows = -(-n // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(2.9 * columns + 0.9, 2.8 * rows), layout="constrained", squeeze=False
    )
    for empty in grid.ravel()[n:]:
        figure.delaxes(empty)
    return list(grid.ravel()[:n])


def check_target(target: ArrayLike, n_graphs: int) -> NDArray[Any]:
    """Return the target as an array with one value per graph."""
    labels = np.asarray(target)
    if labels.shape != (n_graphs,):
        raise ValueError(
            f"target must hold one value for each of {n_graphs} graphs, got shape {labels.shape}"
        )
    return labels


def class_names(labels: NDArray[Any], names: Sequence[str] | None) -> list[str]:
    """Return one name per class in ``labels``, in the order of the sorted labels."""
    classes = np.unique(labels)
    if names is None:
        return [str(label) for label in classes]
    given = [str(name) for name in names]
    if len(given) != len(classes):
        raise ValueError(f"target_names must name {len(classes)} classes, got {len(given)} names")
    return given


FAINTEST = 0.15  # opacity of the heat map at value 0


def draw_grid(ax: Any, grid: Grid, values: Values, picture: Any, norm: Any, cmap: Any) -> Any:
    """Draw a heat map over an image, and return the mappable for a color bar.

    Parameters
    ----------
    ax : Axes
    grid : Grid
        An image, a line of pixels, or a volume. Of a volume, the slice along the first axis with the largest
        sum of absolute values is drawn.
    values : ndarray in the shape of the grid
        NaN outside the mask.
    picture : array of shape (h, w) or (h, w, 3), or None
        Image below the heat map; None: the labels in gray, in small images with a square per pixel.
    norm, cmap
        Normalization and color map of matplotlib.
    """
    from matplotlib.cm import ScalarMappable

    below = gray_labels(grid) if picture is None else _check_picture(picture, grid.shape)
    heat, below = _flat(values, below, values.ndim)
    mappable = ScalarMappable(norm=norm, cmap=cmap)
    colors = mappable.to_rgba(np.nan_to_num(heat))
    strength = np.minimum(np.abs(np.nan_to_num(heat)) / norm.vmax, 1.0)
    ax.imshow(below, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    if picture is None and heat.size <= MOST_SQUARES:  # larger for larger values: the image stays visible
        from matplotlib.collections import PatchCollection
        from matplotlib.patches import Rectangle

        chosen = ~np.isnan(heat) & (strength > LEAST_SHOWN)
        sides = SMALLEST + (LARGEST - SMALLEST) * strength
        squares = [
            Rectangle((x - sides[y, x] / 2, y - sides[y, x] / 2), sides[y, x], sides[y, x])
            for y, x in np.argwhere(chosen).tolist()
        ]
        ax.add_collection(
            PatchCollection(squares, facecolors=colors[chosen], edgecolors="white", linewidths=0.5, zorder=3)
        )
    else:
        colors[..., 3] = np.where(np.isnan(heat), 0.0, FAINTEST + (1 - FAINTEST) * strength**0.6)
        ax.imshow(colors, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    return mappable


def _check_picture(picture: Any, shape: tuple[int, ...]) -> Values:
    array = np.asarray(picture)
    if array.shape[: len(shape)] != shape:
        raise ValueError(f"picture has shape {array.shape}, the grid {shape}")
    return array / 255.0 if array.dtype.kind in "ui" else array.astype(np.float64)


def _flat(values: Values, below: Values, dimension: int) -> tuple[Values, Values]:
    """Return arrays with two axes: a line becomes one row, a volume its slice with the largest values."""
    while dimension > 2:
        strongest = int(np.nansum(np.abs(values), axis=tuple(range(1, dimension))).argmax())
        values, below, dimension = values[strongest], below[strongest], dimension - 1
    return (values[None], below[None]) if dimension == 1 else (values, below)


MOLECULE_SIZE = (900, 700)  # pixels


def draw_panel(
    ax: Any,
    graph: Graph | Grid,
    values: Values,
    norm: Any,
    cmap: Any,
    *,
    positions: Values | None = None,
    picture: Any = None,
) -> Any:
    """Draw a graph, or an image with a heat map over it, and return the mappable for a color bar."""
    if isinstance(graph, Grid):
        image = np.full(graph.shape, np.nan)
        image[np.ones(graph.shape, dtype=bool) if graph.mask is None else graph.mask] = values
        return draw_grid(ax, graph, image, picture, norm, cmap)
    places = node_positions(graph) if positions is None else positions
    return draw_graph(ax, graph, places, c=values, norm=norm, cmap=cmap)


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
    pairs: NDArray[np.int64] | None,
    meaning: str,
) -> None:
    """Draw two graphs, the second turned towards the first, and add a color bar.

    Parameters
    ----------
    axes : pair of Axes
    graphs : GraphDatabase or GridDatabase
        Two graphs; molecules are drawn as skeletal formulas.
    values : pair of ndarrays
        One value per node.
    norm
        Normalization of matplotlib.
    pairs : ndarray of shape (pairs, 2) or None
        Nodes that are to be in similar places; None for grids.
    meaning : str
        Label of the color bar.
    """
    molecules = [molecule_of(graphs, i) for i in (0, 1)]
    places: list[Any] = [None, None]
    if pairs is not None:
        first, second = (_usual_positions(graphs[i]) for i in (0, 1))
        places = [first, turned(second, first, pairs)]
    for i, ax in enumerate(axes):
        if any(molecule is None for molecule in molecules):
            mappable = draw_panel(ax, graphs[i], values[i], norm, "Reds", positions=places[i])
        else:
            from propkernels.molecules.depiction import Panel

            panel = Panel(placed_molecule(molecules[i], places[i]), values[i])
            mappable = draw_formula(ax, panel, norm, "Reds")
    axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25).set_label(meaning)


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


def forecast(
    model: Any, graph: GraphDatabase | GridDatabase, coverage: float | None, column: Any = None
) -> str:
    """Return the prediction for one graph as a text, with its set of classes or interval at a coverage.

    Parameters
    ----------
    model : fitted classifier or regressor
    graph : GraphDatabase or GridDatabase
        One graph.
    coverage : float or None
        None: without a set or interval.
    column : int, optional
        Of several targets, the one to tell; by default the first.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> kernel = pk.WeisfeilerLehman(t_max=1)
    >>> classifier = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs, data.target)
    >>> forecast(classifier, data.graphs[[0]], 0.9)
    'predicted apart (0.90); 90 % set: apart'
    >>> regressor = pk.PropagationRegressor(kernel=kernel, random_state=0)
    >>> forecast(regressor.fit(data.graphs, data.graphs.graph_sizes), data.graphs[[0]], 0.9)
    'predicted 18; 90 % interval: 18 to 18'
    """
    if hasattr(model, "classes_"):
        return _of_class(model, graph, coverage, column)
    value = np.ravel(model.predict(graph))
    at = column if isinstance(column, int) and len(value) > 1 else 0
    text = f"predicted {value[at]:.3g}"
    if coverage is None:
        return text
    low, high = model.predict_interval(graph, coverage).reshape(-1, 2)[at].tolist()
    return f"{text}; {100 * coverage:g} % interval: {low:.3g} to {high:.3g}"


def _of_class(model: Any, graph: GraphDatabase | GridDatabase, coverage: float | None, column: Any) -> str:
    """Return class and probability; of several labels, the value of one."""
    names, chances = _names(model), np.ravel(model.predict_proba(graph))
    predicted = np.atleast_1d(np.asarray(model.predict(graph))[0])
    if len(predicted) > 1:
        at = column if isinstance(column, int) else 0
        names, chances = ["0", "1"], np.array([1 - chances[at], chances[at]])
        number = int(predicted[at])
    else:
        at, number = 0, model.classes_.tolist().index(predicted.tolist()[0])
    text = f"predicted {names[number]} ({chances[number]:.2f})"
    if coverage is None:
        return text
    inside = model.predict_set(graph, coverage).reshape(-1, len(names))[at]
    listed = ", ".join(name for name, is_in in zip(names, inside.tolist(), strict=True) if is_in)
    return f"{text}; {100 * coverage:g} % set: {listed or 'empty'}"


def _names(model: Any) -> list[str]:
    names = getattr(model, "class_names_", None)
    return [str(name) for name in (model.classes_.tolist() if names is None else names)]


def forecast_line(model: Any, explanation: Any, at: int, coverage: float | None, column: Any) -> str:
    """Return a line with the prediction for an explained graph at a coverage; "" without one."""
    if coverage is None:
        return ""
    if isinstance(model, Explanation):
        raise ValueError("coverage requires a model: pass it in place of the Explanation")
    last = model[-1] if hasattr(model, "named_steps") else model
    return forecast(last, explanation.graphs[[at]], coverage, column) + "\n"
