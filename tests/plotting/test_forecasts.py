"""Captions tell the prediction that the model makes, and its set or interval."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.plotting.forecasts import forecast

DATA = pk.datasets.make_molecules(60, random_state=0)
KERNEL = pk.WeisfeilerLehman(t_max=1)
OPTIONS = {"kernel": KERNEL, "t_max": 1, "C": 1.0, "random_state": 0}


@pytest.fixture(scope="module")
def classifier():
    return pk.PropagationClassifier(**OPTIONS).fit(DATA.graphs, DATA.target)


@pytest.fixture(scope="module")
def regressor():
    sizes = DATA.graphs.graph_sizes.astype(float)
    return pk.PropagationRegressor(**OPTIONS).fit(DATA.graphs, np.column_stack([sizes, -sizes]))


def test_classes(classifier):
    for i in (0, 1, 2):
        graph, text = DATA.graphs[[i]], forecast(classifier, DATA.graphs[[i]], 0.8)
        names = np.array(classifier.class_names_)
        number = classifier.predict(graph)[0]
        name, chance = names[number], classifier.predict_proba(graph)[0, number]
        inside = ", ".join(names[classifier.predict_set(graph, 0.8)[0]])
        assert text == f"predicted {name} ({chance:.2f}); 80 % set: {inside or 'empty'}"
    assert forecast(classifier, DATA.graphs[[0]], None) == text_before(
        forecast(classifier, DATA.graphs[[0]], 0.9)
    )


def text_before(text):
    return text.split(";")[0]


def test_numbers_of_several_targets(regressor):
    graph = DATA.graphs[[5]]
    for column in (0, 1):
        value = regressor.predict(graph)[0, column]
        low, high = regressor.predict_interval(graph, 0.9)[0, column]
        expected = f"predicted {value:.3g}; 90 % interval: {low:.3g} to {high:.3g}"
        assert forecast(regressor, graph, 0.9, column) == expected
    assert forecast(regressor, graph, None).startswith("predicted ")


def test_several_labels():
    labels = np.column_stack([DATA.target, 1 - DATA.target])
    model = pk.PropagationClassifier(**OPTIONS).fit(DATA.graphs, labels)
    first, second = (forecast(model, DATA.graphs[[0]], 0.9, column) for column in (0, 1))
    assert {text.split()[1] for text in (first, second)} == {"0", "1"}


def test_figures_and_molecules_carry_the_text(classifier):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = pk.plotting.plot_explanation(classifier, DATA.graphs, 3, coverage=0.9)
    assert ax.get_title().startswith(forecast(classifier, DATA.graphs[[3]], 0.9) + "\n")
    with pytest.raises(ValueError, match="coverage requires a model"):
        pk.plotting.plot_explanation(classifier.explain(DATA.graphs), graph=3, coverage=0.9)


def test_drawings_of_molecules_carry_the_text():
    pytest.importorskip("rdkit")
    from sklearn.pipeline import make_pipeline

    smiles = [f"{'C' * n}{end}" for n in range(1, 8) for end in ("O", "N", "Cl")]
    model = make_pipeline(pk.MoleculesToGraphs(), pk.PropagationRegressor(**OPTIONS))
    model.fit(smiles, [float(len(text)) for text in smiles])
    (panel,) = pk.molecules.draw_molecule(model, smiles, 4, coverage=0.9).panels
    graph = model[:-1].transform([smiles[4]])
    assert panel.title.startswith(forecast(model[-1], graph, 0.9) + "; prediction ")
