"""propkernels fit."""

import numpy as np
import pytest

import propkernels as pk
from tests.cli.conftest import QUICK, fitted


def cells(line):
    return line.split(maxsplit=1)


@pytest.mark.slow
def test_fit_says_what_python_says(run, small_folder, tmp_path):
    result = run("fit", small_folder, "-o", "model.pk", *QUICK)
    assert (result.exit_code, result.stderr) == (0, "")
    data = pk.datasets.read_tu(small_folder)
    expected, found = fitted(data), pk.load_model(tmp_path / "model.pk")
    assert np.array_equal(found.predict_proba(data.graphs), expected.predict_proba(data.graphs))
    shown = dict(cells(line) for line in result.stdout.splitlines() if len(cells(line)) == 2)
    if isinstance(expected.kernel_, pk.SumKernel):
        assert f"mean of {len(expected.kernel_.kernels)} kernels" in result.stdout
        listed = run("fit", small_folder, "-o", "again.pk", "--verbose", *QUICK).stdout
        assert listed.count("averaged with") == len(expected.kernel_.kernels) - 1
    else:
        assert shown["t_max"].strip() == str(expected.t_max_)
    assert shown["C"].strip() == f"{expected.C_:g}"
    assert shown["accuracy"].strip() == f"{100 * expected.score_:.1f} % of the training graphs held out"
    assert "propkernels predict model.pk NEW" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "check"),
    [
        (("--kernel", "wl"), lambda m: isinstance(m.kernel_, pk.WeisfeilerLehman)),
        (("--kernel", "propagation"), lambda m: isinstance(m.kernel_, pk.PropagationKernel)),
        (("--C", 3), lambda m: m.C_ == 3),
        (("--task", "numbers"), lambda m: isinstance(m, pk.PropagationRegressor)),
        (("--seed", 7), lambda m: m.random_state == 7),
    ],
)
def test_options_of_fit(run, small_folder, tmp_path, options, check):
    result = run("fit", small_folder, "-o", "model.pk", *QUICK, *options)
    assert result.exit_code == 0, result.stderr
    assert check(pk.load_model(tmp_path / "model.pk"))


def test_regression_on_a_chosen_column(run, numbers, tmp_path):
    result = run("fit", numbers, "-o", "model.pk", "--target", 1, *QUICK, "--C", 100)
    assert result.exit_code == 0
    assert "R^2" in result.stdout
    model, data = pk.load_model(tmp_path / "model.pk"), pk.datasets.read_tu(numbers)
    assert model.score(data.graphs, data.target[:, 1]) > 0.9
