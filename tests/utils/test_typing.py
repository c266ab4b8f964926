"""Types of public parameters: none is left over, and what users pass has what protocols ask for."""

import re
from pathlib import Path

import pytest
from sklearn.model_selection import GroupKFold, KFold

import propkernels as pk
from propkernels._utils import typing

OWN = Path(typing.__file__)
NAMES = re.findall(r"^(?:class )?(\w+)(?:: TypeAlias|\(Protocol\))", OWN.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def other_modules():
    """The text of all modules but the one under test."""
    folder = Path(pk.__file__).parent
    return "\n".join(path.read_text() for path in folder.rglob("*.py") if path != OWN)


@pytest.mark.parametrize("name", NAMES)
def test_every_type_is_used(name, other_modules):
    is_part_of_another = len(re.findall(rf"\b{name}\b", OWN.read_text())) > 1
    assert is_part_of_another or re.search(rf"\b{name}\b", other_modules)


def members(protocol):
    return [name for name in vars(protocol) if not name.startswith("_")]


def test_estimators_are_those_of_scikit_learn():
    for estimator in (pk.PropagationKernel(), pk.PropagationClassifier(), KFold):
        has_all = all(hasattr(estimator, name) for name in members(typing.Estimator))
        assert has_all == (estimator is not KFold)


def test_splitters_are_those_of_scikit_learn():
    for splitter in (KFold(3), GroupKFold(3)):
        assert all(callable(getattr(splitter, name)) for name in members(typing.Splitter))


def test_pictures_have_what_notebooks_and_users_need():
    pictures = pytest.importorskip("propkernels.molecules.pictures")
    picture = pictures.MoleculePicture("", b"", panels=())
    present = {*dir(type(picture)), *vars(picture), *pictures.Picture.__annotations__}
    assert set(members(typing.Picture)) <= present
