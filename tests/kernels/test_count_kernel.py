"""Bad parameters: the right exception, naming parameter and value, and nothing is changed."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.propagation import Diffusion
from tests.test_contract_discovery import assert_same
from tests.zoo import labelled_zoo

NAN = float("nan")
BAD = [
    ("metric", "euclid", ValueError),
    ("metric", None, ValueError),
    ("bin_width", 0, ValueError),
    ("bin_width", NAN, ValueError),
    ("bin_width", "1e-5", TypeError),
    ("bin_width", True, TypeError),
    ("t_max", -1, ValueError),
    ("t_max", 2.0, TypeError),
    ("t_max", None, TypeError),
    ("n_hashes", 0, ValueError),
    ("n_hashes", np.True_, TypeError),
    ("labels", "edge", ValueError),
    ("labels", ["node"], ValueError),
    ("propagation", "teleport", ValueError),
    ("propagation", Diffusion, TypeError),
    ("base_kernel", "poly", ValueError),
    ("base_kernel", None, ValueError),
    ("n_features", -8, ValueError),
    ("n_features", 2.0**20, TypeError),
    ("normalize", "yes", TypeError),
    ("sparse_output", 1, TypeError),
    ("random_state", -1, ValueError),
    ("random_state", 0.5, ValueError),
    ("n_jobs", 0, ValueError),
    ("n_jobs", "all", TypeError),
]


def cases():
    return [
        pytest.param(cls, name, value, error, id=f"{cls.__name__}({name}={value!r})")
        for cls in (pk.PropagationKernel, pk.PropagationFeatures)
        for name, value, error in BAD
        if name in cls().get_params(deep=False)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "name", "value", "error"), cases())
def test_bad_parameters_are_named_and_change_nothing(cls, name, value, error):
    graphs = labelled_zoo()
    estimator = cls(t_max=2, random_state=0)
    reference = estimator.fit_transform(graphs)
    good, state = estimator.get_params(deep=False), dict(vars(estimator))
    estimator.set_params(**{name: value})
    for method in (estimator.fit, estimator.fit_transform):
        with pytest.raises(error) as raised:
            method(graphs)
        assert name in str(raised.value)
        assert repr(value) in str(raised.value)
        assert "\n" not in str(raised.value)
    estimator.set_params(**{name: good[name]})
    assert vars(estimator).keys() == state.keys()
    assert all(vars(estimator)[key] is state[key] for key in state)
    assert_same(estimator.transform(graphs), reference)


@pytest.mark.parametrize(
    "kernel",
    [
        pk.PropagationKernel(t_max=4, n_hashes=2, random_state=0),
        pk.PropagationKernel(t_max=4, base_kernel="rbf", random_state=0),
        pk.WeisfeilerLehman(t_max=4),
    ],
    ids=repr,
)
def test_restricted_is_the_kernel_fitted_with_fewer_iterations(kernel):
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    whole = clone(kernel).fit(graphs[:20])
    for t, normalize in itertools.product((0, 2, 4), (False, True)):
        expected = clone(kernel).set_params(t_max=t, normalize=normalize).fit(graphs[:20])
        found = whole._restricted(t, normalize)
        assert found.get_params() == expected.get_params()
        assert np.array_equal(found.transform(graphs), expected.transform(graphs))
    assert whole.get_params() == kernel.get_params()
