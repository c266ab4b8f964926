"""plot_explanation: a graph whose nodes are colored by their contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_positive
from propkernels._utils.optional import import_optional
from propkernels.convert.check import check_graphs
from propkernels.convert.rdkit import is_mol
from propkernels.explain.explanation import Explanation
from propkernels.graphs.grid_database import Grid
from propkernels.plotting.canvas import one_axes, several_axes
from propkernels.plotting.draw_graph import draw_graph
from propkernels.plotting.draw_grid import draw_grid
from propkernels.plotting.graph_layout import node_positions

Values = NDArray[np.float64]
MANY_NODES = 1000
MOLECULE_SIZE = (900, 700)  # pixels


def plot_explanation(
    explanation: Any,
    graphs: Any = None,
    graph: int = 0,
    *,
    t: Any = None,
    classes: Any = None,
    class_names: Mapping[Any, str] | None = None,
    labels: Any = True,
    layout: Any = None,
    picture: Any = None,
    cmap: Any = "RdBu_r",
    limit: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw a graph with nodes colored by their contribution, or an image with a heat map over it.

    Parameters
    ----------
    explanation : Explanation, or fitted classifier, regressor or pipeline
        What ``explain`` returned; or a model, which then explains; or a pipeline that begins with
        :class:`MoleculesToGraphs`.
    graphs : GraphDatabase, GridDatabase or sequence of graphs, optional
        The graphs; may be left out with an Explanation. RDKit molecules (with a pipeline, also SMILES) are
        drawn as RDKit depicts them, bonds colored too, but for a given ``layout``.
    graph : int, default=0
        Which of them to draw.
    t : int, sequence of int, "each" or None, default=None
        Iteration whose contributions are shown; None: their sum; several: one panel each, one scale.
    classes : pair, or one class, optional
        With a model: as in ``explain``. By default, of more than two classes, the predicted one against
        the others.
    class_names : mapping, optional
        Names of classes in the figure.
    labels : bool, mapping or sequence, default=True
        What is written into nodes: their labels (of graphs that are not too large); names of labels, as
        in ``{0: "C", 1: "N"}``; or one text per node.
    layout : None, str or array of shape (nodes, 2 or more), default=None
        Where nodes are drawn: by the number of edges between them; by a layout of networkx, as "spring";
        or at given coordinates.
    picture : array, optional
        For grids: what is drawn below the heat map, (h, w) or (h, w, 3); by default the labels in gray.
    cmap : str or Colormap, default="RdBu_r"
        Diverging; its middle stands for 0.
    limit : float, optional
        Contribution that has the full color, for or against; by default the largest, or, of more than a
        thousand nodes, one that 99 % of them do not exceed.
    ax : Axes, or sequence of Axes with several ``t``, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    Axes, or list of Axes with several ``t``

    See Also
    --------
    PropagationClassifier : Its ``explain`` gives the contributions.
    plot_similarity : What two graphs share.
    draw_molecule : A molecule as SVG or PNG.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(40, random_state=0)
    >>> model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(data.graphs, data.target)
    >>> ax = pk.plot_explanation(model, data.graphs, graph=3)
    >>> ax.get_title().startswith("graph 3: ")
    True
    >>> len(pk.plot_explanation(model.explain(data.graphs), graph=3, t="each"))
    2
    """
    number = graph
    if hasattr(explanation, "named_steps"):  # a pipeline, which turns molecules into graphs
        explanation, found_graphs, graphs, graph = _steps(explanation, graphs, graph)
        found, at = explained(explanation, found_graphs, graph, classes)
    else:
        found, at = explained(explanation, graphs, graph, classes)
    own = found.of_graph(at)
    values = shown(own, t)
    norm, exceeded = centered(np.concatenate(list(values.values())), limit)
    molecule = None if layout is not None else _molecule(graphs, graph, len(own))
    panels, scale = ({}, 1.0) if molecule is None else _molecule_panels(found, at, molecule, values)
    one = found.graphs[at]
    several = isinstance(t, str) or np.ndim(t) > 0
    axes = several_axes(ax, len(values)) if several else [one_axes(ax)]
    is_drawn_by_nodes = molecule is None and not isinstance(one, Grid)
    positions = node_positions(one, layout) if is_drawn_by_nodes else np.empty((0, 2))
    for step, where in zip(values, axes, strict=True):
        if isinstance(one, Grid):
            mappable = draw_grid(where, one, found.image(at, step), picture, norm, cmap)
        elif molecule is not None:
            mappable = _draw_molecule(where, panels[step], norm, cmap, scale)
        else:
            mappable = draw_graph(where, one, values[step], positions, labels, norm, cmap)
        where.set_title(_title(found, number, at, step, values[step], several), fontsize=10)
    extend = "both" if exceeded else "neither"
    bar = axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25, extend=extend)
    bar.set_label(_meaning(found, class_names or {}))
    return axes if several else axes[0]


