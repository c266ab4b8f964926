"""Files that last: what an earlier version wrote is read by this one, with the same answers.

The files were written by ``tests/golden/write.py`` with the code of the version that names their folder.
"""

import inspect
import json

import numpy as np
import pytest

import propkernels as pk
from propkernels.storage.classes import SAVABLE
from tests.golden import write

VERSIONS = sorted(path.name for path in write.FOLDER.iterdir() if (path / "answers.json").is_file())
FILES = [(version, path) for version in VERSIONS for path in sorted((write.FOLDER / version).glob("*.pk"))]
# Estimators that can be saved, and have come after the last golden files were written: name -> since when.
NEWER: dict[str, str] = {}


def same(computed, expected):
    """Equal in value: to the bit where numbers are whole, and to rounding where a machine was trained."""
    if isinstance(expected, list):
        assert len(computed) == len(expected)
        for one, other in zip(computed, expected, strict=True):
            same(one, other)
    elif isinstance(expected, float):
        assert computed == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert computed == expected


@pytest.mark.slow
@pytest.mark.parametrize(("version", "path"), FILES, ids=[f"{v}-{p.stem}" for v, p in FILES])
def test_an_old_file_is_read_and_answers_the_same(version, path):
    if path.stem == "MoleculesToGraphs":
        pytest.importorskip("rdkit")
    answers = json.loads((path.parent / "answers.json").read_text(encoding="utf-8"))["answers"]
    same(write.answer(path.stem, pk.load_model(path)), answers[path.stem])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_hash_is_the_same_on_every_platform(version):
    expected = (write.FOLDER / version / "codes.txt").read_text(encoding="utf-8").splitlines()
    assert write.code_lines() == expected


def test_every_estimator_that_can_be_saved_has_a_file():
    modules = pk, pk.images, pk.kernels, pk.propagation, pk.nodes, pk.sets
    public = {name: thing for module in modules for name, thing in vars_of(module).items()}
    savable = {name for name in SAVABLE if inspect.isclass(public.get(name)) and hasattr(public[name], "fit")}
    with_files = {path.stem.split("-")[0] for _, path in FILES}
    assert savable - with_files - set(NEWER) == set()
    assert set(NEWER) <= savable


def vars_of(module):
    return {name: getattr(module, name) for name in module.__all__}


def test_an_old_index_can_be_changed():
    index = pk.load_model(write.FOLDER / "0.3" / "GraphIndex.pk")
    graphs = write.graphs(*write.NEW)
    before = index.ids_.tolist()
    index.add(graphs[:2], ids=["x", "y"]).remove([before[0]])
    assert index.ids_.tolist() == [*before[1:], "x", "y"]
    assert index.query(graphs[0], k=1).similarities[0] == 1.0
    assert np.isfinite(index.query(graphs).similarities).all()
