"""``propkernels fit``: train a model and write it to a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import (
    KernelName,
    KernelOption,
    Solver,
    Task,
    build_kernel,
    compile_loops,
    describe_kernel,
    open_dataset,
)
from propkernels.cli.console import (
    Force,
    cell,
    check_output,
    new_table,
    percent,
    print_text,
    seconds,
    size_of,
    stdout,
)
from propkernels.cli.explain_command import can_explain
from propkernels.cli.learning_command import fit_parts, is_parts, refuse

if TYPE_CHECKING:
    from propkernels.datasets import Dataset

OPTIMISTIC = """
This score is optimistic: it is the best score of all candidates, on the folds
that were used to choose. 'propkernels evaluate' estimates the score on new
graphs."""


def fit(
    name: arguments.Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write, such as model.pk.")
    ],
    force: Force = False,
    task: Annotated[
        Task,
        typer.Option("--task", help="Predict classes or numbers; auto: classes if targets are not floats."),
    ] = Task.auto,
    kernel: KernelOption = KernelName.auto,
    t_max: Annotated[
        int | None,
        typer.Option(
            "--t-max", min=0, metavar="N", help="Maximum number of propagation steps; 0 to N are tried."
        ),
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--C", metavar="X", help="Fixed cost C; default: chosen.")
    ] = None,
    solver: Annotated[
        Solver,
        typer.Option("--solver", help="SVM on kernels or on features, or Gaussian process."),
    ] = Solver.auto,
    scoring: Annotated[
        str | None,
        typer.Option(
            "--scoring", metavar="NAME", help="Scorer of scikit-learn for the choice: roc_auc, f1, ..."
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, metavar="N", help="Number of folds of cross-validation; default 5."),
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    smiles_column: arguments.SmilesColumn = None,
    target_column: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--target-column",
            metavar="COLUMN",
            help="Column (or SDF property) of the target; column number from 0 for TU data sets.",
        ),
    ] = None,
    errors: arguments.ErrorsOption = arguments.Errors.stop,
    node_labels: arguments.NodeLabels = "symbol",
) -> None:
    """Train a model on a data set and write it to a file.

    Kernel, t_max, normalization and C are chosen by cross-validation. Graphs without a target are left out.
    From a folder written by 'featurize', a linear model is trained part by part, with fixed C (default 1).
    """
    check_output(output, force, "model.pk")
    if is_parts(name):
        chosen: dict[str, Any] = {"--t-max": t_max is not None, "--scoring": scoring, "--folds": folds}
        chosen |= {"--kernel": kernel is not KernelName.auto, "--solver": solver is not Solver.auto}
        refuse(chosen, "a folder of features is used unchanged, by a linear model")
        fit_parts(name, output, task, target_column, cost, jobs)
        return
    columns: dict[str, Any] = {"smiles_column": smiles_column, "target_column": target_column}
    data = open_dataset(name, **columns, errors=errors, node_labels=node_labels)
    labeled = replace(data, target=choose_target(data, target_column)).with_known_target()
    graphs, target = labeled.graphs, labeled.target
    settings: dict[str, Any] = {
        "kernel": build_kernel(kernel, t_max, None, jobs),
        "solver": solver.value,
        "cv": folds,
        "random_state": seed,
        "n_jobs": jobs,
        "scoring": scoring,
    }
    settings |= {} if t_max is None else {"t_max": range(t_max + 1)}
    settings |= {} if cost is None else {"C": cost}
    model = build_model(task, target, settings)
    print_text(repr(data))
    compile_loops()
    start = perf_counter()
    if len(graphs) < len(data.graphs):
        n_missing = len(data.graphs) - len(graphs)
        have = "has no target and is" if n_missing == 1 else "have no target and are"
        print_text(f"{n_missing} of them {have} left out.")
    model.fit(graphs, target)
    write(model, output, node_labels)
    report(model, output, perf_counter() - start)


def choose_target(data: Dataset, column: str | None) -> Any:
    """Return the target, or the column of a target with several columns."""
    target = data.target
    number = int(column) if column is not None and column.isdecimal() else None
    if target.ndim == 1:
        if number and not {"smiles", "molecules"} & set(data.extras):
            raise ValueError(f"{data.name} has one target column: leave --target out")
        return target
    if number is None or number >= target.shape[1]:
        last = target.shape[1] - 1
        raise ValueError(f"{data.name} has {last + 1} target columns: choose one with --target 0 to {last}")
    return target[:, number]


def build_model(task: Task, target: Any, settings: dict[str, Any]) -> Any:
    """Return an unfitted classifier or regressor."""
    from propkernels.models.classifier import PropagationClassifier
    from propkernels.models.regressor import PropagationRegressor

    is_class = target.dtype.kind in "iubUSO" if task is Task.auto else task is Task.classes
    return (PropagationClassifier if is_class else PropagationRegressor)(**settings)


def write(model: Any, output: Path, node_labels: str) -> None:
    """Save the model with its node labels of molecules, so that 'predict' reads molecules in the same way."""
    from propkernels.storage.model_files import write_model

    write_model(model, output, {} if node_labels == "symbol" else {"node_labels": node_labels})


def report(model: Any, output: Path, took: float) -> None:
    """Print the chosen parameters, the score and the next commands."""
    table = new_table(["chosen", "value"], [])
    for name, value in choices(model):
        table.add_row(name, cell(value))
    stdout().print(table)
    print_text(OPTIMISTIC)
    print_text(f"\nWrote {output} ({size_of(output)}), learned in {seconds(took)}. Next:")
    print_text(f"  propkernels predict {output} NEW -o predictions.csv")
    if can_explain(model):
        print_text(f"  propkernels explain {output} NEW --graph 0 -o graph.png")


def choices(model: Any) -> list[tuple[str, str]]:
    """Return names and values of the parameters chosen by fit."""
    is_class = hasattr(model, "classes_")
    name = model.scoring or ("accuracy" if is_class else "R^2")
    score = percent(model.score_) if name == "accuracy" else f"{model.score_:.3f}"
    parts = getattr(model.kernel_, "kernels", None) or []
    if len(parts) > 1 and model.kernel is None:
        best, *others = [describe_kernel(part) for part in parts]
        rows = [("best kernel", best), *(("averaged with", other) for other in others)]
    else:
        rows = [
            ("kernel", describe_kernel(model.kernel_, without=("t_max", "normalize"))),
            ("t_max", "-" if model.t_max_ is None else str(model.t_max_)),
            ("normalized", "yes" if model.normalize_ else "no"),
        ]
    rows += [
        ("C", f"{model.C_:g}"),
        ("solver", str(model.solver_)),
        (name, f"{score} in {model.n_folds_}-fold cross-validation of the choice (optimistic)"),
    ]
    if is_class:
        rows.insert(
            0, ("classes", ", ".join(map(str, model.classes_.tolist()[:8])) + _more(len(model.classes_)))
        )
    return rows


def _more(n_classes: int) -> str:
    return f", ... ({n_classes})" if n_classes > 8 else ""
