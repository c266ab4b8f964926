"""Every format describes its files by pieces that cover all graphs once."""

import pytest

import propkernels as pk
from propkernels.scale import parquet_files, tu_folders
from propkernels.scale.pieces import Piece, Survey
from propkernels.scale.plan import Reading

FORMATS = {"graphs.parquet": parquet_files, "MINE": tu_folders}


@pytest.mark.parametrize("name", FORMATS)
def test_surveys(name, molecules, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    if name == "MINE":
        pk.datasets.write_tu(molecules, path, "MINE")
    else:
        molecules.graphs.to_parquet(path)
    found = FORMATS[name].survey(path, Reading(), 200)
    assert isinstance(found, Survey)
    assert all(isinstance(piece, Piece) and len(piece.sha256) == 64 for piece in found.pieces)
    covered = [row for piece in found.pieces for row in range(piece.first, piece.last)]
    assert covered == list(range(len(molecules.graphs)))
    assert sum(piece.n_nodes for piece in found.pieces) == molecules.graphs.n_nodes
