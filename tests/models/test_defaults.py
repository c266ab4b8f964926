"""Which kernels are tried when the user names none."""

import propkernels as pk
from propkernels.models.defaults import check_kernels, default_kernels, default_steps
from tests.default_kernels import GOLDEN, listing

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs


def test_default_kernels_are_the_golden_ones():
    """After a wanted change: ``python -m tests.default_kernels``."""
    assert listing().splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_classes_of_molecules_have_one_radius():
    smiles = ["C" * n + end for n in range(1, 9) for end in "ON"]
    graphs, target = pk.MoleculesToGraphs().transform(smiles), [0, 1] * 8
    assert pk.PropagationClassifier(random_state=0).fit(graphs, target).t_max_ == 3
    assert pk.PropagationClassifier(t_max=1, random_state=0).fit(graphs, target).t_max_ == 1
    assert default_steps(default_kernels(graphs, is_regression=True)) is None
    assert default_steps(default_kernels(graphs, is_linear=True)) is None
    assert default_steps(default_kernels(GRAPHS)) is None


def test_the_users_kernels_come_first_and_alone():
    kernel = pk.WeisfeilerLehman()
    assert check_kernels(kernel, GRAPHS) == [kernel]
    assert check_kernels((kernel, kernel), GRAPHS) == [kernel, kernel]
