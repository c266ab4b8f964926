"""Tables, texts and records that commands print."""

import csv
import io
import json
import re
import subprocess
import sys

import pytest

import propkernels as pk
from propkernels.cli import console
from propkernels.cli.arguments import build_kernel, describe_kernel
from propkernels.cli.console import print_error, print_text
from propkernels.kernels.neighborhoods import KERNELS
from propkernels.propagation import Diffusion

# console


def run_module(code, **options):
    """Run the command line in another interpreter."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="closes a descriptor")
def test_a_closed_standard_output_is_said():
    code = "import os, subprocess, sys; sys.exit(subprocess.call([sys.executable, '-m', 'propkernels.cli', "
    code += "'datasets', '--format', 'csv'], preexec_fn=lambda: os.close(1)))"
    done = run_module(code)
    assert done.returncode == 1
    assert done.stderr == "propkernels: standard output is closed, so results cannot be printed\n"


def test_words_are_printed_as_they_are(capsys):
    text = "[bold]-" + "x" * 300
    console.print_text(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_names_do_not_steer_a_terminal(capsys):
    console.print_text("Graph 0 (\x1b[2Jx)")
    print_error("\x9bfault")
    console.print_records([{"name": "\x1b]0;x\x07\ny"}], "table")
    shown = capsys.readouterr()
    assert shown.out == "Graph 0 (\\x1b[2Jx)\nname\n\\x1b]0;x\\x07\\x0ay\n"
    assert shown.err == "\\x9bfault\n"


RECORDS = [{"name": "a[b]", "share": 0.123456, "n": 1}, {"name": "c", "share": None, "n": 20}]


def test_records_as_a_table(capsys):
    console.print_records(RECORDS[:1], "table", {"share": ".2f"})
    assert capsys.readouterr().out == "name  share  n\na[b]   0.12  1\n"


def test_records_for_programs(capsys):
    console.print_records(RECORDS, "csv", {"share": ".2f"})
    assert capsys.readouterr().out == "name,share,n\na[b],0.123456,1\nc,,20\n"
    console.print_records(RECORDS, "json", {"share": ".2f"})
    assert json.loads(capsys.readouterr().out) == RECORDS


@pytest.mark.parametrize(("kind", "expected"), [("table", "\n"), ("csv", "\n"), ("json", "[]\n")])
def test_no_records(capsys, kind, expected):
    console.print_records([], kind)
    assert capsys.readouterr().out == expected


# width

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def terminal(monkeypatch):
    """Make rich believe in a terminal of 80 columns without colors."""
    for name, value in {"COLUMNS": "80", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)


def check_width(text):
    lines = [ESCAPES.sub("", line) for line in text.splitlines()]
    assert lines
    assert [line for line in lines if len(line.rstrip()) > 80] == []


def test_sentences_break_between_words(terminal, capsys):
    words = "A sentence that goes on for much longer than a terminal of eighty columns is wide, as errors do."
    print_text(words)
    print_error(words)
    for text in capsys.readouterr():
        check_width(text)
        assert " ".join(text.split()) == words


def test_sentences_break_without_a_terminal(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.__stdout__", None)
    print_text("- " + "A finding that goes on. " * 20)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith("  ") for line in lines[1:])


def test_wide_tables_are_folded(terminal, capsys):
    console.print_records([{"name": "word " * 30, "value": 1.5}], "table")
    check_width(capsys.readouterr().out)


# arguments


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_has_a_kernel(name):
    kernel = build_kernel(name, 3, 5, 2)
    assert type(kernel).__name__ == KERNELS[name]
    known = kernel.get_params()
    assert known["n_jobs"] == 2
    assert known.get("t_max", 3) == 3
    assert known.get("random_state", 5) == 5
    assert build_kernel("auto", 3, 5, 2) is None
    assert build_kernel("propagation", None, None, 1).t_max == pk.PropagationKernel().t_max


def test_description_leaves_defaults_out():
    kernel = pk.PropagationKernel(propagation=Diffusion(0.5), t_max=2, random_state=1, n_jobs=2)
    assert describe_kernel(kernel) == "propagation kernel (propagation Diffusion(laziness=0.5), t_max 2)"
    assert describe_kernel(pk.WeisfeilerLehman(t_max=2), without=("t_max",)) == "Weisfeiler-Lehman"


# datasets command


def test_formats_for_programs(run):
    records = json.loads(run("datasets", "--format", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(run("datasets", "--format", "csv").stdout)))
    assert [record["name"] for record in records] == [line["name"] for line in lines]
    assert len(records) > 5


def test_shell_completion(run, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # there may be no shell above us
    shown = run("--show-completion", "bash")
    assert shown.exit_code == 0
    assert "complete" in shown.stdout
