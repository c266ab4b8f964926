"""``propkernels fit``: train a model and write it to a file."""

from __future__ import annotations

import textwrap
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

from propkernels.cli import arguments, console
from propkernels.cli.explain_command import can_explain

Duplicates = Literal["keep", "merge"]
MOST_COMPARED = 20_000  # graphs that are compared without being asked to


@arguments.reads_data
def fit(
    name: arguments.Name,
    output: Annotated[Path, console.option("--output -o", "File to write, such as model.pk.", "FILE")],
    force: console.Force = False,
    task: Annotated[
        arguments.Task,
        console.option(
            "--task", "Predict classes or numbers; auto: numbers if the target has fractions or many values."
        ),
    ] = "auto",
    kernel: arguments.KernelOption = "auto",
    t_max: Annotated[
        int | None,
        console.option("--t-max", "Maximum number of propagation steps; 0 to N are tried.", "N", min=0),
    ] = None,
    cost: Annotated[float | None, console.option("--C", "Fixed cost C; default: chosen.", "X")] = None,
    folds: Annotated[
        int | None,
        console.option("--folds", "Hold out folds for the choice; default: each graph alone.", "N", min=2),
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    duplicates: Annotated[
        Duplicates,
        console.option("--duplicates", "Several measurements of one graph: keep them, or merge them."),
    ] = "keep",
    verbose: Annotated[bool, console.option("--verbose -v", "List every kernel of the model.")] = False,
    *,
    source_options: arguments.Input,
) -> None:
    """Train a model on a data set and write it to a file.

    Kernel, t_max, normalization and C are chosen by leave-one-out. Graphs without a target are left out.
    Measurements of equal graphs are counted; --duplicates merge takes their mean, or the most frequent class.
    """
    from propkernels._utils.cells import are_classes
    from propkernels.models.classifier import PropagationClassifier
    from propkernels.models.regressor import PropagationRegressor
    from propkernels.storage.model_files import write_model

    console.check_output(output, force, "model.pk")
    data = source_options.open(name, target_required=True, n_jobs=jobs)
    console.print_text(repr(data).removeprefix("Dataset(").removesuffix(")"))
    known = arguments.known_target(data)
    is_class = are_classes(known.target) if task == "auto" else task == "classes"
    graphs, target = without_duplicates(known.graphs, known.target, is_class, duplicates, jobs)
    settings: dict[str, Any] = {
        "kernel": arguments.build_kernel(kernel, t_max, None, jobs),
        "cv": folds,
        "random_state": seed,
        "n_jobs": jobs,
    }
    settings |= {} if t_max is None else {"t_max": range(t_max + 1)}
    settings |= {} if cost is None else {"C": cost}
    if not is_class and target.dtype.kind in "iu":
        n_values = len(set(target.tolist()))
        console.print_text(
            f"The target has {n_values:,} different numbers: use --task classes if they are classes."
        )
    model = (PropagationClassifier if is_class else PropagationRegressor)(**settings)
    start = perf_counter()
    with console.warnings_as_lines():
        model.fit(graphs, target)
    notes = source_options.notes(data)
    if not reads_descriptors(model.kernel_):
        notes.pop("descriptors", None)
    write_model(model, output, notes)
    report(model, output, perf_counter() - start, verbose)


def without_duplicates(
    graphs: Any, target: Any, is_class: bool, duplicates: Duplicates, jobs: int
) -> tuple[Any, Any]:
    """Return graphs and target, merged if asked for, after a line on several measurements of equal graphs."""
    from propkernels.graphs.database import GraphDatabase
    from propkernels.molecules.measurements import merge_duplicates

    is_asked = duplicates == "merge"
    if not isinstance(graphs, GraphDatabase) or (len(graphs) > MOST_COMPARED and not is_asked):
        return graphs, target
    with console.warnings_as_lines():
        task: Any = "classes" if is_class else "numbers"
        merged = merge_duplicates(graphs, target, task=task, n_jobs=jobs)
    if merged.sentence:
        done = " They are merged." if is_asked else " --duplicates merge takes one target for each."
        console.print_text(merged.sentence + done)
    return (merged.graphs, merged.target) if is_asked else (graphs, target)


def reads_descriptors(kernel: Any) -> bool:
    """Return whether a kernel, or one of a sum, compares descriptors."""
    from propkernels.kernels.descriptor_kernel import DescriptorKernel

    parts = getattr(kernel, "kernels", None) or ()
    return isinstance(kernel, DescriptorKernel) or any(map(reads_descriptors, parts))


def report(model: Any, output: Path, took: float, verbose: bool) -> None:
    """Print the chosen parameters, the score and the next commands."""
    rows = choices(model, verbose)
    left = 2 + max(len(name) for name, _ in rows)
    for name, value in rows:
        console.print_text(textwrap.fill(name.ljust(left) + value, 80, subsequent_indent=" " * left))
    console.print_text(
        f"\nWrote {output} ({console.size_of(output)}), learned in {console.seconds(took)}. Next:"
    )
    console.print_text(f"  propkernels predict {output} NEW -o predictions.csv")
    if can_explain(model):
        console.print_text(f"  propkernels explain {output} NEW --graph 0 -o graph.png")


def choices(model: Any, verbose: bool = False) -> list[tuple[str, str]]:
    """Return names and values of the parameters chosen by fit; verbose: every kernel of a mean."""
    name = "accuracy" if hasattr(model, "classes_") else "R^2"
    score = console.percent(model.score_) if name == "accuracy" else f"{model.score_:.3f}"
    classes = []
    if hasattr(model, "classes_"):
        more = f", ... ({len(model.classes_)})" if len(model.classes_) > 8 else ""
        classes = [("classes", ", ".join(map(str, list(arguments.class_names(model).values())[:8])) + more)]
    return [
        *classes,
        *_kernel_rows(model, verbose),
        ("C", f"{model.C_:g}"),
        ("solver", str(model.solver_)),
        (name, f"{score} of the training graphs held out"),
    ]


def _kernel_rows(model: Any, verbose: bool) -> list[tuple[str, str]]:
    """Return rows that describe the chosen kernel, or the kernels of a default model."""
    parts = getattr(model.kernel_, "kernels", None) or []
    if len(parts) <= 1:
        return [
            ("kernel", arguments.describe_kernel(model.kernel_, without=("t_max", "normalize"))),
            ("t_max", "-" if model.t_max_ is None else str(model.t_max_)),
            ("normalized", "yes" if model.normalize_ else "no"),
        ]
    is_sum = model.kernel_.normalize_parts  # a mean of decisions adds its parts unchanged
    first, other = ("kernel", "plus") if is_sum else ("best kernel", "averaged with")
    best, *others = [arguments.describe_kernel(part) for part in parts]
    if verbose:
        return [(first, best), *((other, text) for text in others)]
    summary = f"{'sum' if is_sum else 'mean'} of {len(parts)} kernels (--verbose lists them)"
    return [("model", summary), (first, best)]
