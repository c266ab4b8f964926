"""Every plot: it draws where it is told, and says what to install or what it cannot draw on."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import propkernels as pk

PAIR = (nx.path_graph(3), nx.cycle_graph(3))
DATA = pk.datasets.make_molecules(20, random_state=0)
MET = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "time": [1, 2]})
FOLDS = {"cv": 2, "random_state": 0}
PLOTS = {  # a plot, and the number of its axes
    "plot_contacts": (lambda **ax: pk.plotting.plot_contacts(pk.from_contacts(MET, graph=None), **ax), 1),
    "plot_embedding": (lambda **ax: pk.plotting.plot_embedding(np.eye(4), **ax), 1),
    "plot_evaluation": (lambda **ax: pk.plotting.plot_evaluation(EVALUATION, **ax), 1),
    "plot_explanation": (lambda **ax: pk.plotting.plot_explanation(EXPLANATION, **ax), 1),
    "plot_graph": (lambda **ax: pk.plotting.plot_graph(DATA.graphs, **ax), 1),
    "plot_kernel": (lambda **ax: pk.plotting.plot_kernel(np.eye(4), **ax), 1),
    "plot_propagation": (lambda **ax: pk.plotting.plot_propagation(PAIR[0], t_max=1, **ax), 2),
    "plot_similarity": (lambda **ax: pk.plotting.plot_similarity(pk.similar_because(*PAIR), **ax), 2),
    "plot_two_sample_test": (lambda **ax: pk.plotting.plot_two_sample_test(TEST, **ax), 1),
}
KERNEL = pk.WeisfeilerLehman(t_max=1)
EVALUATION = pk.evaluate(DATA, model=KERNEL, **FOLDS)
EXPLANATION = pk.PropagationClassifier(kernel=KERNEL, C=1).fit(DATA.graphs, DATA.target).explain(DATA.graphs)
TEST = pk.two_sample_test(DATA.graphs[:10], DATA.graphs[10:], n_permutations=19)


def test_every_plot_has_a_case():
    assert sorted(PLOTS) == sorted(name for name in dir(pk.plotting) if name.startswith("plot_"))


@pytest.mark.parametrize("name", PLOTS)
def test_axes(name):
    draw, number = PLOTS[name]
    own = np.atleast_1d(np.array(draw(), dtype=object))
    assert [isinstance(ax, Axes) for ax in own] == [True] * number
    assert own[0].figure is not np.atleast_1d(np.array(draw(), dtype=object))[0].figure
    given = Figure().subplots(1, number)
    assert np.array_equal(draw(ax=given), given)
    own[0].figure.canvas.draw()
    wrong = Figure().subplots(1, 3)
    if number > 1:
        with pytest.raises(ValueError, match=f"ax must hold {number} axes, one per iteration; got 3"):
            draw(ax=wrong)
    with pytest.raises(TypeError, match="ax must be matplotlib axes, got str"):
        draw(ax=["here"] * number if number > 1 else "here")


@pytest.mark.parametrize("name", PLOTS)
def test_without_matplotlib_the_error_names_the_extra(name, without):
    without("matplotlib")
    with pytest.raises(ImportError, match=r"plots need matplotlib.*pip install "):
        PLOTS[name][0]()
