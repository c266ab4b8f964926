"""The table of savable classes."""

from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from propkernels.storage import classes


def test_every_class_of_the_table_is_there():
    for name in classes.known_names():
        assert classes.class_of(name).__name__ == name


def test_only_classes_of_the_table_have_names():
    assert classes.name_of(pk.WeisfeilerLehman()) is not None
    assert classes.class_of(classes.name_of(pk.WeisfeilerLehman())) is pk.WeisfeilerLehman
    for other in (object(), Path("x"), np.float64(1.0)):
        assert classes.name_of(other) is None
    for name in ("os.system", "propkernels.cli.app.app", "WeisfeilerLehman\n", ""):
        with pytest.raises((ValueError, KeyError)):
            classes.class_of(name)


def test_state_of_an_estimator_makes_it_again():
    kernel = pk.WeisfeilerLehman(t_max=1).fit(pk.datasets.make_molecules(4, random_state=0).graphs)
    again = classes.make(type(kernel), classes.state_of(kernel))
    assert again.get_params() == kernel.get_params()
    assert again.diagonal_.tolist() == kernel.diagonal_.tolist()
