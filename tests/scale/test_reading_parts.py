"""Reading parts of files that have changed."""

import pytest

import propkernels as pk
from propkernels.scale.reading_parts import SourceChangedError, iter_part


def test_a_changed_file_is_noticed(molecules, tmp_path):
    path = tmp_path / "graphs.parquet"
    molecules.graphs.to_parquet(path, row_group_size=10)
    plan = pk.partition(path, nodes_per_part=300)
    data = bytearray(path.read_bytes())
    data[40] ^= 1  # in the first row group: parts of others are as they were
    path.write_bytes(data)
    with pytest.raises(SourceChangedError, match=r"graphs.parquet has changed since the plan"):
        list(iter_part(plan.parts[0]))
    assert sum(len(block.graphs) for block in iter_part(plan.parts[-1])) == len(plan.parts[-1])
    molecules.graphs[:10].to_parquet(path)
    for part in plan:
        with pytest.raises(SourceChangedError):
            list(iter_part(part))
    path.unlink()
    with pytest.raises(FileNotFoundError, match="is missing: restore it"):
        list(iter_part(plan.parts[0]))
