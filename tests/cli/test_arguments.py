"""Arguments of commands."""

from __future__ import annotations

import pytest

import propkernels as pk
from propkernels.cli.arguments import build_kernel, describe_kernel
from propkernels.kernels.named import KERNELS
from propkernels.propagation import Diffusion


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_has_a_kernel(name):
    kernel = build_kernel(name, 3, 5, 2)
    assert type(kernel).__name__ == KERNELS[name]
    known = kernel.get_params()
    assert known["n_jobs"] == 2
    assert known.get("t_max", 3) == 3
    assert known.get("random_state", 5) == 5


def test_only_auto_has_none():
    assert build_kernel("auto", 3, 5, 2) is None


def test_settings_that_are_not_given_stay():
    assert build_kernel("propagation", None, None, 1).t_max == pk.PropagationKernel().t_max


def test_description_leaves_defaults_out():
    kernel = pk.PropagationKernel(propagation=Diffusion(0.5), t_max=2, random_state=1, n_jobs=2)
    assert describe_kernel(kernel) == "PropagationKernel(propagation=Diffusion(laziness=0.5), t_max=2)"
    assert describe_kernel(pk.WeisfeilerLehman(t_max=2), without=("t_max",)) == "WeisfeilerLehman()"
