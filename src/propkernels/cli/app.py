"""The application: its commands, and what they have in common."""

from __future__ import annotations

import typer

from propkernels.cli import evaluate, fit, info, kernel, predict, similar
from propkernels.cli.checking import audit, novelty
from propkernels.cli.console import OneSentenceErrors, common
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
app.callback()(common)
for command in COMMANDS:
    app.command()(command)