def explained(explanation: Any, graphs: Any, graph: int, classes: Any) -> tuple[Explanation, int]:
    """Return the explanation, with its graphs, and the position in it of the graph to draw."""
    if isinstance(explanation, Explanation):
        if classes is not None:
            raise ValueError("classes are compared by a model: pass them to explain")
        return _with_graphs(explanation, graphs), explanation.position(graph)
    if not hasattr(explanation, "explain"):
        name = type(explanation).__name__
        raise TypeError(f"expected an Explanation or a fitted model with a method explain, got {name}")
    if graphs is None:
        raise ValueError("a model needs graphs to explain: plot_explanation(model, graphs)")
    one = check_graphs(graphs)[[graph]]
    if classes is None and len(getattr(explanation, "classes_", ())) > 2:
        classes = explanation.predict(one)[0]
    return (explanation.explain(one) if classes is None else explanation.explain(one, classes)), 0


def _molecule(graphs: Any, graph: int, n_nodes: int) -> Any:
    """The molecule to draw, if graphs are molecules; else None."""
    if not isinstance(graphs, Sequence) or not len(graphs) or not is_mol(graphs[graph]):
        return None
    from propkernels.molecules.depiction import with_atoms

    return with_atoms(graphs[graph], n_nodes, graph)


def _steps(pipeline: Any, molecules: Any, number: int) -> tuple[Any, Any, list[Any], int]:
    """The model at the end of a pipeline, the one graph and the one molecule to draw, and their number."""
    from propkernels.molecules.read_molecules import as_list, as_molecules

    if molecules is None:
        raise ValueError("a pipeline needs molecules to explain: plot_explanation(pipeline, molecules)")
    items = as_list(molecules)
    if not -len(items) <= number < len(items):
        raise IndexError(f"there are {len(items)} molecules, and no molecule {number}")
    one = as_molecules([items[number]])
    return pipeline[-1], pipeline[:-1].transform(one), one, 0


def _molecule_panels(
    found: Explanation, at: int, molecule: Any, values: dict[int | None, Values]
) -> tuple[dict[int | None, Any], float]:
    """What is drawn of a molecule at each iteration, and the one scale of its bonds."""
    from propkernels.molecules.depiction import Panel, bond_scale, values_of_bonds

    bonds = {step: values_of_bonds(molecule, *found.edge_contributions(at, step)) for step in values}
    panels = {step: Panel(molecule, values[step], bonds[step]) for step in values}
    return panels, bond_scale(list(values.values()), list(bonds.values()))


def _draw_molecule(ax: Any, panel: Any, norm: Any, cmap: Any, scale: float) -> Any:
    """Draw a molecule into axes, and return what a color bar can be made of."""
    from propkernels.molecules.depiction import depict, light_colors

    cm = import_optional("matplotlib.cm", extra="plot", purpose="plots need")
    image = import_optional("matplotlib.image", extra="plot", purpose="plots need")
    colors = light_colors(cmap)
    ax.imshow(image.imread(BytesIO(depict([panel], norm, MOLECULE_SIZE, "png", colors, scale=scale))))
    ax.set_axis_off()
    return cm.ScalarMappable(norm, colors)


def _with_graphs(explanation: Explanation, graphs: Any) -> Explanation:
    if graphs is None:
        if explanation.graphs is None:
            raise ValueError(
                "the explanation does not hold its graphs: plot_explanation(explanation, graphs)"
            )
        return explanation
    database = check_graphs(graphs)
    if not np.array_equal(database.graph_ptr, explanation.graph_ptr):
        raise ValueError("graphs are not those that were explained: their numbers of nodes differ")
    return explanation.with_graphs(database)


def shown(contributions: Values, t: Any) -> dict[int | None, Values]:
    """Return values of the nodes by iteration; by None, their sum."""
    n_steps = contributions.shape[1]
    if t is None:
        return {None: contributions.sum(axis=1)}
    if isinstance(t, str):
        if t != "each":
            raise ValueError(f"t must be an iteration, several, 'each' or None; got {t!r}")
        t = range(n_steps)
    steps = [int(step) for step in np.atleast_1d(np.asarray(t))]
    if not steps or min(steps) < 0 or max(steps) >= n_steps:
        raise ValueError(f"t must be between 0 and {n_steps - 1}; got {t!r}")
    return {step: contributions[:, step] for step in steps}


def centered(values: Values, limit: float | None) -> tuple[Any, bool]:
    """Return colors from contributions against to those for, white at 0; and whether some are beyond."""
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    sizes = np.abs(values)
    largest = float(sizes.max(initial=0.0))
    if limit is None:
        limit = float(np.quantile(sizes, 0.99)) if len(sizes) > MANY_NODES else largest
    else:
        limit = check_positive(limit, "limit")
    limit = limit or largest or 1.0
    return colors.Normalize(-limit, limit), largest > limit


def _title(found: Explanation, graph: int, at: int, step: int | None, values: Values, several: bool) -> str:
    total = f"{values.sum():+.3g}"
    if several:
        return f"t = {step}: {total}"
    if step is not None:
        return f"graph {graph}, t = {step}: {total}"
    return f"graph {graph}: nodes {total}, intercept {found.intercept_of(at):+.3g}"


def _meaning(found: Explanation, names: Mapping[Any, str]) -> str:
    """What the color bar says."""
    if found.speaks_for is None:
        return f"contribution to the {found.quantity}"
    one = None if isinstance(found.speaks_for, np.ndarray) else found.speaks_for
    first = "the predicted class" if one is None else names.get(one, f"class {one}")
    second = "others" if found.against is None else names.get(found.against, f"class {found.against}")
    return f"← {second}     speaks for     {first} →"
