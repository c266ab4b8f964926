"""Parts of Parquet files: forged sizes."""

import os
import subprocess
import sys

import pytest

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


FORGED_SIZES = {
    "wrapped": [2**63 - 1, 2**63 - 1, 5],
    "negative": [-1, 3, 3],
    "huge": [2**62, 1, 1],
    "short": [0, 0, 1],
}


CODE = """
import sys, propkernels as pk
features = pk.PropagationFeatures(n_features=1024, t_max=1, random_state=0)
for call in (pk.GraphDatabase.from_parquet, lambda path: pk.featurize(path, features, sys.argv[2])):
    try:
        call(sys.argv[1])
    except (ValueError, TypeError) as error:
        assert "\\n" not in str(error), error
        print("refused")
"""


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.parametrize("sizes", FORGED_SIZES)
def test_numbers_of_nodes_that_lie_in_a_parquet_file(molecules, tmp_path, sizes):
    """In a process of its own, which numpy would end."""
    path = tmp_path / "graphs.parquet"
    molecules.graphs[:3].to_parquet(path)
    table = pq.read_table(path)
    place = table.column_names.index("n_nodes")
    forged = pa.array(FORGED_SIZES[sizes], type=pa.int64())
    pq.write_table(table.set_column(place, "n_nodes", forged), path)
    command = [sys.executable, "-c", CODE, str(path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert (done.returncode, done.stdout.split()) == (0, ["refused"] * 2), done.stderr[-500:]
