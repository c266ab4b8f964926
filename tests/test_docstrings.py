"""Docstrings of public names: a sentence, sections in order, names that exist, references, an example."""

import inspect
import re
from operator import attrgetter

import pytest

import propkernels as pk
from tests.public_names import public

PUBLIC = {name: thing for name, thing in public().items() if callable(thing) and thing.__doc__}
LEARNERS = [  # and schemes
    name
    for name, thing in PUBLIC.items()
    if (hasattr(thing, "fit") or hasattr(thing, "prepare")) and not name.startswith("images.")
]
TITLES = ["Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References", "Examples"]


def sections(thing):
    """Titles of a numpydoc docstring with their lines, in order."""
    lines = inspect.getdoc(thing).splitlines()
    starts = [i for i, line in enumerate(lines[1:]) if line and set(line) == {"-"} and lines[i] in TITLES]
    return {lines[i]: lines[i + 2 : end] for i, end in zip(starts, [*starts[1:], len(lines)], strict=False)}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_sentence_sections_in_order_and_related_names_that_exist(name):
    thing = PUBLIC[name]
    first, found = inspect.getdoc(thing).splitlines()[0], sections(thing)
    assert first.endswith("."), first
    assert list(found) == sorted(found, key=TITLES.index)
    for line in found.get("See Also", ()):
        if line.strip() and not line.startswith(" "):  # else a description goes on
            related, separator, _ = line.partition(" : ")
            assert separator, line
            path = related.removeprefix("propkernels.").split(".")
            home = pk if hasattr(pk, path[0]) else getattr(pk, name.partition(".")[0])  # or the same module
            assert attrgetter(".".join(path))(home) is not thing, line


@pytest.mark.parametrize("name", [name for name in PUBLIC if "." not in name])
def test_names_at_the_top_have_an_example_and_related_names(name):
    assert any(line.startswith(">>>") for line in sections(PUBLIC[name])["Examples"])
    assert any(sections(PUBLIC[name])["See Also"])


@pytest.mark.parametrize("name", LEARNERS)
def test_references_can_be_found(name):
    """Author, year and title; the paper of this package with the algorithm, section or equation."""
    entries = re.split(r"\.\. \[\d+\] ", " ".join(map(str.strip, sections(PUBLIC[name])["References"])))[1:]
    assert entries
    for entry in entries:
        assert re.search(r"\((19|20)\d\d\)", entry), entry
        if "10.1007/s10994-015-5517-9" in entry:
            assert re.search(r"Algorithm|Section|Eq\.", entry), entry


def test_names_are_found():
    assert len(PUBLIC) > 100
    assert {"PropagationKernel", "propagation.Diffusion", "sets.MaxMinPicker"} <= set(LEARNERS)
