"""Plans: equality, and what the names of files are made of."""

import pickle
import shutil
from dataclasses import replace

import pytest

import propkernels as pk
from propkernels.datasets.tables import Reading
from propkernels.scale.plan import Piece, Survey
from propkernels.scale.readers import FORMATS


def test_a_plan_is_the_same_again(database, plan):
    again = pk.scale.partition(str(database), nodes_per_part=500)
    assert again == plan == pickle.loads(pickle.dumps(plan))
    assert repr(plan) == f"Plan(1 file, {len(plan)} parts, 60 graphs, {plan.n_nodes:,} nodes)"


def test_digests_do_not_depend_on_the_place_but_on_all_else(database, plan, tmp_path):
    moved = pk.scale.partition(shutil.copy(database, tmp_path / "moved.parquet"), nodes_per_part=500)
    assert moved != plan
    assert [part.digest({}) for part in moved] == [part.digest({}) for part in plan]
    part = plan.parts[0]
    others = [replace(part, last=3), replace(part, sha256="0" * 64), replace(part, reading=Reading())]
    found = {one.digest({}) for one in (part, *others)} | {part.digest({"t_max": 3})}
    assert len(found) == 5


@pytest.mark.parametrize(("name", "reader"), [("graphs.parquet", "parquet"), ("MINE", "tu")])
def test_pieces_cover_all_graphs_once(name, reader, molecules, tmp_path):
    path = tmp_path / name
    if name == "MINE":
        pk.datasets.write_tu(molecules, path, "MINE")
    else:
        molecules.graphs.to_parquet(path)
    found = FORMATS[reader].survey(path, Reading(), 200)
    assert isinstance(found, Survey)
    assert all(isinstance(piece, Piece) for piece in found.pieces)
    covered = [row for piece in found.pieces for row in range(piece.first, piece.last)]
    assert covered == list(range(len(molecules.graphs)))
    assert sum(piece.n_nodes for piece in found.pieces) == molecules.graphs.n_nodes
