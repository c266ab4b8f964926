"""Public names and signatures are those of the golden file, so that a change is seen in review."""

import propkernels as pk
from tests.public_names import GOLDEN, listing


def test_public_names_and_signatures_are_the_golden_ones():
    """After a wanted change: ``python -m tests.public_names``, and a line in CHANGELOG.md."""
    assert listing().splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_modules_that_others_import_stay():
    assert pk.molecules.read_molecules.as_list(("C", "CC")) == ["C", "CC"]
