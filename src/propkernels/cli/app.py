"""Command-line application with all commands."""

from __future__ import annotations

import typer

from propkernels.cli import audit_command as audit
from propkernels.cli import counterfactuals_command as counterfactuals
from propkernels.cli import demo_command as demo
from propkernels.cli import evaluate_command as evaluate
from propkernels.cli import explain_command as explain
from propkernels.cli import explore_command as explore
from propkernels.cli import featurize_command as featurize
from propkernels.cli import fit_command as fit
from propkernels.cli import info_command as info
from propkernels.cli import kernel_command as kernel
from propkernels.cli import learning_command as learning
from propkernels.cli import nodes_command
from propkernels.cli import novelty_command as novelty
from propkernels.cli import predict_command as predict
from propkernels.cli import sets_command as sets
from propkernels.cli import similar_command as similar
from propkernels.cli import watch_command as watch
from propkernels.cli.console import OneSentenceErrors, common

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
    sets.compare,
    sets.duplicates,
    watch.watch,
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
app.add_typer(nodes_command.nodes, name="nodes")
