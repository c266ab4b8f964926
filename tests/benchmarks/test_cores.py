"""Times by cores: gains, serial shares and the section of the page."""

import numpy as np
import pytest

from benchmarks import cores, pages

TIMES = cores.Times("job", {1: 160.0, 4: 55.0, 16: 20.0}, 8.0, 1e6, {1: 160.0, 4: 180.0, 16: 240.0})


def test_serial_share_solves_amdahls_law():
    f, n = TIMES.serial_share, 16
    assert TIMES.gain == 8.0
    np.testing.assert_allclose(f + (1 - f) / n, 1 / TIMES.gain)


def test_a_call_that_gains_nothing_is_serial():
    assert cores.Times("job", {1: 3.0, 2: 4.0}).serial_share == 1.0


@pytest.mark.parametrize(("most", "numbers"), [(1, [1]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_core_numbers_end_with_the_most(most, numbers):
    assert cores.core_numbers(most) == numbers


def test_section_has_a_row_per_job_and_stage():
    stage = cores.Times("count", {1: 80.0, 16: 10.0})
    text = cores.section([(TIMES, [stage])], [1, 4, 16], cores.Limits(1e9, 2e9, (15.1, 9.9), (0.3, 0.002)))
    assert "| job | 160 | 55 | 20 | 8.0 | 8 | 7% | 75% | 1.50 | 5% |" in text
    assert TIMES.gain == 16 * TIMES.busy / TIMES.work
    assert "| job | count | 80.0 | 10.0 | 8.0 | 100% | 7% |" in text


def test_numbers_of_cores_that_were_not_measured_are_empty():
    text = cores.section([(TIMES, [])], [1, 2, 4, 16], cores.Limits(1e9, 2e9, (15.1, 9.9), (0.3, 0.002)))
    assert "| job | 160 |  | 55 | 20 | 8.0 |" in text


def test_sections_of_several_runs_are_joined():
    def section(name, time):
        job, stage = cores.Times(name, {1: 160.0, 16: time}), cores.Times("count", {1: 80.0, 16: time})
        return cores.section([(job, [stage])], [1, 16], cores.Limits(1e9, 2e9, (15.0, 9.0), (0.3, 0.002)))

    first, second = cores.JOBS[0].name, cores.JOBS[1].name
    text = cores.joined([section(second, 20.0), section(first, 40.0), section(second, 10.0)])
    both = cores.section(
        [
            (cores.Times(name, {1: 160.0, 16: time}), [cores.Times("count", {1: 80.0, 16: time})])
            for name, time in ((first, 40.0), (second, 10.0))
        ],
        [1, 16],
        cores.Limits(1e9, 2e9, (15.0, 9.0), (0.3, 0.002)),
    )
    assert text == both


def test_rows_that_were_not_measured_again_stay():
    def section(*names):
        return cores.section(
            [(cores.Times(name, {1: 160.0, 16: 20.0}), []) for name in names],
            [1, 16],
            cores.Limits(1e9, 2e9, (15.0, 9.0), (0.3, 0.002)),
        )

    first, second = cores.JOBS[0].name, cores.JOBS[1].name
    assert cores.with_earlier(section(first), section(first)) == section(first)
    text = cores.with_earlier(section(first), section(first, second))
    assert text.count(f"| {first} |") == text.count(f"| {second} |") == 1
    assert text.index(f"| {first} |") < text.index("Not measured") < text.index(f"| {second} |")
    assert cores.with_earlier(section(first), text) == text
    assert cores.with_earlier(section(first, second), text) == section(first, second)


def test_jobs_without_data_are_left_out(monkeypatch):
    monkeypatch.setattr(cores, "is_present", lambda name: name == "DD")
    assert {job.dataset for job in cores.present(cores.JOBS)} == {"DD", cores.MOLECULES, cores.ONE_GRAPH}


def test_a_section_replaces_the_old_one(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    page = tmp_path / "docs" / "measured" / "benchmarks.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Page\n\n<b>\nold\n<e>\n\n## After\n")
    pages.replace_section("<b>\nnew\n<e>\n", "<b>", "<e>")
    assert page.read_text() == "# Page\n\n<b>\nnew\n<e>\n\n## After\n"
    pages.replace_section("<c>\nmore\n<d>\n", "<c>", "<d>")
    assert page.read_text().endswith("## After\n\n<c>\nmore\n<d>\n")
