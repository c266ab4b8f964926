"""Parts of TU data sets: pieces cover the set, and blocks are its graphs."""

import numpy as np

import propkernels as pk
from propkernels.datasets.tables import Reading
from propkernels.scale.readers import FORMATS


def written(molecules, tmp_path):
    pk.datasets.write_tu(molecules, tmp_path / "MINE", "MINE")
    return tmp_path / "MINE"


def test_pieces_cover_the_set_in_order(molecules, tmp_path):
    found = FORMATS["tu"].survey(written(molecules, tmp_path), Reading(), 300)
    assert [piece.first for piece in found.pieces[1:]] == [piece.last for piece in found.pieces[:-1]]
    assert (found.pieces[0].first, found.pieces[-1].last) == (0, len(molecules.graphs))
    assert sum(piece.n_nodes for piece in found.pieces) == molecules.graphs.n_nodes
    assert found.target == "int64"


def test_blocks_of_a_part_are_its_graphs(molecules, tmp_path, monkeypatch):
    monkeypatch.setattr("propkernels.scale.readers.BLOCK_NODES", 100)
    (part, *_) = pk.scale.partition(written(molecules, tmp_path), nodes_per_part=500)
    blocks = list(FORMATS["tu"].read(part))
    assert len(blocks) > 1
    graphs = pk.GraphDatabase.concat([block.graphs for block in blocks])
    assert graphs == pk.datasets.read_tu(part.path).graphs[part.first : part.last]
    np.testing.assert_array_equal(np.concatenate([block.ids for block in blocks]), np.arange(len(graphs)))
    assert [y for block in blocks for y in block.target] == molecules.target[: len(graphs)].tolist()
