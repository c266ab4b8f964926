"""What the page reads: small things as JSON, large ones as sections of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.explorer.columns import Column
from propkernels.explorer.live import code_function, folded_weights, plain_rule
from propkernels.explorer.models import Explained
from propkernels.explorer.structure import graph_arrays
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

BINS = 12  # shown for each class


def page_contents(
    graphs: GraphDatabase,
    found: Explained | None,
    kernel: Any,
    names: list[str] | None,
    label_names: Mapping[Any, str] | None,
    described: list[tuple[Column, NDArray[Any]]],
    n_jobs: int | None,
) -> tuple[dict[str, Any], dict[str, dict[str, NDArray[Any]]]]:
    """All that the page reads: small things, and sections of arrays."""
    rule = plain_rule(kernel, graphs) if found is None else found.model.rule_
    code, code_arrays = code_function(rule, graphs)
    total, weights = folded_weights(rule, graphs, n_jobs)
    directed, structure = graph_arrays(graphs)
    meta: dict[str, Any] = {
        "n": len(graphs),
        "classes": names,
        "labels": _label_texts(graphs.label_column, label_names),
        "kinds": _label_texts(graphs.edge_label_column, {}),
        "directed": directed,
        "code": code,
        "sum": total,
        "streamWeights": rule.stream_weights.tolist(),
        "columns": [column.described() for column, _ in described],
        "model": None,
        "bins": [],
    }
    if found is not None:
        layout = found.layout
        meta["model"] = {
            "columns": rule.weights[0].shape[1],
            "normalize": bool(rule.normalize),
            "intercepts": np.asarray(found.model.intercept_, dtype=np.float64).ravel().tolist(),
            "layout": {"pairwise": layout.pairwise, "classes": layout.n_classes},
        }
        target = next(values for column, values in described if column.key == "target")
        meta["bins"] = _bins(found, graphs, target, names, label_names)
    maps = {column.key: values for column, values in described}
    if found is not None and "margin" not in maps:
        maps["margin"] = found.margins
    return meta, {"map": maps, "graphs": structure, "code": code_arrays, "model": weights}


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
                "bins": _records(model.top_bins(graphs, target, **common), model),
            }
        ]
    classes = model.classes_
    if len(classes) == 2:
        shown = model.top_bins(graphs, classes[target], **common)
        return [{"subject": f"for {names[1]} against {names[0]}", "bins": _records(shown, model)}]
    common["n"] = max(4, BINS // 2)
    return [
        {
            "subject": f"for {name} against the others",
            "bins": _records(model.top_bins(graphs, classes[target], classes=value, **common), model),
        }
        for name, value in zip(names, classes.tolist(), strict=True)
    ]


def _records(bins: Any, model: Any) -> list[dict[str, Any]]:
    n_hashes = getattr(model.kernel_, "n_hashes", 1)
    return [
        {
            "stream": one.t * n_hashes,
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
