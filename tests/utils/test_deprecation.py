"""Old names: they give what the new names give, with a warning, and are listed nowhere."""

from __future__ import annotations

import subprocess
import sys
from operator import attrgetter

import pytest

import propkernels as pk
from propkernels._utils.deprecation import MOVED, warn_renamed


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_gives_the_thing_at_its_new_place(name):
    with pytest.warns(DeprecationWarning, match=rf"propkernels\.{name} is now propkernels\.{MOVED[name]};"):
        found = getattr(pk, name)
    assert found == attrgetter(MOVED[name])(pk)


def test_old_names_are_listed_nowhere():
    assert not set(MOVED) & (set(pk.__all__) | set(dir(pk)))


def test_the_warning_is_about_the_line_that_uses_the_name():
    with pytest.warns(DeprecationWarning, match="knn_graph") as caught:
        pk.knn_graph  # noqa: B018
    with pytest.warns(DeprecationWarning, match="knn_graph") as imported:
        from propkernels import knn_graph  # noqa: F401
    assert {warning.filename for warning in [*caught, *imported]} == {__file__}


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match="plot_nothing"):
        pk.plot_nothing  # noqa: B018


def test_the_warning_names_both_and_the_version():
    with pytest.warns(DeprecationWarning, match=r"^a is now b; the old name is removed in version 0\.3$"):
        warn_renamed("a", "b")


def test_old_names_cost_nothing_until_they_are_used():
    code = "import sys, propkernels; print(sorted(m for m in sys.modules if m.startswith('propkernels.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = ["propkernels._utils", "propkernels._utils.deprecation", "propkernels._version"]
    assert done.stdout.strip() == str(expected)
