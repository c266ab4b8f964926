"""graph_svg: what is drawn, and what is too large."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs import drawing


def test_a_graph_that_is_not_drawn_is_not_looked_through(monkeypatch):
    def refuse(graph):
        raise AssertionError("the edges of a large graph are not needed")

    n = drawing.MOST_DRAWN + 1
    graph = pk.GraphDatabase(np.ones((n, n)) - np.eye(n), [0, n])[0]
    monkeypatch.setattr(drawing, "edge_ends", refuse)
    assert "<circle" not in drawing.graph_svg(graph)
    assert "_repr_html_" in dir(graph)
    assert graph._repr_html_()
    with pytest.raises(AssertionError, match="not needed"):
        drawing.graph_svg(pk.GraphDatabase(np.zeros((2, 2)), [0, 2])[0])
