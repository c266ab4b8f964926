"""The section of the page on GPUs: rows that were measured replace those of the page."""

from benchmarks import gpu, pages

ROW = "| {} | {} | 8 | no |  |  |"
HEAD = ["## On a GPU", "", "Measured.", "", "| what | ms | target |", "| --- | --: | --: |"]


def section(*rows):
    return "\n".join([gpu.BEGIN, *HEAD, *(ROW.format(*row) for row in rows), gpu.END, ""])


def test_rows_that_were_not_measured_stay(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    page = tmp_path / "docs" / "measured" / "benchmarks.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Page\n\n" + section(("nodes", 11), ("NCI1", 23)))
    old = pages.section_between(gpu.BEGIN, gpu.END)
    assert gpu.joined(old, section(("NCI1", 9), ("DD", 20))) == section(
        ("nodes", 11), ("NCI1", 9), ("DD", 20)
    )


def test_a_page_without_a_section_takes_the_new_one():
    assert gpu.joined("", section(("DD", 20))) == section(("DD", 20))
