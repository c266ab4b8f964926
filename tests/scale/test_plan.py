"""Plans: equality, JSON and damage."""

import json
import shutil

import pytest

import propkernels as pk


def test_a_plan_is_the_same_again_and_from_json(database, plan, tmp_path):
    assert pk.partition(str(database), nodes_per_part=500) == plan
    plan.save(tmp_path / "plan.json")
    again = pk.scale.Plan.load(tmp_path / "plan.json")
    assert again == plan
    assert again.digest == plan.digest
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()


def test_the_digest_does_not_depend_on_the_place(database, plan, tmp_path):
    moved = pk.partition(shutil.copy(database, tmp_path / "moved.parquet"), nodes_per_part=500)
    assert moved != plan
    assert moved.digest == plan.digest


def test_a_plan_is_printed_as_a_table(plan):
    assert repr(plan) == f"Plan(1 file, {len(plan)} parts, 60 graphs, {plan.n_nodes:,} nodes)"
    lines = str(plan).splitlines()
    assert lines[1].split() == ["part", "file", "rows", "nodes", "sha256"]
    assert len(lines) == len(plan) + 2


@pytest.mark.parametrize(
    "change",
    [
        lambda known: known.update(version=2),
        lambda known: known.update(format="other"),
        lambda known: known.pop("parts"),
        lambda known: known["parts"][0].update(first=-1),
        lambda known: known["parts"][0].update(last="x"),
        lambda known: known["parts"][0].update(path=7),
        lambda known: known["parts"][0].update(extra=7),
        lambda known: known["parts"][0].update(target="object"),
        lambda known: known["parts"][0].update(span=[1]),
    ],
)
def test_a_damaged_plan_is_refused(plan, tmp_path, change):
    plan.save(tmp_path / "plan.json")
    known = json.loads((tmp_path / "plan.json").read_text())
    change(known)
    (tmp_path / "plan.json").write_text(json.dumps(known))
    with pytest.raises(ValueError, match="not a plan of propkernels, or it is damaged"):
        pk.scale.Plan.load(tmp_path / "plan.json")


@pytest.mark.parametrize("name", ["path", "reading"])
def test_places_before_the_first_are_not_the_last(plan, tmp_path, name):
    plan.save(tmp_path / "plan.json")
    known = json.loads((tmp_path / "plan.json").read_text())
    known["parts"][0][name] = -1
    (tmp_path / "plan.json").write_text(json.dumps(known))
    with pytest.raises(ValueError, match="-1 is not an integer"):
        pk.scale.Plan.load(tmp_path / "plan.json")


def test_a_plan_without_parts_is_refused(plan, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(json.loads(plan.to_json()) | {"parts": []}))
    with pytest.raises(ValueError, match=r"or it is damaged \(it has no parts\)"):
        pk.scale.Plan.load(path)
