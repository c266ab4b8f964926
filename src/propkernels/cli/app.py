"""Command-line application with all commands."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, get_type_hints

import typer

from propkernels.cli import evaluate_command as evaluate
from propkernels.cli import explain_command as explain
from propkernels.cli import explore_command as explore
from propkernels.cli import featurize_command as featurize
from propkernels.cli import fit_command as fit
from propkernels.cli import nodes_command
from propkernels.cli import predict_command as predict
from propkernels.cli import similar_command as similar
from propkernels.cli.arguments import Input
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
    "demo": "",
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


def help(
    context: typer.Context,
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="A command, or input: how data is read.")
    ] = None,
) -> None:
    """Show the help of a command, or how all commands read data (input)."""
    root: Any = context.parent
    if topic is None:
        typer.echo(root.get_help())
        return
    command = root.command.get_command(root, topic)
    if command is None:
        raise ValueError(f"there is no command {topic!r}; 'propkernels help' lists them")
    with command.make_context(topic, [], parent=root, resilient_parsing=True) as inner:
        typer.echo(inner.get_help())


def input_options(**options: Any) -> None:
    """Options of all commands that read a data set.

    NAME is a data set (see 'propkernels datasets') or a path: TU folder or zip, Parquet, CSV, SDF or SMI of
    molecules, JSON, edge list, point cloud, edges.csv,nodes.csv, or a folder of images, clouds or graphs.

    In tables of edges and nodes, columns of numbers are attributes, text is the label, and "weight" is the
    weight of edges; a line names columns that are not used.
    """


OPTIONS = get_type_hints(Input, include_extras=True)
input_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in OPTIONS.items()
    ]
)
input_options.__annotations__ = OPTIONS
COMMANDS = (
    explore.demo,
    fit.fit,
    predict.predict,
    explain.explain,
    explore.explore,
    similar.similar,
    evaluate.evaluate,
    explore.audit,
    similar.novelty,
    featurize.featurize,
    explore.datasets,
    help,
)
app.callback()(common)
for command in COMMANDS:
    example = f"Example: propkernels {command.__name__} {EXAMPLES[command.__name__]}".rstrip()
    if hasattr(command, "__wrapped__"):  # reads_data
        example = f"How data is read: propkernels help input\n\n{example}"
    app.command(cls=PlainUsage, epilog=example)(command)
app.command("input", cls=PlainUsage, hidden=True)(input_options)
app.add_typer(nodes_command.nodes, name="nodes")
