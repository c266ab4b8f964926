"""propkernels watch."""

import csv
import json

import numpy as np
import pytest

from propkernels.cli.watch_command import read_stream


@pytest.fixture(scope="module")
def contacts(tmp_path_factory):
    """Forty hours of random contacts; from hour 25 on, everybody meets p0."""
    rng, rows = np.random.default_rng(0), []
    for hour in range(40):
        for _ in range(60):
            a, b = rng.choice(12, 2, replace=False).tolist()
            a, b = (0, max(b, 1)) if hour >= 25 else (a, b)
            rows.append((f"p{a}", f"p{b}", hour * 3600 + int(rng.integers(3600))))
    path = tmp_path_factory.mktemp("stream") / "contacts.csv"
    write(path, rows)
    return path


def write(path, rows, names=("source", "target", "time")):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([names, *rows])


@pytest.mark.slow
def test_alarms_come_after_the_change_and_name_who_changed(run, contacts, tmp_path):
    table = tmp_path / "windows.csv"
    result = run("watch", contacts, "--window", 3600, "--jobs", 1, "-o", table)
    assert result.exit_code == 0, result.stderr
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 27
    alarms = [k for k, row in enumerate(rows) if row["alarm"]]
    assert alarms
    assert alarms[0] + 13 >= 25
    lines = result.stdout.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("Alarm at "))
    assert lines[at + 2].startswith("p0 ")
    assert any(line.endswith("p0") for line in lines[at:])


@pytest.mark.slow
def test_windows_without_a_change_raise_no_alarm(run, contacts, tmp_path):
    quiet = tmp_path / "quiet.csv"
    quiet.write_text("\n".join(contacts.read_text().splitlines()[: 1 + 20 * 60]) + "\n")
    result = run("watch", quiet, "--window", 7200, "--jobs", 1, "--format", "json", "--time", "forward")
    records = json.loads(result.stdout)
    assert [record["alarm"] for record in records] == [""] * 7
    assert all(0 < record["p_value"] <= 1 for record in records)


def test_dates_and_labels_are_read(tmp_path):
    path, states = tmp_path / "contacts.csv", tmp_path / "states.csv"
    days = [("a", "b", "2024-01-01T00:00:00"), ("b", "c", "2024-01-01T12:00:00"), ("a", "c", "2024-01-03")]
    write(path, days, ("from", "to", "date"))
    write(states, [(name, "2024-01-01", "well") for name in "abc"], ("node", "time", "label"))
    stream = read_stream(path, states, 86400.0, 2, directed=False)
    assert stream.begins == ["2024-01-01T00:00:00", "2024-01-03T00:00:00"]
    assert stream.number.tolist() == [0, 0, 1]
    assert set(stream.graphs.node_labels) == {"well"}
    assert len(stream.window(0)) == 2


@pytest.mark.parametrize(
    ("rows", "names", "message"),
    [
        ([("a", "b", 1)], ("x", "y", "time"), "has no column 'source'; its columns are x, y, time"),
        ([("a", "b", 1), ("a", "b", "soon")], ("source", "target", "time"), "row 2 of"),
        ([("a", "b", 1)], ("source", "target", "time"), "there are 1 windows"),
    ],
)
def test_errors_are_sentences(run, tmp_path, rows, names, message):
    path = tmp_path / "contacts.csv"
    write(path, rows, names)
    result = run("watch", path, "--window", 10)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_parts_of_windows_do_not_depend_on_the_unit_of_time(tmp_path):
    rows = [("a", f"b{k}", f"{k / 10:g}") for k in range(40)]
    write(tmp_path / "tenths.csv", rows)
    stream = read_stream(tmp_path / "tenths.csv", None, 1.0, 10, directed=False)
    assert stream.number.tolist() == [k // 10 for k in range(40)]
    rows = [("a", f"b{k}", 1_700_000_000_000_000_000 + k * 10**6) for k in range(40)]
    write(tmp_path / "nanoseconds.csv", rows)
    stream = read_stream(tmp_path / "nanoseconds.csv", None, 1e7, 10, directed=False)
    assert stream.number.tolist() == [k // 10 for k in range(40)]


def test_dates_of_any_century_are_read(tmp_path):
    write(tmp_path / "old.csv", [("a", "b", "1500-01-01"), ("b", "c", "9999-12-31")])
    stream = read_stream(tmp_path / "old.csv", None, 86400.0, 1, directed=False)
    assert stream.begins == ["1500-01-01T00:00:00", "9999-12-31T00:00:00"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("", "b", 1), "row 2 of .* has no source"),
        (("a", " ", 1), "row 2 of .* has no target"),
        (("a", "b", ""), "row 2 of .* has no time"),
        (("a", "b", "inf"), "row 2 of .* needs a number or an ISO date as time, got 'inf'"),
    ],
)
def test_rows_with_gaps_are_named(tmp_path, row, message):
    write(tmp_path / "contacts.csv", [("a", "b", 1), row, ("b", "c", 5)])
    with pytest.raises(ValueError, match=message):
        read_stream(tmp_path / "contacts.csv", None, 1.0, 1, directed=False)
