"""The table of savable classes."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

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


def test_a_fitted_estimator_is_known_as_fitted():
    """Also where all that fit stores is private: pipelines ask scikit-learn."""
    graphs = pk.datasets.make_molecules(4, random_state=0).graphs
    for estimator in (pk.WeisfeilerLehman(t_max=1), pk.WeisfeilerLehmanFeatures(t_max=1), pk.GraphIndex()):
        with pytest.raises(NotFittedError):
            check_is_fitted(estimator)
        check_is_fitted(estimator.fit(graphs))
