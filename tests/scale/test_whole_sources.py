"""Parts of data sets that are read at once: pieces cover the set, and digests follow the contents."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.scale.plan import Reading
from propkernels.scale.whole_sources import content_digest, digest, read, survey

pytest.importorskip("pandas")


def written(folder, n=12):
    """Write cycles of 3, 4, ... nodes as graph files, one subfolder per class."""
    for i in range(n):
        path = folder / ("even" if i % 2 == 0 else "odd") / f"g{i:02}.edges"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{j} {(j + 1) % (i + 3)}\n" for j in range(i + 3)))
    return folder


def test_pieces_cover_the_set_in_order(tmp_path):
    found = survey(written(tmp_path), Reading(), 30)
    assert len(found.pieces) > 1
    assert [piece.first for piece in found.pieces[1:]] == [piece.last for piece in found.pieces[:-1]]
    assert (found.pieces[0].first, found.pieces[-1].last) == (0, 12)
    assert sum(piece.n_nodes for piece in found.pieces) == sum(range(3, 15))


def test_graphs_of_all_parts_are_those_of_the_folder(tmp_path):
    plan = pk.partition(written(tmp_path / "", 12), nodes_per_part=30)
    blocks = [block for part in plan for block in read(part)]
    graphs = pk.GraphDatabase.concat([block.graphs for block in blocks])
    whole = pk.datasets.open_source(tmp_path)
    assert graphs.graph_sizes.tolist() == whole.graphs.graph_sizes.tolist()
    assert [y for block in blocks for y in block.target] == whole.target.tolist()
    assert all(digest(part) == part.sha256 for part in plan)


def test_digests_depend_on_names_and_contents_but_not_on_the_place(tmp_path):
    for place in ("here", "there"):
        (tmp_path / place / "data").mkdir(parents=True)
        written(tmp_path / place / "data", 3)
    here, there = tmp_path / "here" / "data", tmp_path / "there" / "data"
    assert content_digest(here) == content_digest(there)
    (there / "odd" / "g01.edges").rename(there / "odd" / "g02.edges")
    renamed = content_digest(there)
    (there / "odd" / "g02.edges").write_text("0 1\n")
    assert len({content_digest(here), renamed, content_digest(there)}) == 3


def test_grids_become_graphs_of_pixels(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        pixels = np.random.default_rng(ord(name)).integers(0, 255, (4, 5)).astype(np.uint8)
        image.fromarray(pixels).save(tmp_path / name / "x.png")
    (part,) = pk.partition(tmp_path)
    (block,) = read(part)
    assert block.graphs.graph_sizes.tolist() == [20, 20]
