"""Files that once broke something are read, or refused in one sentence."""

import pytest

from fuzz.cases import outcome_of
from fuzz.corpus import DOORS, FOLDER, files, replay


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_kept_files(path):
    outcome = outcome_of(lambda: replay(path))
    assert not outcome.is_finding, f"{outcome.kind} in {outcome.where}: {outcome.text}"


def test_every_door_has_files():
    assert {path.parent.name for path in files()} == set(DOORS)
