"""Questions for another class, label or number."""

import numpy as np
import pytest

import propkernels as pk
from tests.explain.small_models import KERNELS, small_graphs


@pytest.fixture(scope="module")
def data():
    return small_graphs(40, 0)


@pytest.mark.slow
def test_a_target_class():
    data = pk.datasets.make_molecules(60, random_state=0)
    classes = np.where(data.target == 1, "yes", "no").astype(object)
    classes[np.arange(60) % 7 == 0] = "odd"
    model = pk.PropagationClassifier(kernel=KERNELS["fast"], t_max=2, C=100.0, random_state=0)
    model.fit(data.graphs, classes)
    graph = data.graphs[1]
    assert model.counterfactuals(graph, n=5).prediction_before == "yes"
    for target in ("no", "odd"):
        found = model.counterfactuals(graph, n=5, target=target, max_edits=1)
        assert not found.reached or set(found.prediction) == {target}
        assert (np.diff(found.decision) <= 1e-12).all()
    with pytest.raises(ValueError, match="already"):
        model.counterfactuals(graph, target="yes")
    with pytest.raises(ValueError, match="one of the classes"):
        model.counterfactuals(graph, target="maybe")


def test_several_labels(data):
    graphs, target = data
    labels = np.column_stack([target, np.diff(graphs.graph_ptr) > 4]).astype(float)
    model = pk.PropagationClassifier(kernel=KERNELS["fast"], t_max=2, C=10.0, random_state=0)
    found = model.fit(graphs, labels).counterfactuals(graphs[0], target=1, n=3)
    assert found.reached
    assert all(model.predict([found.graph(i)])[0, 1] != found.prediction_before for i in range(len(found)))
    with pytest.raises(ValueError, match="number of one label"):
        model.counterfactuals(graphs[0])


def test_numbers(data):
    graphs = data[0]
    model = pk.PropagationRegressor(kernel=KERNELS["fast"], t_max=2, C=10.0, random_state=0)
    model.fit(graphs, np.diff(graphs.graph_ptr) + np.arange(40) % 3)
    graph, now = graphs[0], float(model.predict(graphs[:1])[0])
    largest = model.counterfactuals(graph, n=8, max_edits=1)
    changes = np.abs(largest.decision - now)
    assert (np.diff(changes) <= 1e-12).all()
    np.testing.assert_allclose(largest.decision, model.predict([one.graph for one in largest]), atol=1e-12)
    goal = now + 0.6 * (largest.decision.max() - now)
    reached = model.counterfactuals(graph, n=4, target=goal)
    assert reached.reached
    assert (reached.decision >= goal).all()
    far = model.counterfactuals(graph, n=2, target=now + 1e6, budget=1000)
    assert not far.reached
    assert "closest" in str(far)
