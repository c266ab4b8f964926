"""explore: build the page of a data set and its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from propkernels._utils.arrays import object_array
from propkernels._utils.cells import has_fractions
from propkernels._utils.optional import has_package
from propkernels._utils.parallel import threaded
from propkernels._utils.randomness import draw_seed
from propkernels._utils.typing import Column, Molecules
from propkernels.convert.check import check_graphs
from propkernels.datasets.tables import ID_NAMES
from propkernels.explorer.carried import carried_rule
from propkernels.explorer.depictions import LARGEST, depictions, given_places, pixel_places, read_molecules
from propkernels.explorer.embedding import (
    SHOWN,
    comparisons,
    embed,
    nearest_graphs,
    quantized,
    spectral_start,
)
from propkernels.explorer.exploration import Exploration, explorer_page
from propkernels.explorer.groups import map_groups
from propkernels.explorer.map_columns import checked_ids, detail_texts, map_columns, named_classes
from propkernels.explorer.models import comparing_rule, given_model, learned_model
from propkernels.explorer.node_page import explore_nodes
from propkernels.explorer.page_contents import (
    in_words,
    page_about,
    page_contents,
    page_facts,
    page_glossary,
    page_notes,
    page_words,
    reading_line,
    telling_graph,
    with_article,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs, GridDatabase
from propkernels.models.classifier import PropagationClassifier
from propkernels.models.regressor import PropagationRegressor
from propkernels.models.targets import Known, check_numbers, known_targets
from propkernels.nodes.model import NodeModel

if TYPE_CHECKING:
    from propkernels.datasets.dataset import Dataset

MOST_GRAPHS, MOST_NODES = 50_000, 4_000_000
NEIGHBORS = 61  # nearest neighbors used by t-SNE
TABS = [(name, name.capitalize()) for name in ("errors", "patterns", "selection", "about")]
MOST_CLASSES = 60  # more distinct integers are a regression target
UNLIKE = 0.05  # share of graphs whose nearest other graph is farther than what a page calls familiar
EQUAL = 1 - 1e-9  # similarity of graphs with the same counts


@threaded
def explore(
    graphs: Dataset | Graphs,
    target: ArrayLike | None = None,
    model: PropagationClassifier | PropagationRegressor | NodeModel | None = None,
    *,
    title: str | None = None,
    ids: Column | None = None,
    class_names: Sequence[str] | None = None,
    columns: Mapping[str, ArrayLike] | None = None,
    molecules: Molecules | None = None,
    layout: ArrayLike | Sequence[ArrayLike] | None = None,
    note: str | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> Exploration:
    """Return an HTML page with a map of graphs and a model, in one file that works offline.

    The page shows a map of all graphs by similarity, the decision for each graph as a sum over nodes and
    iterations, similar graphs, errors, and the bins with the largest weights. It includes the model, so that
    graphs can be edited and decisions, equal to those of Python, are updated at once.

    Parameters
    ----------
    graphs : Dataset, GraphDatabase, GridDatabase or sequence of graphs
        2 to 50,000 graphs. A Dataset provides its target and names. Grids are shown as graphs of pixels with
        four neighbors each.
    target : array-like of shape (n,), optional
        Classes, or numbers to predict. Without a target, the page has a map but no model. Graphs with a
        missing target (None or NaN) are left out, with a warning that counts them.
    model : fitted PropagationClassifier or PropagationRegressor, optional
        The model of the page. Models that a page cannot compute raise an error: Gaussian processes, several
        targets, imputed node labels, and kernels that do not count bins. By default, the default model is
        trained, and the page shows leave-one-out predictions. With a fitted NodeClassifier or
        NodeRegressor, the page shows the nodes of the one graph ``graphs`` (at most 20,000): a map by shared
        neighbors or ``layout``, and for each node its prediction, neighborhood and contributions; ``target``,
        ``ids`` and ``columns`` then have one entry per node.
    title : str, optional
        Title of the page; by default the name of the Dataset.
    ids : sequence, optional
        One id per graph; by default the ids of the database, or numbers.
    class_names : sequence of str, optional
        Names of the classes, in the order of their sorted labels.
    columns : mapping, optional
        Additional columns by which the map can be colored: a name, and one number or word per graph. Texts
        that differ from graph to graph, such as names of molecules, are shown and searched instead.
    molecules : sequence of str or rdkit.Chem.Mol, optional
        One molecule per graph, to draw the graphs as skeletal formulas. By default the molecules that the
        graphs were made from, or molecules built from labels that are called "C", "N", ... and "single",
        "double", ...
    layout : array of shape (nodes, 2 or more), or sequence of arrays, optional
        Node positions; by default, distances are close to the number of edges between nodes.
    note : str, optional
        A remark on the data for the header, such as "a sample of 600 graphs".
    random_state : int, RandomState or None, default=0
        Seed of the hash functions, the folds and the map.
    n_jobs : int or None, default=None
        Number of threads; None: 1, -1: all cores.

    Returns
    -------
    Exploration
        ``save(path)`` writes the page; notebooks display it.

    See Also
    --------
    propkernels.plotting.plot_explanation : One graph as a matplotlib figure.
    propkernels.plotting.plot_embedding : A map as a matplotlib figure.
    GraphIndex : Search for similar graphs in Python.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
    .. [2] L. van der Maaten and G. Hinton (2008). Visualizing data using t-SNE. Journal of Machine Learning
       Research 9, 2579-2605.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(40, random_state=0)
    >>> page = pk.explore(data.graphs, data.target, title="bonds", columns={"parity": [0, 1] * 20})
    >>> page.points.shape
    (40, 2)
    """
    if isinstance(model, NodeModel):
        return explore_nodes(
            graphs,
            target,
            model,
            title=title,
            ids=ids,
            class_names=class_names,
            columns=columns,
            layout=layout,
            note=note,
            random_state=random_state,
        )
    data: Any = graphs if hasattr(graphs, "graphs") and hasattr(graphs, "target_names") else None
    if data is not None:
        target = data.target if target is None and data.target.ndim == 1 else target
        title = data.name if title is None else title
        class_names = (data.target_names or None) if class_names is None else class_names
        molecules = data.extras.get("smiles") if molecules is None and has_package("rdkit") else molecules
        molecules = data.extras.get("molecules") if molecules is None else molecules
        layout = data.extras.get("coordinates") if layout is None else layout
        columns = data.columns if columns is None else columns
    several: Any = graphs if data is None else data.graphs
    given = check_graphs(several)
    ids = _named_by(columns, given) if ids is None else ids
    if ids is None and getattr(given, "ids", None) is None:
        ids = np.arange(len(given)) if data is None else data.extras.get("numbers", np.arange(len(given)))
    n_skipped = len(getattr(given, "skipped", ()))
    what = "input that cannot be read is" if n_skipped == 1 else "inputs that cannot be read are"
    skipped = f"{n_skipped:,} {what} left out" if n_skipped else None
    known = None if target is None else known_targets(target, len(given))
    if known is not None and known.n_missing:
        known.warn()
        layout = _layout_of(known, layout, given)
        ids, molecules = (known.take(_objects(part)) for part in (ids, molecules))
        columns = {name: known.take(values) for name, values in (columns or {}).items()}
        given, target = known.take(given), known.target
    shown, places, pixels = _drawable(given, layout)
    molecules = None if molecules is None else list(molecules)
    chemistry = None if places is not None else read_molecules(shown, molecules)
    if molecules is not None and all(isinstance(molecule, str) for molecule in molecules):
        columns = dict(columns or {}) | {"SMILES": np.asarray(molecules, dtype=str)}
    seed = draw_seed(random_state) % 2**31
    are_numbers = model is not None and is_regressor(model)
    classes, numbers, names = _checked_target(target, len(shown), class_names, are_numbers)
    found = None
    if numbers is None and model is not None:
        raise ValueError("a model requires a target: explore(graphs, target, model)")
    if numbers is None:
        kernel, rule = comparing_rule(shown)
        carried = carried_rule(rule, shown)
    else:
        if model is None:
            found = learned_model(shown, numbers, classes, seed)
        else:
            found = given_model(model, shown, numbers, classes)
        kernel, carried = found.model.kernel_, found.carried
    compared, n_neighbors = comparisons(carried), min(NEIGHBORS, len(shown) - 1)
    similarities, neighbors = nearest_graphs(compared, n_neighbors)
    points = embed(similarities, neighbors, spectral_start(compared, seed), seed)
    novelty = 1.0 - similarities[:, :SHOWN].mean(axis=1)
    words = page_words(shown, pixels)
    described = map_columns(shown, numbers, names, found, novelty, columns, words)
    meta, sections = page_contents(shown, found, carried, names, described)
    by_class = None if names is None else (numbers, names)
    texts = _ids(ids, given)
    details = detail_texts(columns, len(shown))
    meta |= {
        "ids": texts,
        "details": {name: values for name, values in details.items() if values != texts},
        "pixels": pixels,
        "familiar": float(np.quantile(similarities[:, 0], UNLIKE)),
        "words": words,
        "glossary": page_glossary(words, names is not None),
        "source": "" if found is None else in_words(found.source, words),
        "heldOut": found is not None and model is None,
        "first": telling_graph(shown, found, numbers, classes),
        "groups": map_groups(points, by_class, chemistry),
    }
    sections["map"]["xy"] = quantized(points)
    if names is not None:
        sections["map"]["twin"] = twins(similarities, neighbors, numbers)
    if chemistry is not None:
        sections["graphs"] |= depictions(shown, chemistry)
    elif places is not None:
        sections["graphs"]["places"] = places
    name = title or f"{words['graph'].capitalize()}s"
    missing = None if known is None or not known.n_missing else known.sentence
    html = explorer_page(
        "page",
        name,
        meta,
        sections,
        facts=in_words(page_facts(len(shown), found, numbers, classes), words),
        notes=page_notes(shown, carried, [note, skipped, missing], meta["fixed"]),
        about=[in_words(text, words) for text in page_about(found, kernel, n_neighbors)],
        reading=reading_line(meta),
        has_kinds=bool(meta["kinds"]),
        tabs=[("graph", words["graph"].capitalize()), *(TABS if found else TABS[-1:])],
        noun=words["graph"],
        words=words,
        a_graph=with_article(words["graph"]),
        a_node=with_article(words["node"]),
    )
    predictions = None if found is None else found.predictions
    how = "" if found is None else found.how
    return Exploration(name, html, None if found is None else found.model, points, predictions, novelty, how)


def twins(similarities: Any, neighbors: Any, classes: Any) -> Any:
    """Return, for each graph, one of another class with the same counts; -1: none."""
    equal = (similarities >= EQUAL) & (classes[neighbors] != classes[:, None])
    return np.where(equal.any(axis=1), neighbors[np.arange(len(equal)), equal.argmax(axis=1)], -1)


def _named_by(columns: Mapping[str, Any] | None, graphs: Any) -> Any:
    """Return the column that names the graphs, such as "name"; None if they have names or no column fits."""
    ids = getattr(graphs, "ids", None)
    if ids is not None and not all(isinstance(name, (int, np.integer)) for name in ids):
        return None
    texts = detail_texts(columns, len(graphs))
    found = {name.casefold(): values for name, values in texts.items() if all(map(str.strip, values))}
    return next((found[name] for name in ID_NAMES if name in found), None)


def _layout_of(known: Known, layout: Any, graphs: Any) -> Any:
    """Return the layout of the graphs with a target, as one array for all nodes or one per graph."""
    if layout is None or (isinstance(layout, Sequence) and len(layout) == len(graphs)):
        return None if layout is None else [layout[i] for i in known.places.tolist()]
    nodes = np.repeat(np.isin(np.arange(len(graphs)), known.places), graphs.graph_sizes)
    points = np.asarray(layout)
    return points[nodes] if len(points) == len(nodes) else points


def _objects(values: Any) -> Any:
    """Return a sequence as an array of objects; arrays and None are unchanged."""
    return values if values is None or isinstance(values, np.ndarray) else object_array(list(values))


def _drawable(graphs: Any, layout: Any) -> tuple[GraphDatabase, Any, Any]:
    """Return graphs without grids, node positions or None, and the size of a pixel or None."""
    if getattr(graphs, "is_temporal", False):
        raise ValueError("a page cannot show graphs in time: propkernels.plotting.plot_contacts draws one")
    if len(graphs) < 2 or len(graphs) > MOST_GRAPHS or graphs.n_nodes > MOST_NODES:
        raise ValueError(
            f"a page shows 2 to {MOST_GRAPHS:,} graphs with at most {MOST_NODES:,} nodes, got "
            f"{len(graphs):,} with {graphs.n_nodes:,}: select a part, such as graphs[:1000]"
        )
    if isinstance(graphs, GridDatabase):
        plain = graphs.to_graphs((1, 4))
        plain = plain.with_weights(np.ones(plain.adjacency.nnz))
        flat = all(len(graphs[i].shape) == 2 and max(graphs[i].shape) <= LARGEST for i in range(len(graphs)))
        return plain, pixel_places(graphs) if flat else None, 1 if flat else None
    if layout is not None:
        return graphs, given_places(layout, graphs), None
    return graphs, None, None


def _checked_target(
    target: Any, n_graphs: int, names: Any, are_numbers: bool
) -> tuple[Any, Any, list[str] | None]:
    """Return the classes, the target as class numbers, and class names; for regression (None, target, None).

    ``are_numbers``: the model is a regressor. Fractions, and more than 60 distinct values, are also numbers.
    """
    if target is None:
        return None, None, None
    values = np.asarray(target)
    if values.shape != (n_graphs,):
        raise ValueError(
            f"target must hold one value for each of {n_graphs} graphs: a page shows one target only; "
            f"got shape {values.shape}"
        )
    classes, numbers = np.unique(values, return_inverse=True)
    if are_numbers or has_fractions(values) or len(classes) > MOST_CLASSES:
        return None, check_numbers(values, n_graphs), None
    if len(classes) < 2:
        raise ValueError(f"target must have at least 2 classes, got only {classes.tolist()}")
    return classes, numbers.astype(np.int64), named_classes(classes, names)


def _ids(ids: Any, graphs: Any) -> list[str] | None:
    """Return one id per graph as text; None: the ids are 0, 1, ..."""
    names = getattr(graphs, "ids", None) if ids is None else ids
    if names is None:
        return None
    texts = checked_ids(names, len(graphs), "graphs")
    return None if texts == [str(i) for i in range(len(texts))] else texts
