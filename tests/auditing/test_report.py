"""Audit: files, repr and plain values."""

import json

import pytest


def test_files(report, tmp_path):
    for name in ("report.html", "report.md", "report.json"):
        report.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert json.loads((tmp_path / "report.json").read_text())["name"] == "graphs"
    with pytest.raises(ValueError, match=r"end with \.html, \.json, \.md"):
        report.save(tmp_path / "report.pdf")


def test_repr_and_str(report):
    assert repr(report) == "Audit(graphs: 61 graphs, 2 with a duplicate)"
    assert str(report).startswith("Audit of graphs\n- 61 graphs with ")
