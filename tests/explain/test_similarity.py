"""Similarity: tables and labels of shared bins."""

import numpy as np
import pytest

import propkernels as pk
from tests.explain.test_shared_bins import PATH, pair


def test_tables():
    why = pk.similar_because(pk.PropagationKernel(t_max=3, random_state=0), *pair())
    frame = why.to_frame()
    assert len(frame) == len(why.bins)
    assert frame["share"].sum() == pytest.approx(1)
    assert list(frame["contribution"]) == sorted(frame["contribution"], reverse=True)
    text = why.table(2).splitlines()
    assert text[0].split()[:2] == ["t", "adds"]
    assert text[-1] == f"... and {len(why.bins) - 2} more"
    assert repr(why).startswith("Similarity(k = ")


def test_distributions_have_no_single_label():
    rows = np.array([[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    graphs = pk.GraphDatabase(PATH, [0, 3], pk.LabelDistributions(rows))
    why = pk.similar_because(pk.PropagationKernel(t_max=1, random_state=0), graphs[0], graphs[0])
    assert {b.labels for b in why.bins} == {()}
