"""The application: its commands, and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from propkernels._version import __version__
from propkernels.cli import evaluate, fit, info, kernel, predict, similar
from propkernels.cli.checking import audit, novelty
from propkernels.cli.console import OneSentenceErrors
from propkernels.cli.explaining import counterfactuals, explain
from propkernels.cli.exploring import demo, explore
from propkernels.cli.parts import featurize, learning

ABOUT = "Propagation kernels: compare, classify and search graphs."

app = typer.Typer(
    cls=OneSentenceErrors,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=ABOUT,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"propkernels {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that come before a command."""


COMMANDS = (
    demo.demo,
    fit.fit,
    predict.predict,
    explain.explain,
    counterfactuals.counterfactuals,
    explore.explore,
    similar.similar,
    evaluate.evaluate,
    audit.audit,
    novelty.novelty,
    kernel.kernel,
    featurize.featurize,
    featurize.verify,
    learning.index,
    info.convert,
    info.datasets,
    info.info,
)
for command in COMMANDS:
    app.command()(command)
