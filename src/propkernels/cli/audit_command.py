"""``propkernels audit``: check a data set for duplicates, leaks and label errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import Input, one_target, reads_data, with_edges
from propkernels.cli.console import Force, check_output, print_text, seconds, size_of


@reads_data
def audit(
    name: arguments.Name,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            "--html",
            metavar="FILE",
            help="Report to write: report.html, report.md or report.json; may be repeated.",
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="NAME", help="Data set of test graphs, compared with NAME."),
    ] = None,
    force: Force = False,
    t_max: arguments.TMax = 5,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Check a data set for duplicates, leaks and label errors.

    Prints the findings as sentences: duplicates, conflicting targets, leaks, scores of baselines, and
    suspected label errors. The report adds charts, drawings and tables; JSON holds all numbers.
    """
    for file in output or []:
        check_output(file, force, "report.html")
        if file.suffix.lower() not in (".html", ".md", ".json"):
            raise ValueError(f"{file} has an unsupported suffix: use .html, .md or .json")
    data = with_edges(one_target(source_options.open(name, n_jobs=jobs)))
    test_data = None if test is None else with_edges(one_target(source_options.open(test, n_jobs=jobs)))
    from propkernels.auditing.examine import audit as audit_graphs

    report = audit_graphs(data, test=test_data, t_max=t_max, random_state=seed, n_jobs=jobs)
    print_text(str(report))
    print_text(f"\nThis took {seconds(report.seconds)} ({report.processor_seconds:.1f} s of processor time).")
    for file in output or []:
        report.save(file)
        print_text(f"Wrote {file} ({size_of(file)}).")
