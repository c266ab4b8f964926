"""Tables, errors and output."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

from propkernels.cli import console
from propkernels.cli.console import sentence


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("two\nlines"), "two lines"),
        (PermissionError(13, "Permission denied", "K.npz"), "K.npz: permission denied"),
        (OSError("the disk is gone"), "the disk is gone"),
        (MemoryError(), "not enough memory"),
        (MemoryError("Unable to allocate 13 GiB"), "not enough memory (Unable to allocate 13 GiB)"),
        (ValueError(), "ValueError"),
    ],
)
def test_sentence(error, expected):
    assert sentence(error) == expected


def test_errors_recommend_commands_instead_of_python(run):
    error = run("fit", "NOSUCH", "-o", "model.pk").stderr
    assert "'propkernels datasets'" in error
    assert "()" not in error
    assert "=True" not in error


def test_error_is_one_line_on_stderr(run):
    result = run("evaluate", "no/such/folder")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "propkernels: the file or folder no/such/folder does not exist\n"


KINDS = [
    KeyError("a mistake"),
    StopIteration(),
    OverflowError("large"),
    TypeError("x"),
    RuntimeError("y"),
]


@pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
def test_every_error_is_one_line(run, monkeypatch, error):
    def broken():
        raise error

    monkeypatch.setattr("propkernels.datasets.list_datasets", broken)
    result = run("datasets")
    assert result.exit_code == 1
    assert result.stderr == f"propkernels: {sentence(error)}\n"
    monkeypatch.setenv(console.TRACEBACK, "1")
    assert run("datasets").exception is error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["fit", "~nobody-of-this-name/x.csv", "-o", "m.pk"],
            "the home folder in ~nobody-of-this-name/x.csv",
        ),
        (["fit", "x.csv", "-o", "m.pk", "--t-max", 10**20], "t_max + 1 must be at most 1048576"),
        (["fit", "x.csv", "-o", "m.pk", "--t-max", 10**9], "t_max + 1 must be at most 1048576"),
    ],
)
def test_odd_arguments_end_in_one_sentence(run, tmp_path, arguments, said):
    pytest.importorskip("rdkit")
    lines = [f"{'C' * (i + 1)},{i % 2}" for i in range(8)]
    (tmp_path / "x.csv").write_text("\n".join(["smiles,active", *lines]) + "\n")
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_results_without_a_standard_output(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(OSError, match="standard output is closed"):
        console.print_records(RECORDS, "csv")
    with pytest.raises(OSError, match="standard output is closed"):
        console.results_stream()


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


@pytest.mark.slow
def test_lone_surrogates_are_printed():
    code = (
        "import sys\nfrom propkernels.cli import __main__, app\n"
        "from propkernels.cli.console import print_text\n"
        "@app.app.command()\ndef say():\n    print_text('caf\\udce9')\n"
        "sys.argv = ['propkernels', 'say']\n__main__.WITHOUT_COMPUTING = {'say'}\n__main__.main()\n"
    )
    done = run_module(code)
    assert (done.returncode, done.stdout) == (0, "caf\\udce9\n"), done.stderr


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0004, "0 ms"), (0.25, "250 ms"), (0.9999, "1.0 s"), (59.97, "1 min 0 s"), (3725, "62 min 5 s")],
)
def test_seconds(value, expected):
    assert console.seconds(value) == expected


def test_text_is_printed_as_it_is(capsys):
    text = "[bold] 12 " + "x" * 300
    console.print_text(text)
    assert capsys.readouterr().out == f"{text}\n"


@pytest.mark.parametrize("width", [80, 200])
def test_table_aligns(width):
    table = console.new_table(["data"], ["accuracy"])
    table.add_row("MUTAG", "85.0 %")
    table.add_row("NCI1", "100.0 %")
    shown = Console(width=width, file=io.StringIO())
    shown.print(table)
    assert [line.rstrip() for line in shown.file.getvalue().splitlines()] == [
        "data    accuracy",
        "────────────────",
        "MUTAG     85.0 %",
        "NCI1     100.0 %",
    ]


def test_cells_are_shown_as_they_are():
    table = console.new_table(["label"], [])
    table.add_row(console.cell("[red]x[/red]"))
    shown = Console(width=80, file=io.StringIO())
    shown.print(table)
    assert "[red]x[/red]" in shown.file.getvalue()


def test_progress_is_silent_without_a_terminal(capsys):
    with console.spinner("Working"):
        pass
    assert capsys.readouterr() == ("", "")


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
