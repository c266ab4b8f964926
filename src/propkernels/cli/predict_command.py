"""``propkernels predict``: predictions of a model for new graphs."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from propkernels._utils.safe_files import atomic_write
from propkernels.cli import arguments
from propkernels.cli.arguments import ModelFile, class_names, name_of_class, open_model
from propkernels.cli.console import (
    Force,
    check_output,
    percent,
    print_text,
    results_stream,
    spinner,
    warnings_as_lines,
)
from propkernels.cli.inputs import Input, ids_of, reads_data
from propkernels.cli.learning_command import is_parts, predict_parts, rows_of


@reads_data
def predict(
    model: ModelFile,
    name: arguments.Name,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV file to write; default, or -: standard output."
        ),
    ] = None,
    force: Force = False,
    jobs: arguments.Jobs = -1,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            help="Also write sets of classes, or intervals, that hold this share of targets, such as 0.9.",
        ),
    ] = None,
    *,
    source_options: Input,
) -> None:
    """Predict the targets of graphs, as CSV.

    The columns are id, prediction, class (its name, if known), and the probability of each class (std for a
    Gaussian process); with --coverage also set, the possible classes, or low and high, the ends of an
    interval. The id is the name of a molecule, graph or file if there is one, else the number from 0. Targets
    are optional; if the data set has classes, the accuracy is printed. For a folder written by 'featurize',
    predictions are written to the folder -o, one Parquet file per part.
    """
    output = None if output == Path("-") else output
    if is_parts(name):
        predict_parts(open_model(model)[0], name, output, jobs)
        return
    if output is not None:
        check_output(output, force, "predictions.csv")
    fitted, notes = open_model(model)
    data = source_options.open(name, notes=notes, n_jobs=jobs)
    with warnings_as_lines(), spinner(f"Predicting {data.name}"):
        fitted.set_params(n_jobs=jobs)
        predictions, columns = compute(fitted, data.graphs, json.loads(notes.get("targets", "[]")))
        columns |= {} if coverage is None else covering(fitted, data.graphs, coverage)
    if output is None:
        write_rows(results_stream(), ids_of(data) or range(len(predictions)), columns)
        return
    with atomic_write(output, text=True) as stream:
        write_rows(stream, ids_of(data) or range(len(predictions)), columns)
    agreed = agreement(fitted, predictions, data.target)
    print_text(f"Wrote {output}: {len(predictions)} predictions{agreed}.")


def compute(model: Any, graphs: Any, targets: Sequence[Any] = ()) -> tuple[Any, dict[str, Any]]:
    """Return predictions, and all columns to write by name: predictions, probabilities or std."""
    import numpy as np

    if hasattr(model, "features_"):
        graphs = rows_of(model, graphs)
    if getattr(model, "posterior_", None) is not None and not hasattr(model, "predict_proba"):
        mean, deviation = model.predict(graphs, return_std=True)
        return mean, {"prediction": mean, "std": deviation}
    predictions = model.predict(graphs)
    names = targets or list(range(predictions.shape[1] if predictions.ndim == 2 else 0))
    columns = {"prediction": predictions}
    if getattr(model, "class_names_", None) is not None:
        columns["class"] = np.array([name_of_class(model, value) for value in predictions.tolist()])
    if predictions.ndim == 2:
        columns = {f"prediction_{name}": column for name, column in zip(names, predictions.T, strict=True)}
    if hasattr(model, "predict_proba"):
        several = names if predictions.ndim == 2 else model.classes_.tolist()
        chances = model.predict_proba(graphs).T
        columns |= {f"probability_{name}": column for name, column in zip(several, chances, strict=True)}
    return predictions, columns


def covering(model: Any, graphs: Any, coverage: float) -> dict[str, Any]:
    """Return columns that hold the target with a probability: the set of classes, or ends of an interval."""
    if hasattr(model, "predict_set"):
        import numpy as np

        sets = model.predict_set(graphs, coverage)
        if sets.ndim == 3:
            values = ["|".join(np.array(["0", "1"])[row]) for row in sets.reshape(-1, 2)]
            by_label = np.array(values).reshape(sets.shape[:2])
            return {f"set_{label}": column for label, column in enumerate(by_label.T)}
        names = np.array([str(name) for name in class_names(model).values()])
        return {"set": np.array(["|".join(names[row]) for row in sets])}
    if not hasattr(model, "predict_interval"):
        raise ValueError(f"--coverage needs a classifier or regressor, not a {type(model).__name__}")
    intervals = model.predict_interval(graphs, coverage)
    if intervals.ndim == 2:
        return {"low": intervals[:, 0], "high": intervals[:, 1]}
    return {
        f"{end}_{column}": intervals[:, column, i]
        for column in range(intervals.shape[1])
        for i, end in enumerate(("low", "high"))
    }


def write_rows(stream: Any, ids: Sequence[Any], columns: dict[str, Any]) -> None:
    """Write a CSV header and one line per graph."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["id", *columns])
    writer.writerows(zip(ids, *(column.tolist() for column in columns.values()), strict=True))


def agreement(model: Any, predictions: Any, target: Any) -> str:
    """Return the accuracy as a clause, if the targets are classes of the model; else ""."""
    from propkernels._utils.cells import is_missing, typed_column

    if not hasattr(model, "classes_") or target.ndim != 1:
        return ""
    present = ~is_missing(target)
    truth = typed_column(target[present])
    if not present.any() or not set(truth.tolist()) <= set(model.classes_.tolist()):
        return ""
    of = "them" if present.all() else f"the {present.sum():,} with a target"
    return f", {percent((predictions[present] == truth).mean())} of {of} agree with the data set"
