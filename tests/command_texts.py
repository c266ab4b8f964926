"""Texts of commands on a terminal of 80 columns; ``python -m tests.command_texts`` writes the golden file."""

import contextlib
import os
import re
import tempfile
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

import propkernels as pk
from propkernels.cli.app import COMMANDS, app

GOLDEN = Path(__file__).parent / "golden" / "commands.txt"
TERMINAL = {"COLUMNS": "80", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm"}
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TIMES = re.compile(r" *\b\d+(?:\.\d+)? m?s\b| *\b\d+ min \d+ s\b|(?<=\()\d+\.\d [kM]B")
SHOWN = [
    "help input",
    "nodes --help",
    "nodes fit --help",
    "nodes predict --help",
    "nodes explain --help",
    "datasets",
    "fit graphs.parquet --t-max 1 --C 1 --kernel wl -o new.pk",
    "predict model.pk graphs.parquet -o p.csv",
    "evaluate graphs.parquet --folds 3 --t-max 1",
    "audit graphs.parquet",
    "explain model.pk graphs.parquet --graph 3",
    "explain model.pk graphs.parquet -g 3 --flips --top 3",
    "similar graphs.parquet -g 0 -k 3",
    "similar FAMILIES -g 316 -k 3",
    "novelty graphs.parquet graphs.parquet --top 3",
    "nodes fit edges.csv --nodes nodes.csv --target topic -o nodes.pk",
    "nodes explain nodes.pk n1 --top 3",
    "featurize graphs.parquet -o features --n-features 64 --t-max 1",
    "explain model.pk nothing.parquet --graph 3",
    "explain model.pk graphs.parquet --graph 99",
    "fit MUTGA -o x.pk",
    "fit edges.csv -o x.pk",
]


def printed(command: str) -> str:
    """Return what a command prints, without codes of the terminal and spaces at the ends of lines."""
    with mock.patch.dict(os.environ, TERMINAL):
        result = CliRunner().invoke(app, command.split())
    output = result.stderr if result.exit_code else result.stdout
    lines = [TIMES.sub(" TIME", ESCAPES.sub("", line)).rstrip() for line in output.splitlines()]
    return "\n".join([f"$ propkernels {command}", *lines, ""])


def listing() -> str:
    """Return the help of each command, and what some print about a small data set."""
    helps = ["--help", *(f"{command.__name__} --help" for command in COMMANDS)]
    here = {"PROPKERNELS_CACHE": "cache", "PROPKERNELS_DATA": "data"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mock.patch.dict(os.environ, here):
        data = pk.datasets.make_molecules(40, random_state=0)
        data.graphs.to_parquet("graphs.parquet", target=data.target)
        model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=3), C=1.0, random_state=0)
        pk.save_model(model.fit(data.graphs, data.target), "model.pk")
        ends = [
            (i, j) for i in range(30) for j in range(i) if (7 * i + j) % 5 == i % 2 and i // 15 == j // 15
        ]
        Path("edges.csv").write_text("from,to\n" + "".join(f"n{i},n{j}\n" for i, j in ends))
        rows = [f"n{i},{'ab'[i // 15] if i % 2 else ''},{i % 7}\n" for i in range(30)]
        Path("nodes.csv").write_text("name,topic,size\n" + "".join(rows))
        return "\n".join(map(printed, [*helps, *SHOWN]))


if __name__ == "__main__":
    GOLDEN.write_text(listing(), encoding="utf-8")
