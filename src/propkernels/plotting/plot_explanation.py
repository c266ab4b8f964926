"""plot_explanation: a graph with nodes colored by their contribution to a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.checks import check_positive
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Estimator, LabelNames
from propkernels.convert.asking_rdkit import with_atoms
from propkernels.convert.check import check_graphs
from propkernels.convert.rdkit import is_mol
from propkernels.explain.explanation import Explanation
from propkernels.graphs.grid_database import Graphs, Grid
from propkernels.graphs.layout import node_positions
from propkernels.plotting.panels import (
    draw_formula,
    draw_panel,
    forecast_line,
    molecule_of,
    one_axes,
    several_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = NDArray[np.float64]
MANY_NODES = 1000  # above it, the color scale ends at the 99 % quantile of the contributions
LETTER, SMALLEST_LETTERS = 0.5, 6.0  # width of a letter over its font size, and the smallest font size


def plot_explanation(
    explanation: Explanation | Estimator,
    graphs: Graphs | None = None,
    graph: int = 0,
    *,
    t: int | Sequence[int] | str | None = None,
    classes: object = None,
    class_names: LabelNames | None = None,
    layout: str | ArrayLike | None = None,
    picture: ArrayLike | None = None,
    limit: float | None = None,
    coverage: float | None = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | Any:
    """Draw a graph with nodes colored by their contribution, or an image with a heat map over it.

    The middle of the colors stands for 0; where no contribution is negative (novelty), they begin at 0.

    Parameters
    ----------
    explanation : Explanation, or fitted classifier, regressor or pipeline
        Result of ``explain``; or a model, whose ``explain`` is called; or a pipeline that turns
        molecules (:class:`MoleculesToGraphs`) or images into graphs.
    graphs : GraphDatabase, GridDatabase or sequence of graphs, optional
        The explained graphs; may be omitted with an Explanation. Without ``layout``, RDKit molecules (with a
        pipeline, also SMILES) are depicted by RDKit, with colored atoms and bonds.
    graph : int, default=0
        Position of the graph to draw.
    t : int, sequence of int, "each" or None, default=None
        Iteration whose contributions are shown; None: the sum over all iterations. Several iterations give
        one panel each, with the same color scale.
    classes : pair, or one class, optional
        With a model: as in ``explain``. By default, with more than two classes, the predicted class against
        the others.
    class_names : mapping, optional
        Names of the classes in the figure, by class label.
    layout : None, str or array of shape (nodes, 2 or more), default=None
        Node positions. None: distances close to the number of edges between nodes, or the skeletal formula
        of a graph with names of elements and bonds; a name: a layout of networkx, such as "spring"; an
        array: coordinates.
    picture : array of shape (h, w) or (h, w, 3), optional
        For grids: image below the heat map; by default the labels in gray.
    limit : float, optional
        Absolute contribution at which colors saturate; by default the largest one, or the 99 % quantile for
        graphs of more than 1000 nodes.
    coverage : float, optional
        With a model: also write the prediction in the title, with its probability and set of classes, or with
        its interval, such as 0.9 for those that hold nine of ten targets.
    ax : Axes, or sequence of Axes with several ``t``, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes, or list of Axes with several ``t``

    See Also
    --------
    PropagationClassifier : Its method ``explain`` returns the contributions.
    propkernels.plotting.plot_similarity : Contributions of nodes to the similarity of two graphs.
    propkernels.molecules.draw_molecule : The same for a molecule, as SVG or PNG.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(40, random_state=0)
    >>> model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(data.graphs, data.target)
    >>> ax = pk.plotting.plot_explanation(model, data.graphs, graph=3)
    >>> ax.get_title().splitlines()[0]
    '3: apart'
    >>> len(pk.plotting.plot_explanation(model.explain(data.graphs), graph=3, t="each"))
    2
    """
    number, model, inputs = graph, explanation, graphs
    if hasattr(explanation, "named_steps"):  # a pipeline, which turns molecules or images into graphs
        explanation, inputs, graphs, graph = _steps(explanation, graphs, graph)
    explanation, at = explained(explanation, inputs, graph, classes)
    told = forecast_line(model, explanation, at, coverage, classes)
    values = shown(explanation.of_graph(at), t)
    norm, exceeded = scaled(np.concatenate(list(values.values())), limit, explanation.is_signed)
    cmap = "RdBu_r" if explanation.is_signed else "Oranges"
    known: Any = explanation.graphs
    drawn = known[at]
    molecule = None
    if layout is None and isinstance(graphs, Sequence) and len(graphs) and is_mol(graphs[graph]):
        molecule = with_atoms(graphs[graph], drawn.n_nodes, graph)
    elif layout is None:
        molecule = molecule_of(known, at)
    nodes = "pixels" if isinstance(drawn, Grid) else "nodes" if molecule is None else "atoms"
    formulas, scale = ({}, 1.0) if molecule is None else _formulas(explanation, at, molecule, values)
    is_drawn_by_nodes = molecule is None and not isinstance(drawn, Grid)
    positions = node_positions(drawn, layout) if is_drawn_by_nodes else None
    several = t is not None and np.ndim(t) + isinstance(t, str) > 0
    axes = several_axes(ax, len(values)) if several else [one_axes(ax)]
    for step, where in zip(values, axes, strict=True):
        if molecule is not None:
            mappable = draw_formula(where, formulas[step], norm, cmap, scale)
        else:
            mappable = draw_panel(
                where, drawn, values[step], norm, cmap, positions=positions, picture=picture
            )
        total = f"{values[step].sum():+.3g}"
        if several:
            title = f"t = {step}: {total}"
        elif step is not None:
            title = f"graph {number}, t = {step}: {total}"
        else:
            title = f"{number}: {explanation.caption(at, nodes)}".replace(" (", "\n(", 1)  # two lines fit
        where.set_title(told + title, fontsize=10)
    extend = "both" if exceeded else "neither"
    bar = axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25, extend=extend)
    meaning = _meaning(explanation, class_names or {})
    bar.set_label(meaning, fontsize=_fitting(meaning, axes[0]))
    return axes if several else axes[0]


def explained(explanation: Any, graphs: Any, graph: int, classes: Any) -> tuple[Explanation, int]:
    """Return the explanation with its graphs, and the position of the graph to draw in it."""
    if isinstance(explanation, Explanation):
        if classes is not None:
            raise ValueError("classes requires a model; for an Explanation, pass classes to explain")
        return _with_graphs(explanation, graphs), explanation.position(graph)
    if not hasattr(explanation, "explain"):
        name = type(explanation).__name__
        raise TypeError(f"expected an Explanation or a fitted model with a method explain, got {name}")
    if graphs is None:
        raise ValueError("a model needs graphs to explain: plot_explanation(model, graphs)")
    chosen = check_graphs(graphs)[[graph]]
    if classes is None and len(getattr(explanation, "classes_", ())) > 2:
        classes = explanation.predict(chosen)[0]
    return (explanation.explain(chosen) if classes is None else explanation.explain(chosen, classes)), 0


def _steps(pipeline: Any, molecules: Any, number: int) -> tuple[Any, Any, Any, int]:
    """Return the model of a pipeline, the graphs, what to draw, and the position; one each for molecules."""
    if isinstance(molecules, (list, tuple, np.ndarray)) and len(molecules) and np.ndim(molecules[0]) >= 2:
        grids = pipeline[:-1].transform(molecules)
        return pipeline[-1], grids, grids, number
    from propkernels.molecules.read_molecules import as_list, as_molecules

    if molecules is None:
        raise ValueError("a pipeline needs molecules to explain: plot_explanation(pipeline, molecules)")
    items = as_list(molecules)
    if not -len(items) <= number < len(items):
        raise IndexError(f"there are {len(items)} molecules, and no molecule {number}")
    molecule = as_molecules([items[number]])
    return pipeline[-1], pipeline[:-1].transform(molecule), molecule, 0


def _formulas(
    explanation: Explanation, at: int, molecule: Any, values: dict[int | None, Values]
) -> tuple[dict[int | None, Any], float]:
    """Return one panel of RDKit per iteration, and the scale that their bonds share."""
    from propkernels.molecules.depiction import Panel, bond_scale, values_of_bonds

    bonds = {step: values_of_bonds(molecule, *explanation.edge_contributions(at, step)) for step in values}
    panels = {step: Panel(molecule, values[step], bonds[step]) for step in values}
    return panels, bond_scale(list(values.values()), list(bonds.values()))


def _with_graphs(explanation: Explanation, graphs: Any) -> Explanation:
    if graphs is None:
        if explanation.graphs is None:
            raise ValueError(
                "the explanation does not include its graphs: plot_explanation(explanation, graphs)"
            )
        return explanation
    database = check_graphs(graphs)
    if not np.array_equal(database.graph_ptr, explanation.graph_ptr):
        raise ValueError("graphs are not the explained ones: numbers of nodes differ")
    return explanation.with_graphs(database)


def shown(contributions: Values, t: Any) -> dict[int | None, Values]:
    """Return one array of node contributions per iteration of ``t``; key None: the sum over iterations."""
    n_steps = contributions.shape[1]
    if t is None:
        return {None: contributions.sum(axis=1)}
    if isinstance(t, str):
        if t != "each":
            raise ValueError(f"t must be an int, a sequence of int, 'each' or None; got {t!r}")
        t = range(n_steps)
    steps = [int(step) for step in np.atleast_1d(np.asarray(t))]
    if not steps or min(steps) < 0 or max(steps) >= n_steps:
        raise ValueError(f"t must be between 0 and {n_steps - 1}; got {t!r}")
    return {step: contributions[:, step] for step in steps}


def scaled(values: Values, limit: float | None, is_signed: bool = True) -> tuple[Any, bool]:
    """Return a color normalization around 0 (unsigned: from 0), and whether values exceed its limit."""
    colors = import_optional("matplotlib.colors", extra="plot", purpose="plots need")
    sizes = np.abs(values)
    largest = float(sizes.max(initial=0.0))
    if limit is None:
        limit = float(np.quantile(sizes, 0.99)) if len(sizes) > MANY_NODES else largest
    else:
        limit = check_positive(limit, "limit")
    limit = limit or largest or 1.0
    return colors.Normalize(-limit if is_signed else 0.0, limit), largest > limit


def _fitting(text: str, ax: Any) -> float:
    """Return a font size at most that of labels, so that a text is about as long as the axes are high."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    usual = FontProperties(size=rcParams["axes.labelsize"]).get_size_in_points()
    height = 72 * ax.figure.get_figheight() * ax.get_position().height
    return float(np.clip(height / (LETTER * len(text)), SMALLEST_LETTERS, usual))


def _meaning(explanation: Explanation, names: Mapping[Any, str]) -> str:
    """Return the label of the color bar."""
    favored, against = explanation.speaks_for, explanation.against
    if favored is None:
        return f"contribution to the {explanation.quantity}"
    is_mixed = isinstance(favored, np.ndarray)
    first = "the predicted class" if is_mixed else names.get(favored, explanation.class_name(favored))
    second = "others" if against is None else names.get(against, explanation.opponent)
    return f"← {second}     evidence for     {first} →"
