"""``propkernels predict``: predictions of a model for new graphs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from propkernels._utils.safe_files import atomic_write
from propkernels.cli import arguments, console

N_SUBSTRUCTURES = 3


@arguments.reads_data
def predict(
    model: arguments.ModelFile,
    name: arguments.Name,
    output: Annotated[
        Path | None,
        console.option("--output -o", "CSV file to write; default, or -: standard output.", "FILE"),
    ] = None,
    force: console.Force = False,
    jobs: arguments.Jobs = -1,
    coverage: Annotated[
        float | None,
        console.option(
            "--coverage",
            "Also write sets of classes, or intervals, that hold this share of targets, such as 0.9.",
            "SHARE",
        ),
    ] = None,
    details: Annotated[
        bool,
        console.option(
            "--details", "Also write the share of unseen neighborhoods, and substructures as SMARTS."
        ),
    ] = False,
    nearest: Annotated[
        str | None,
        console.option("--nearest", "Also write the most similar graph of the training data set.", "TRAIN"),
    ] = None,
    skipped: Annotated[
        Path | None, console.option("--skipped", "CSV file for graphs that are left out, and why.", "FILE")
    ] = None,
    *,
    source_options: arguments.Input,
) -> None:
    """Predict the targets of graphs, as CSV.

    The columns are id, prediction, class (its name, if known), and the probability of each class (std for a
    Gaussian process); with --coverage also set, the possible classes, or low and high, the ends of an
    interval. The id is the name of a molecule, graph or file if there is one, else the number from 0. Targets
    are optional; if the data set has classes, the accuracy is printed. Large files of molecules and Parquet
    files are read and predicted part by part, in all processes, with bounded memory.
    """
    output = None if output == Path("-") else output
    if output is not None:
        console.check_output(output, force, "predictions.csv")
    if skipped is not None:
        console.check_output(skipped, force, "skipped.csv", other=output)
    keys: Any = None if source_options.columns is None else tuple(source_options.columns)
    unaimed = replace(source_options, target_columns=None, columns=keys)  # also hashable
    wanted = Wanted(str(model), coverage, details, nearest, unaimed, jobs)
    if source_options.is_large(name):
        n_rows, reasons = predict_large(wanted, name, output)
        if skipped is not None:
            console.write_csv(skipped, ["id", "reason"], reasons.items())
        if output is not None:
            console.print_text(f"Wrote {output}: {n_rows:,} predictions.")
        return
    opened = arguments.open_model(model)
    fitted = opened.model
    data = opened.prepared(source_options.open(name, notes=opened.notes, n_jobs=jobs))
    with console.warnings_as_lines(), console.spinner(f"Predicting {data.name}"):
        opened.use_threads(jobs)
        predictions, columns = all_columns(wanted, fitted, opened.notes, data.graphs)
    if skipped is not None:
        console.write_csv(skipped, ["id", "reason"], getattr(data.graphs, "skipped", {}).items())
    rows = rows_of(arguments.ids_of(data) or range(len(predictions)), columns)
    if output is None:
        console.write_lines(console.results_stream(), ["id", *columns], rows)
        return
    console.write_csv(output, ["id", *columns], rows)
    agreed = agreement(fitted, predictions, data.target)
    console.print_text(f"Wrote {output}: {len(predictions)} predictions{agreed}.")


@dataclass(frozen=True)
class Wanted:
    """Options of the predictions.

    Attributes
    ----------
    model : str
        Path of the model.
    coverage : float or None
    details : bool
    nearest : str or None
        Training data set.
    source_options : Input
    jobs : int
    """

    model: str
    coverage: float | None
    details: bool
    nearest: str | None
    source_options: arguments.Input
    jobs: int


def all_columns(
    wanted: Wanted, fitted: Any, notes: Mapping[str, str], graphs: Any
) -> tuple[Any, dict[str, Any]]:
    """Return predictions, and all columns to write by name."""
    predictions, columns = compute(fitted, graphs, json.loads(notes.get("targets", "[]")))
    columns |= {} if wanted.coverage is None else covering(fitted, graphs, wanted.coverage)
    columns |= detail_columns(fitted, graphs) if wanted.details else {}
    if wanted.nearest is not None:
        similarities, ids = training_index(wanted, tuple(notes.items())).query(graphs, k=1)
        columns |= {"nearest": ids[:, 0], "similarity": similarities[:, 0].round(4)}
    return predictions, columns


@lru_cache(maxsize=1)
def training_index(wanted: Wanted, notes: tuple[tuple[str, str], ...]) -> Any:
    """Return an index of the training graphs, read as for the model; with their names, if they have some."""
    from propkernels.search.index import GraphIndex

    assert wanted.nearest is not None
    options, named = replace(wanted.source_options, id_column=None), wanted.source_options.id_column
    data = options.open(wanted.nearest, notes=dict(notes), n_jobs=wanted.jobs)
    graphs: Any = data.graphs
    graphs = graphs.with_ids(data.columns[named]) if named in data.columns else graphs
    return GraphIndex(similarity="jaccard", random_state=0, n_jobs=wanted.jobs).fit(graphs)


def predict_large(wanted: Wanted, name: str, output: Path | None) -> tuple[int, dict[Any, str]]:
    """Write predictions part by part, in processes; return their number, and why rows were left out."""
    from joblib import Parallel, delayed

    from propkernels._utils.progress import ProgressBar

    plan = wanted.source_options.plan(name, arguments.open_model(Path(wanted.model)).notes)
    one = replace(wanted, jobs=1)
    done = Parallel(n_jobs=wanted.jobs, return_as="generator")(delayed(predict_part)(one, p) for p in plan)
    n_rows, reasons = 0, dict[Any, str]()
    with (
        nullcontext(console.results_stream())
        if output is None
        else atomic_write(output, text=True) as stream,
        ProgressBar("Predicting", total=len(plan)) as bar,
    ):
        for ids, columns, left_out in done:
            if ids:
                console.write_lines(stream, None if n_rows else ["id", *columns], rows_of(ids, columns))
            n_rows += len(ids)
            reasons.update(left_out)
            bar.step()
        if not n_rows:
            raise ValueError(f"{name} has no graph that can be read")
    return n_rows, reasons


def predict_part(wanted: Wanted, part: Any) -> tuple[list[Any], dict[str, Any], dict[Any, str]]:
    """Return ids and columns of the graphs of a part, and why others were left out."""
    import warnings

    import numpy as np

    from propkernels.scale.partition import iter_part

    opened = _opened(wanted.model)
    ids: list[Any] = []
    found: list[dict[str, Any]] = []
    reasons: dict[Any, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # left-out rows are returned with their reasons
        for block in iter_part(part):
            ids += block.ids.tolist() if block.names is None else block.names
            reasons |= block.graphs.skipped
            if len(block.graphs):
                graphs = block.graphs
                if opened.first is not None:
                    graphs = opened.graphs_of(graphs.sources, str(part.path))
                found.append(all_columns(wanted, opened.model, opened.notes, graphs)[1])
    joined = {key: np.concatenate([columns[key] for columns in found]) for key in (found[0] if found else ())}
    return ids, joined, reasons


@lru_cache(maxsize=1)
def _opened(model: str) -> arguments.Fitted:
    """Return a model with one thread."""
    opened = arguments.open_model(Path(model))
    opened.use_threads(1)
    return opened


def compute(model: Any, graphs: Any, targets: Sequence[Any] = ()) -> tuple[Any, dict[str, Any]]:
    """Return predictions, and all columns to write by name: predictions, probabilities or std."""
    import numpy as np

    if getattr(model, "posterior_", None) is not None and not hasattr(model, "predict_proba"):
        mean, deviation = model.predict(graphs, return_std=True)
        return mean, {"prediction": mean, "std": deviation}
    predictions = model.predict(graphs)
    names = targets or list(range(predictions.shape[1] if predictions.ndim == 2 else 0))
    columns = {"prediction": predictions}
    if getattr(model, "class_names_", None) is not None:
        columns["class"] = np.array([arguments.name_of_class(model, value) for value in predictions.tolist()])
    if predictions.ndim == 2:
        columns = {f"prediction_{name}": column for name, column in zip(names, predictions.T, strict=True)}
    if hasattr(model, "predict_proba"):
        several = names if predictions.ndim == 2 else model.classes_.tolist()
        chances = model.predict_proba(graphs).T
        columns |= {f"probability_{name}": column for name, column in zip(several, chances, strict=True)}
    return predictions, columns


def detail_columns(model: Any, graphs: Any) -> dict[str, Any]:
    """Return the share of unseen neighborhoods, and the strongest substructures of molecules as SMARTS."""
    import numpy as np

    columns: dict[str, Any] = {}
    rule = getattr(model, "rule_", None)
    if rule is None:
        raise ValueError(f"--details needs a classifier or regressor of graphs, not a {type(model).__name__}")
    if rule.vocabularies:
        columns["unseen"] = model.applicability(graphs).by_graph.round(4)
    if rule.is_explained and getattr(graphs, "sources", None) is not None:
        is_multilabel = bool(
            getattr(getattr(model, "_layout", None), "multilabel", False)
        )  # the first is explained
        explanation = model.explain(graphs, *([0] if is_multilabel else []))
        found = [explanation.substructures(i, N_SUBSTRUCTURES) for i in range(len(graphs))]
        for number in range(N_SUBSTRUCTURES):
            for key in ("smarts", "contribution"):
                cells = [row[number][key] if number < len(row) else "" for row in found]
                values = [round(cell, 4) if isinstance(cell, float) else cell for cell in cells]
                columns[f"{key}_{number + 1}"] = np.array(values, dtype=object)
    return columns


def covering(model: Any, graphs: Any, coverage: float) -> dict[str, Any]:
    """Return columns that hold the target with a probability: the set of classes, or ends of an interval."""
    if hasattr(model, "predict_set"):
        import numpy as np

        sets = model.predict_set(graphs, coverage)
        if sets.ndim == 3:
            values = ["|".join(np.array(["0", "1"])[row]) for row in sets.reshape(-1, 2)]
            by_label = np.array(values).reshape(sets.shape[:2])
            return {f"set_{label}": column for label, column in enumerate(by_label.T)}
        names = np.array([str(name) for name in arguments.class_names(model).values()])
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


def rows_of(ids: Sequence[Any], columns: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Return one row per graph."""
    return zip(ids, *(column.tolist() for column in columns.values()), strict=True)


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
    return f", {console.percent((predictions[present] == truth).mean())} of {of} agree with the data set"
