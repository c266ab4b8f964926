"""The entry point: which libraries a command needs, output that cannot be encoded, interrupts."""

import io
import signal
import subprocess
import sys

import pytest

from propkernels.cli import __main__ as entry


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], False),
        (["--help"], False),
        (["--version"], False),
        (["datasets"], False),
        (["evaluate", "--help"], False),
        (["fit", "-h"], False),
        (["evaluate", "MUTAG"], True),
        (["fit", "x.csv", "-o", "model.pk"], True),
    ],
)
def test_commands_that_compute(words, expected):
    assert entry._will_compute(words) is expected


def test_characters_that_the_output_cannot_encode_are_escaped(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    entry._escape_surrogates()
    print("caf\u00e9 \udce9", flush=True)
    assert raw.getvalue() == b"caf\\xe9 \\udce9\n"


def test_handlers_of_a_host_program_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with entry._quiet_imports():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with entry._quiet_imports():
            assert signal.getsignal(signal.SIGINT) is entry._leave
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_an_unknown_command_is_a_usage_error():
    done = subprocess.run([sys.executable, "-m", "propkernels.cli", "fly"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "No such command 'fly'" in done.stderr
