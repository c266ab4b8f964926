"""What the page reads: small things as JSON, large ones as sections of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.explorer.carried import CarriedRule
from propkernels.explorer.map_columns import Column
from propkernels.explorer.models import Explained
from propkernels.explorer.structure import graph_arrays
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.models.defaults import has_views

BINS = 12  # shown for each class


def page_contents(
    graphs: GraphDatabase,
    found: Explained | None,
    carried: CarriedRule,
    names: list[str] | None,
    label_names: Mapping[Any, str] | None,
    described: list[tuple[Column, NDArray[Any]]],
) -> tuple[dict[str, Any], dict[str, dict[str, NDArray[Any]]]]:
    """All that the page reads: small things, and sections of arrays."""
    directed, structure = graph_arrays(graphs)
    short = short_names(graphs.label_column, label_names)
    if any("attributes" in code for code in carried.codes):
        structure["attributes"] = np.asarray(graphs.node_attributes, dtype=np.float64).ravel()
    meta: dict[str, Any] = {
        "n": len(graphs),
        "classes": names,
        "labels": _label_texts(graphs.label_column, short),
        "labelChoices": _label_texts(graphs.label_column, label_names),
        "kinds": _label_texts(graphs.edge_label_column, {}),
        "directed": directed,
        "codes": carried.codes,
        "sums": [bins.sum for bins in carried.bins],
        "members": carried.members,
        "columns": [column.described() for column, _ in described],
        "model": None,
        "bins": [],
    }
    if found is not None:
        layout = found.layout
        meta["model"] = {
            "columns": found.model.rule_.n_decisions,
            "intercepts": np.asarray(found.model.intercept_, dtype=np.float64).ravel().tolist(),
            "layout": {"pairwise": layout.pairwise, "classes": layout.n_classes},
        }
        target = next(values for column, values in described if column.key == "target")
        meta["bins"] = _bins(found, graphs, target, names, short)
    maps = {column.key: values for column, values in described}
    if found is not None and "margin" not in maps:
        maps["margin"] = found.margins
    return meta, {"map": maps, "graphs": structure} | carried.sections


def short_names(column: Any, names: Mapping[Any, str] | None) -> dict[Any, str]:
    """Names that fit a node: of labels with several views of it, the first, such as an atom's symbol."""
    views = {value: str(value[0]) for value in column.values} if has_views(column) else {}
    return views | dict(names or {})


def _label_texts(column: Any, names: Mapping[Any, str] | None) -> list[str]:
    if not isinstance(column, LabelColumn):
        return []
    return [str((names or {}).get(value, value)) for value in column.values]


def _bins(found: Explained, graphs: Any, target: Any, names: Any, label_names: Any) -> list[dict[str, Any]]:
    """The bins that matter most, for each class against the others where there are more than two."""
    model = found.model
    common: dict[str, Any] = {"n": BINS, "label_names": label_names}
    if names is None:
        return [
            {
                "subject": "for a larger prediction",
                "bins": _records(model.top_bins(graphs, target, **common), found),
            }
        ]
    classes = model.classes_
    if len(classes) == 2:
        shown = model.top_bins(graphs, classes[target], **common)
        return [{"subject": f"for {names[1]} against {names[0]}", "bins": _records(shown, found)}]
    common["n"] = max(4, BINS // 2)
    return [
        {
            "subject": f"for {name} against the others",
            "bins": _records(model.top_bins(graphs, classes[target], classes=value, **common), found),
        }
        for name, value in zip(names, classes.tolist(), strict=True)
    ]


def _records(bins: Any, found: Explained) -> list[dict[str, Any]]:
    carried = found.carried
    return [
        {
            "vocabulary": carried.places[one.member],
            "stream": one.stream,
            "bin": carried.bins[carried.places[one.member]].place(one.stream, one.code),
            "t": one.t,
            "weight": one.weight,
            "count": one.n_graphs,
            "with": _number(one.mean_with),
            "without": _number(one.mean_without),
            "level": one.level,
            "graph": one.graph,
            "node": one.node,
            "nodes": list(one.nodes),
            "surroundings": one.surroundings,
        }
        for one in bins
    ]


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else value
