"""Edited graphs per second."""

import propkernels as pk
from benchmarks import counterfactuals


def test_compiled_decisions_are_those_of_the_pipeline():
    data = pk.datasets.make_molecules(30, random_state=0)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, t_max=1, random_state=0)
    model.fit(data.graphs, data.target)
    n_edits, seconds, slow, error = counterfactuals.measure(model, data.graphs[:2])
    assert n_edits > 100
    assert seconds > 0
    assert slow > 0
    assert error < 1e-11
