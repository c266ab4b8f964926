"""Parts of TU data sets: pieces cover the set, and a folder and its zip have one digest."""

import numpy as np

import propkernels as pk
from propkernels.scale.plan import Part, Reading
from propkernels.scale.tu_folders import content_digest, digest, read, survey


def written(molecules, tmp_path):
    for suffix in ("", ".zip"):
        pk.datasets.write_tu(molecules, tmp_path / f"MINE{suffix}", "MINE")
    return tmp_path / "MINE", tmp_path / "MINE.zip"


def test_a_folder_and_its_zip_have_the_same_content(molecules, tmp_path):
    folder, archive = written(molecules, tmp_path)
    assert content_digest(folder) == content_digest(archive)
    labels = folder / "MINE_graph_labels.txt"
    labels.write_text(labels.read_text().replace("1", "2", 1))
    assert content_digest(folder) != content_digest(archive)


def test_pieces_cover_the_set_in_order(molecules, tmp_path):
    folder, _ = written(molecules, tmp_path)
    found = survey(folder, Reading(), 300)
    assert [piece.first for piece in found.pieces[1:]] == [piece.last for piece in found.pieces[:-1]]
    assert (found.pieces[0].first, found.pieces[-1].last) == (0, len(molecules.graphs))
    assert sum(piece.n_nodes for piece in found.pieces) == molecules.graphs.n_nodes
    assert found.target == "int64"


def test_blocks_of_a_part_are_its_graphs(molecules, tmp_path, monkeypatch):
    monkeypatch.setattr("propkernels.scale.tu_folders.BLOCK_NODES", 100)
    (part, *_) = pk.partition(written(molecules, tmp_path)[0], nodes_per_part=500)
    assert isinstance(part, Part)
    assert digest(part) == part.sha256
    blocks = list(read(part))
    assert len(blocks) > 1
    graphs = pk.GraphDatabase.concat([block.graphs for block in blocks])
    assert graphs == pk.datasets.read_tu(part.path).graphs[part.first : part.last]
    np.testing.assert_array_equal(np.concatenate([block.ids for block in blocks]), np.arange(len(graphs)))
    assert [y for block in blocks for y in block.target] == molecules.target[: len(graphs)].tolist()
