"""Tables, errors and output."""

from __future__ import annotations

import io
import json

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


def test_error_is_one_line_on_stderr(run):
    result = run("evaluate", "no/such/folder")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "propkernels: the file or folder no/such/folder does not exist\n"


def test_mistakes_in_the_program_keep_their_traceback(run, monkeypatch):
    def broken():
        raise KeyError("a mistake")

    monkeypatch.setattr("propkernels.datasets.list_datasets", broken)
    assert isinstance(run("datasets").exception, KeyError)


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
    with console.progress_bar("Working") as on_progress:
        on_progress(1, 2)
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
