"""Outline: sections, tables, charts and drawings of a report."""

import pytest

from propkernels.auditing.outline import outline


@pytest.fixture(scope="module")
def sections(report):
    return {section.topic: section for section in outline(report)}


def test_every_sentence_is_in_its_section(report, sections):
    assert list(sections) == ["graphs", "sameness", "learning", "suspects"]
    listed = [sentence for section in sections.values() for sentence in section.sentences]
    assert listed == list(report.sentences)


def test_rows_of_tables_are_as_long_as_their_heads(sections):
    tables = [table for section in sections.values() for table in section.tables]
    assert len(tables) >= 6
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.head)}, table.title


def test_conflicts_and_steps_are_listed(report, sections):
    tables = {table.title: table for table in sections["sameness"].tables}
    assert tables["Duplicates with different targets"].rows[0][0] == "7, 60"
    steps = tables["Graphs that t steps distinguish"].rows
    assert [row[:2] for row in steps] == [(step.t, step.n_groups) for step in report.sameness.by_step]


def test_charts_are_svg(sections):
    charts = [chart for section in sections.values() for chart in section.charts]
    assert {"learning curve", "calibration", "graphs per class"} <= {chart.title for chart in charts}
    assert all(chart.draw().startswith("<svg") for chart in charts)


def test_captions_name_graph_class_and_size(report, sections):
    drawing = sections["graphs"].drawings[0]
    size = int(report.graphs.graph_sizes[drawing.graph])
    assert drawing.caption.startswith(f"graph {drawing.graph}, class ")
    assert drawing.caption.endswith(f": typical, {size} nodes")
