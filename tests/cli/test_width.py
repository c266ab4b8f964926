"""Nothing that a command prints is wider than a terminal of 80 columns."""

import re

import pytest

import propkernels as pk
from propkernels.cli.app import COMMANDS
from propkernels.cli.console import print_error, print_records, print_text

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


@pytest.fixture(scope="module")
def model_file(tmp_path_factory, small_folder):
    path = tmp_path_factory.mktemp("models") / "model.pk"
    data = pk.datasets.read_tu(small_folder)
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=9), C=1, random_state=0)
    pk.save_model(model.fit(data.graphs, data.target), path)
    return path


@pytest.mark.parametrize("command", [command.__name__ for command in COMMANDS])
def test_help(run, terminal, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    check_width(result.stdout)


def test_explain(run, terminal, model_file, small_folder):
    result = run("explain", model_file, small_folder, "-g", 3)
    assert result.exit_code == 0, result.output
    check_width(result.stdout)
    assert re.search(r"\d+ +\d +[+-]0\.\d{4} +█+", ESCAPES.sub("", result.stdout))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("datasets",),
        ("explain", "MODEL", "DATA", "-g", 3, "--flips"),
        ("novelty", "DATA", "DATA"),
        ("predict", "MODEL", "DATA"),
        ("audit", "DATA"),
        ("evaluate", "DATA", "--folds", 3),
        ("similar", "DATA", "-g", 0),
        ("explain", "MODEL", "no/such/data/set/of/a/name/that/is/long/enough/to/need/two/lines.zip", "-g", 3),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands(run, terminal, model_file, small_folder, arguments):
    places = {"MODEL": model_file, "DATA": small_folder}
    result = run(*(places.get(word, word) for word in arguments))
    check_width(result.output)


def test_sentences_break_between_words(terminal, capsys):
    words = "A sentence that goes on for much longer than a terminal of eighty columns is wide, as errors do."
    print_text(words)
    print_error(words)
    for text in capsys.readouterr():
        check_width(text)
        assert " ".join(text.split()) == words


def test_wide_tables_are_folded(terminal, capsys):
    print_records([{"name": "word " * 30, "value": 1.5}], "table")
    check_width(capsys.readouterr().out)
