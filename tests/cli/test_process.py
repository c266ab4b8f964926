"""The process of a command: what it imports, how it ends, and names of files that are not UTF-8."""

import io
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import propkernels as pk
from propkernels.cli import __main__ as entry
from propkernels.cli.app import COMMANDS, EXAMPLES, GROUPS

# app

HEAVY = ("numpy", "scipy", "sklearn", "joblib", "requests", "networkx")


def test_version(run):
    assert run("--version").stdout == f"propkernels {pk.__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["evaluate", "--help"], ["similar", "--help"]]
)
def test_nothing_heavy_is_imported_for(arguments):
    code = (
        "import sys; sys.argv = ['propkernels', *sys.argv[1:]]\n"
        "from propkernels.cli.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"loaded = sorted(set(sys.modules) & set({HEAVY}))\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)


def test_every_command_has_a_group_and_an_example_with_its_options(run):
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted([*(command.__name__ for command in COMMANDS), "nodes"])
    for name, example in EXAMPLES.items():
        shown = run(name, "--help").stdout
        assert f"Example: propkernels {name} {example}".strip() in shown
        assert all(option in shown for option in re.findall(r"(?<= )-+[\w-]+", f" {example}")), name


# main


def test_characters_that_the_output_cannot_encode_are_escaped(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    entry._escape_surrogates()
    print("caf\u00e9 \udce9", flush=True)
    assert raw.getvalue() == b"caf\\xe9 \\udce9\n"


# interrupt

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")

LISTENING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def interrupted(process):
    """Send Ctrl-C once the process says that it works; its status and what it says."""
    assert process.stdout.readline() == "started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def start(code, *arguments):
    """Run code in another interpreter, as from a terminal: a job in the background would ignore Ctrl-C."""
    command = [sys.executable, "-c", LISTENING + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


IN_PYTHON = """
import sys, time
from propkernels.cli import __main__, app

@app.app.command()
def wait():
    print("started", flush=True)
    time.sleep(60)

sys.argv = ["propkernels", "wait"]
__main__.main()
"""


def test_a_command_is_interrupted_with_one_line():
    status, errors = interrupted(start(IN_PYTHON))
    assert status == 130
    assert errors == "propkernels: interrupted, stopping\n"


# file names

ROWS = "smiles,active\n" + "".join(f"{'C' * (i % 7 + 1)}{'O' if i % 2 else 'N'},{i % 2}\n" for i in range(24))


@pytest.fixture
def source(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    try:
        path.write_text(ROWS)
    except OSError:
        pytest.skip("the file system takes names in UTF-8 only")
    return path


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="names of POSIX are bytes")
@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["audit"], b"r\xe9port.html"),
        (["explore"], b"page\xe9.html"),
        (["featurize", "--n-features", "1024"], b"feat\xe9res"),
    ],
)
def test_commands_take_any_name(source, tmp_path, command, output):
    out = tmp_path / os.fsdecode(output)
    words = [sys.executable, "-m", "propkernels.cli", command[0], str(source), *command[1:], "-o", str(out)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(words, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    assert out.exists()
