"""plot_two_sample_test: a histogram of the exchanges, and a line at the statistic."""

import pytest
from matplotlib.figure import Figure

import propkernels as pk


def test_the_line_is_at_the_statistic_and_bars_hold_all_exchanges():
    graphs = pk.datasets.make_molecules(20, random_state=0).graphs
    found = pk.two_sample_test(graphs[:10], graphs[10:], n_permutations=19)
    ax = pk.plotting.plot_two_sample_test(found, ax=Figure().subplots())
    assert sum(bar.get_height() for bar in ax.patches) == 19
    assert list(ax.lines[0].get_xdata()) == [found.statistic] * 2
    assert f"p = {found.p_value:.3g}" in ax.get_legend().get_texts()[1].get_text()


def test_other_results_are_refused():
    with pytest.raises(TypeError, match="a result of two_sample_test, got list"):
        pk.plotting.plot_two_sample_test([1, 2])
