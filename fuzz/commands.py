"""Commands with bad words, options, numbers and files: one sentence and a status, never a traceback."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from fuzz.cases import INTERNAL, Case, Refused, Wrong
from fuzz.forging import damaged, pick
from fuzz.models import DATA, file_of
from fuzz.parts import scratch
from fuzz.values import near_power

Generator = np.random.Generator
MOST_LINES = 8  # on stderr: one sentence, or the few lines with which usage is explained
SLOW = {"demo"}  # commands whose defaults take long
FIRST = {
    "fit": "m.csv",
    "predict": "model.pk",
    "explain": "model.pk",
    "counterfactuals": "model.pk",
    "explore": "m.csv",
    "similar": "m.csv",
    "evaluate": "m.csv",
    "audit": "m.csv",
    "novelty": "m.csv",
    "kernel": "m.csv",
    "featurize": "g.parquet",
    "verify": "features",
    "index": "g.parquet",
    "convert": "m.csv",
}
QUICK = {"evaluate": ["--folds", "2", "--repeats", "1", "--kernel", "labels"], "fit": ["--kernel", "labels"]}
VALUES = (
    "",
    "-",
    "x",
    "nan",
    "inf",
    "-1",
    "0",
    "1",
    "2.5",
    "1e400",
    "é",
    "\udce9",
    "a,b",
    "~nouser/x.csv",
    "/",
    ".",
)
VALUES += (
    "m.csv",
    "model.pk",
    "none",
    "auto",
    "true",
    "m.csv,m.csv",
    "smiles",
    "y",
    "[bold]",
    "\x1b[31m",
    "0x10",
)


@cache
def files() -> dict[str, bytes]:
    """What lies in the folder in which a command runs."""
    lines = ["smiles,y", *(f"{'C' * (i % 4 + 1)}{'ON'[i % 2]},{i % 2}" for i in range(12))]
    text = "\n".join(lines).encode() + b"\n"
    with scratch("commands", {}) as folder:
        folder.mkdir(exist_ok=True)
        DATA.graphs.to_parquet(folder / "g.parquet", target=DATA.target)
        parquet = (folder / "g.parquet").read_bytes()
    return {
        "m.csv": text,
        "bad.csv": b'smiles,y\n"CC,1\nCO,0\n',
        "empty.csv": b"",
        "numbers.csv": text.replace(b",0", b",1e300").replace(b",1\n", b",\n"),
        "model.pk": file_of("classifier linear"),
        "g.parquet": parquet,
        "noise.zip": b"PK\x03\x04 nothing",
        "x.sdf": b"\n\n\n  1  0\n$$$$\n",
        "x.smi": b"CCO a\nnot b\n",
        "features/manifest.json": b"{}",
    }


@cache
def app() -> Any:
    """The commands, as click has them: names and options."""
    import typer

    from propkernels.cli.app import app

    return typer.main.get_command(app)


def words(rng: Generator) -> list[str]:
    """A command line that goes wrong somewhere, as a rule."""
    name = pick(rng, sorted(app().commands))
    command, line = app().commands[name], [name]
    if getattr(command, "commands", None):  # a group, such as "nodes"
        word = pick(rng, sorted(command.commands))
        command, line = command.commands[word], [name, word]
    if name in FIRST and rng.random() < 0.8:
        line.append(FIRST[name] if rng.random() < 0.6 else pick(rng, sorted(files())))
    elif rng.random() < 0.7 and name not in SLOW:
        line.append(value(rng))
    for _ in range(int(rng.integers(0, 4))):
        option = pick(rng, command.params)
        given = [text for text in option.opts if text.startswith("-")]
        if given and not getattr(option, "is_flag", False):
            line += [pick(rng, given), value(rng)]
        elif given:
            line.append(pick(rng, given))
        elif rng.random() < 0.3:
            line.append(value(rng))
    if name in SLOW:
        line += [value(rng), value(rng)]
    return [*line, *QUICK.get(name, ())] if rng.random() < 0.9 else [*line, value(rng)]


def value(rng: Generator) -> str:
    style = rng.random()
    if style < 0.3:
        number = near_power(rng)
        return str(number if abs(number) < 5 or abs(number) > 2**24 else 3)
    return pick(rng, sorted(files()) if style < 0.5 else VALUES)


def invoke(line: list[str]) -> tuple[int, str, BaseException | None]:
    """Run a command in this process: its status, what it says on stderr, and an error that came through."""
    from typer.testing import CliRunner

    from propkernels.cli.app import app as commands

    result = CliRunner().invoke(commands, line)
    error = result.exception
    return result.exit_code, result.stderr, None if isinstance(error, SystemExit) else error


def judge(line: list[str], folder: Path) -> None:
    """One sentence and a status, whatever the words are."""
    with chdir(folder):
        status, said, error = invoke(line)
    if error is not None:
        raise error
    if status not in (0, 1, 2):
        raise Wrong(f"{line}: status {status}")
    if "Traceback" in said or len(said.splitlines()) > MOST_LINES:
        raise Wrong(f"{line}: {said[-200:]}")
    if status and (not said.strip() or INTERNAL.search(said)):
        raise Wrong(f"{line}: {said[-200:] or 'nothing is said'}")
    if status:
        raise Refused(said)


def odd_words(rng: Generator, seed: int) -> None:
    with scratch(str(seed), files()) as folder:
        judge(words(rng), folder)


def odd_files(rng: Generator, seed: int) -> None:
    """A command on a damaged file."""
    name = pick(rng, ("m.csv", "g.parquet", "model.pk", "x.sdf", "x.smi", "numbers.csv"))
    changed = {**files(), name: damaged(files()[name], rng)}
    command = pick(rng, ("fit", "kernel", "convert", "audit", "evaluate", "predict", "similar", "novelty"))
    line = {
        "fit": ["fit", name, "-o", "out.pk", "--kernel", "labels"],
        "kernel": ["kernel", name, "-o", "K.npz", "--t-max", "1"],
        "convert": ["convert", name, pick(rng, ("out.parquet", "out_edges.csv", "out.zip"))],
        "audit": ["audit", name],
        "evaluate": ["evaluate", name, *QUICK["evaluate"]],
        "predict": ["predict", "model.pk", name],
        "similar": ["similar", name, "--to", "0"],
        "novelty": ["novelty", name],
    }[command]
    with scratch(str(seed), changed) as folder:
        judge(line, folder)


CHECKS: dict[str, Callable[[Generator, int], None]] = {
    function.__name__: function for function in (odd_words, odd_files)
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 28])
    return Case("commands", seed, pick(rng, sorted(CHECKS)))


def run(case: Case) -> None:
    nowhere = dict.fromkeys(("PROPKERNELS_DATA", "PROPKERNELS_CACHE"), "nothing-here")
    with mock.patch.dict(os.environ, nowhere):
        CHECKS[case.check](np.random.default_rng([case.seed, 29]), case.seed)
