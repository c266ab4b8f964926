"""A tiny data set under every name of the paper, so that experiments run in moments."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import Dataset


@pytest.fixture
def tiny(monkeypatch):
    """Every data set is 40 generated molecules with two attributes; NCI109 and COX2 are absent."""
    from reproduction.engine.data import AbsentDataError

    source = pk.datasets.make_molecules(40, random_state=0)
    graphs = source.graphs.with_attributes(np.random.default_rng(0).normal(size=(source.graphs.n_nodes, 2)))

    def load(name):
        if name in ("NCI109", "COX2"):
            raise AbsentDataError(f"{name} is not here")
        return Dataset(name, graphs, source.target)

    monkeypatch.setattr("reproduction.engine.jobs.load_source", load)
