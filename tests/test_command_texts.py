"""What commands print is what the golden file has, so that a change is seen in review."""

import pytest

from tests.command_texts import GOLDEN, listing


@pytest.mark.slow
def test_texts_of_commands_are_the_golden_ones():
    """After a wanted change: ``python -m tests.command_texts``."""
    text = listing()
    assert text.splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()
    assert max(map(len, text.splitlines())) <= 80
