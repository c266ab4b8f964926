"""Kernels by name: the same names everywhere, and what a wrong one answers."""

from typing import get_args

import numpy as np
import pytest

import propkernels as pk
from propkernels.cli.arguments import KernelName
from propkernels.kernels.neighborhoods import KERNELS, named_kernel

DATA = pk.datasets.make_molecules(24, random_state=0)
GRAPHS, Y = DATA.graphs, DATA.target
DOORS = {
    "classifier": lambda kernel: (
        pk.PropagationClassifier(kernel=kernel, t_max=1, C=1, random_state=0)
        .fit(GRAPHS, Y)
        .predict_proba(GRAPHS)
    ),
    "list": lambda kernel: (
        pk.PropagationClassifier(kernel=[kernel], t_max=1, C=1, random_state=0)
        .fit(GRAPHS, Y)
        .predict_proba(GRAPHS)
    ),
    "evaluate": lambda kernel: pk.evaluate(GRAPHS, Y, kernel, cv=2, random_state=0).scores,
    "index": lambda kernel: pk.GraphIndex(kernel=kernel).fit(GRAPHS).query(GRAPHS[:3], k=2).similarities,
    "novelty": lambda kernel: (
        pk.NoveltyDetector(kernel=kernel, random_state=0).fit(GRAPHS).score_samples(GRAPHS)
    ),
    "similarity": lambda kernel: pk.similarity(GRAPHS[:4], kernel=kernel),
    "because": lambda kernel: pk.similar_because(GRAPHS[0], GRAPHS[1], kernel=kernel).value,
    "test": lambda kernel: (
        pk.two_sample_test(GRAPHS[:12], GRAPHS[12:], kernel=kernel, n_permutations=9).statistic
    ),
    "clusters": lambda kernel: pk.SphereExclusion(kernel=kernel).fit(GRAPHS).labels_,
}


def test_names_are_those_of_commands():
    assert set(get_args(KernelName)) == {"auto", *KERNELS}
    for name, cls in KERNELS.items():
        assert type(named_kernel(name)).__name__ == cls


@pytest.mark.parametrize("door", DOORS)
def test_a_name_is_as_good_as_the_kernel(door):
    np.testing.assert_array_equal(DOORS[door]("wl"), DOORS[door](pk.WeisfeilerLehman()))
    with pytest.raises(ValueError, match="no kernel is called 'weisfeiler': the names are 'propagation', "):
        DOORS[door]("weisfeiler")


def test_parameters_of_a_named_kernel():
    model = pk.PropagationClassifier(kernel="wl").set_params(kernel__base_kernel="intersection")
    assert model.kernel.base_kernel == "intersection"
