"""Further columns of predictions: applicability, substructures, nearest training graphs, skipped rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from propkernels._utils.safe_files import atomic_write

N_SUBSTRUCTURES = 3


def detail_columns(model: Any, graphs: Any) -> dict[str, Any]:
    """Return the share of unseen surroundings, and the strongest substructures of molecules as SMARTS."""
    import numpy as np

    columns: dict[str, Any] = {}
    rule = getattr(model, "rule_", None)
    if rule is None:
        raise ValueError(f"--details needs a classifier or regressor of graphs, not a {type(model).__name__}")
    if rule.vocabularies:
        columns["unseen"] = model.applicability(graphs).by_graph.round(4)
    if rule.is_explained and getattr(graphs, "sources", None) is not None:
        explanation = model.explain(graphs, *([0] if is_multilabel(model) else []))
        found = [explanation.substructures(i, N_SUBSTRUCTURES) for i in range(len(graphs))]
        for number in range(N_SUBSTRUCTURES):
            for key in ("smarts", "contribution"):
                cells = [row[number][key] if number < len(row) else "" for row in found]
                values = [round(cell, 4) if isinstance(cell, float) else cell for cell in cells]
                columns[f"{key}_{number + 1}"] = np.array(values, dtype=object)
    return columns


def is_multilabel(model: Any) -> bool:
    """Return whether a model predicts several labels, of which the first is explained."""
    return bool(getattr(getattr(model, "_layout", None), "multilabel", False))


def nearest_columns(index: Any, graphs: Any) -> dict[str, Any]:
    """Return the most similar training graph of each graph, and the similarity."""
    similarities, ids = index.query(graphs, k=1)
    return {"nearest": ids[:, 0], "similarity": similarities[:, 0].round(4)}


def write_skipped(path: Path, reasons: Mapping[Any, str]) -> None:
    """Write one row per graph that could not be read: its id, and the reason."""
    with atomic_write(path, text=True) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", "reason"])
        writer.writerows(reasons.items())
