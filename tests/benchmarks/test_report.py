"""Verdicts and tables."""

from __future__ import annotations

import pytest
from rich.console import Console

from benchmarks import report
from benchmarks.case import Result
from benchmarks.process import json_lines


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"measured": 0.5, "target": 1.0}, "met, 2 x better"),
        ({"measured": 3.0, "target": 1.0}, "missed by 3 x"),
        ({"measured": 300.0, "target": 200.0, "at_least": True}, "met, 1.5 x better"),
        ({"measured": 100.0, "target": 200.0, "at_least": True}, "missed by 2 x"),
        ({"measured": 100.0, "target": 200.0, "at_least": True, "bound": ">"}, "unknown"),
        ({"measured": 1.0}, ""),
        ({"target": 1.0, "status": "absent"}, "absent"),
    ],
)
def test_verdict(values, verdict):
    assert Result("case", "group", **values).verdict == verdict


def results():
    return [
        Result("fast", "kernels", "MUTAG", 1, "s", 0.0051, 0.015),
        Result("slow", "kernels", "NCI1", 2, "s", 1.6, 0.8),
        Result("gone", "kernels", "DD", status="absent"),
        Result("peer", "peers", "PROTEINS", 2, "times", 900.0, 200.0, True, ">", "timed out"),
    ]


def test_terminal_table_is_aligned():
    console = Console(width=150)
    with console.capture() as capture:
        console.print(report.rich_table("Kernels", results()))
    lines = capture.get().splitlines()
    assert lines[0].strip() == "Kernels"
    start = lines[1].index("verdict")
    assert [line[start:].split()[0] for line in lines[2:]] == ["met,", "missed", "absent", "met,"]


def test_markdown_table_has_one_line_a_result():
    lines = report.markdown_table(results()).splitlines()
    assert len(lines) == 2 + len(results())
    assert len({line.count("|") for line in lines}) == 1
    assert "| > 900 x |" in lines[-1]


def test_empty_columns_are_left_out():
    columns, lines = report.lines_of(results())
    assert "part" not in columns
    assert all(len(line) == len(columns) for line in lines)


def test_summary_counts_and_names():
    assert report.summary(results()) == "2 of 3 targets met. Not met: slow (n_jobs=2)."


def test_page_holds_groups_and_environment():
    page = report.markdown_page(
        {"Kernels": results(), "Nothing": []}, {"cores": 2, "load average": [1.0, 2.0]}
    )
    assert "## Kernels" in page
    assert "## Nothing" not in page
    assert "- load average: 1.0, 2.0" in page


@pytest.mark.parametrize(("load", "busy"), [([], False), ([0.5, 9.0, 9.0], False), ([7.5, 1.0, 1.0], True)])
def test_busy_machine_is_pointed_out(load, busy):
    page = report.markdown_page({}, {"cores": 2, "load average": load, "load average at the end": [1.0]})
    assert ("The machine was busy" in page) is busy


def test_json_lines_keep_whole_lines_only():
    printed = b'noise\n{"what": "ours"}\n{"what": "pe'
    assert json_lines(printed) == [{"what": "ours"}]
