"""Names of files that are not UTF-8: commands read and write them, and print what can be printed."""

import os
import subprocess
import sys

import pytest

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
