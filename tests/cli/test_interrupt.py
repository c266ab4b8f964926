"""Ctrl-C: one line, at once, whatever the main thread is doing."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")

BUSY = """
import sys
import numpy as np
from propkernels import _core
from propkernels.cli.__main__ import prompt_interrupts
from propkernels._utils.safe_files import atomic_write

with prompt_interrupts(), atomic_write(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("started", flush=True)
    _core.take_pieces(np.zeros(1, dtype=np.int64), 10**12, -1, 1)  # one piece of days
"""


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


@pytest.mark.slow
def test_compiled_code_is_interrupted(tmp_path):
    """Without the watching thread this takes days."""
    status, errors = interrupted(start(BUSY, tmp_path / "file"))
    assert status == 130
    assert errors == "propkernels: interrupted, stopping\n"
    assert list(tmp_path.iterdir()) == []


IN_PYTHON = """
import sys, time
from propkernels.cli import __main__, app

@app.app.command()
def wait():
    print("started", flush=True)
    time.sleep(60)

sys.argv = ["propkernels", "wait"]
__main__._will_compute = lambda words: False
__main__.main()
"""


def test_a_command_is_interrupted_with_one_line():
    status, errors = interrupted(start(IN_PYTHON))
    assert status == 130
    assert errors == "propkernels: interrupted, stopping\n"


IN_IMPORTS = """
import sys, time
from propkernels.cli import __main__

class Slow:  # an import that Ctrl-C meets
    def find_spec(self, name, path=None, target=None):
        if name == "propkernels.cli.app":
            print("started", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Slow())
sys.argv = ["propkernels", "datasets"]
__main__.main()
"""


def test_imports_are_interrupted_with_one_line():
    status, errors = interrupted(start(IN_IMPORTS))
    assert status == 130
    assert errors == "propkernels: interrupted, stopping\n"
