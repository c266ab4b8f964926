"""Command-line application with all commands."""

from __future__ import annotations

from typing import Any

import typer

from propkernels.cli import audit_command as audit
from propkernels.cli import demo_command as demo
from propkernels.cli import evaluate_command as evaluate
from propkernels.cli import explain_command as explain
from propkernels.cli import explore_command as explore
from propkernels.cli import featurize_command as featurize
from propkernels.cli import fit_command as fit
from propkernels.cli import help_command, nodes_command
from propkernels.cli import novelty_command as novelty
from propkernels.cli import predict_command as predict
from propkernels.cli import similar_command as similar
from propkernels.cli.console import OneSentenceErrors, PlainUsage, common

ABOUT = "Propagation kernels: compare, classify and search graphs."


class Grouped(OneSentenceErrors):
    """Commands in groups by task."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per group."""
        for title, names in GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(80)) for name, one in commands if one])


app = typer.Typer(
    cls=Grouped,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=ABOUT,
)


GROUPS = {
    "Start": ("demo", "datasets", "help"),
    "Learn": ("fit", "predict", "evaluate", "nodes"),
    "Understand": ("explain", "explore", "audit", "novelty", "similar"),
    "Larger than memory": ("featurize",),
}
EXAMPLES = {
    "demo": "--html demo.html",
    "fit": "MUTAG -o model.pk",
    "predict": "model.pk new.csv -o out.csv",
    "explain": "model.pk MUTAG -g 12 -o graph.png",
    "explore": "drugs.csv -o page.html --open",
    "similar": "HIV -g 100 -k 10",
    "evaluate": "MUTAG --repeats 10",
    "audit": "NCI1 -o report.html",
    "novelty": "TRAIN NEW -o scores.csv",
    "featurize": "graphs.parquet -o features",
    "datasets": "",
    "help": "input",
}
COMMANDS = (
    demo.demo,
    fit.fit,
    predict.predict,
    explain.explain,
    explore.explore,
    similar.similar,
    evaluate.evaluate,
    audit.audit,
    novelty.novelty,
    featurize.featurize,
    demo.datasets,
    help_command.help,
)
app.callback()(common)
for command in COMMANDS:
    example = f"Example: propkernels {command.__name__} {EXAMPLES[command.__name__]}".rstrip()
    if hasattr(command, "__wrapped__"):  # reads_data
        example = f"How data is read: propkernels help input\n\n{example}"
    app.command(cls=PlainUsage, epilog=example)(command)
app.command("input", cls=PlainUsage, hidden=True)(help_command.input_options)
app.add_typer(nodes_command.nodes, name="nodes")
