"""propkernels evaluate."""

import re

import pytest

import propkernels as pk
from propkernels.models.cross_validation import evaluate

QUICK = ("--folds", 3, "--t-max", 2)


def row(result, name):
    """Cells of one row of the printed table."""
    line = next(line for line in result.stdout.splitlines() if line.startswith(name))
    return re.split(r"\s{2,}", line.strip())


@pytest.mark.slow
def test_table_says_what_python_says(run, small_folder):
    """One run with all rows, the default model among them: values, tests, and how they are printed."""
    result = run("evaluate", small_folder, *QUICK, "--seed", 3, "--jobs", 1)
    assert result.exit_code == 0
    data, protocol = pk.datasets.read_tu(small_folder), {"cv": 3, "random_state": 3}
    walk, labels = (evaluate(data, model=pk.PropagationKernel(t_max=t), **protocol) for t in (2, 0))
    assert row(result, "PK")[1:4] == [
        f"{100 * walk.mean:.1f} %",
        f"{100 * walk.standard_error:.1f} %",
        walk.describe_choices("t_max"),
    ]
    assert row(result, "LABELS")[3] == "0"
    model = evaluate(data, model=pk.PropagationClassifier(), **protocol)
    assert row(result, "default")[1] == f"{100 * model.mean:.1f} %"
    assert row(result, "WL")[1].endswith("%")
    assert "default vs. label counts: " in result.stdout
    test = walk.compare(labels)
    assert f"corrected paired t-test, p = {test.corrected_p:.2g}" in result.stdout
    first, *lines = result.stdout.splitlines()
    assert first.startswith("SMALL: 40 graphs")
    assert max(map(len, lines)) <= 80


def test_kernels_by_name(run, small_folder):
    result = run("evaluate", small_folder, *QUICK, "--kernel", "shortest-path", "--kernel", "propagation")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line for line in result.stdout.splitlines() if line.startswith(("LAB", "PK", "short", "WL"))]
    assert [line.split()[0] for line in lines] == ["LABELS", "shortest-path", "PK", "shortest-path", "PK"]


# protocols and files


def test_one_line_per_fold_goes_into_a_file(run, small_folder, tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "folds.csv"
    assert run("evaluate", small_folder, *QUICK, "--kernel", "wl", "-o", path).exit_code == 0
    table = pandas.read_csv(path)
    assert list(table.columns) == ["data", "kernel", "repeat", "fold", "accuracy", "t_max", "C"]
    assert table.groupby("kernel").size().to_dict() == {"LABELS": 3, "WL": 3}
    assert [p.name for p in tmp_path.iterdir()] == ["folds.csv"]


def test_the_page_shows_the_table_and_the_folds(run, small_folder, tmp_path):
    page = tmp_path / "page.html"
    common = ("evaluate", small_folder, *QUICK, "--kernel", "propagation")
    result = run(*common, "--html", page)
    assert result.exit_code == 0
    assert f"Wrote {page}" in " ".join(result.stdout.split())
    html = page.read_text(encoding="utf-8")
    assert html.count("<circle") == 2 * 3 + 1  # a dot for each fold of LABELS and PK, and the button
    words = ("propagation kernel vs. label counts", "Confusion matrices", "default-src")
    for text in (row(result, "PK")[1], *words):
        assert text in html
    assert (
        "nowhere is not a folder" in run(*common, "--html", tmp_path / "nowhere" / "page.html").stderr.lower()
    )
