"""Counterfactuals as text and tables."""

import numpy as np
import pytest

from tests.explain.small_models import KERNELS, fitted, small_graphs


@pytest.fixture(scope="module")
def data():
    return small_graphs(40, 0)


def test_what_is_printed(data):
    found = fitted(KERNELS["fast"], data).counterfactuals(data[0][0], n=3, label_names={"C": "carbon"})
    lines = str(found).splitlines()
    assert lines[0].startswith("The graph is predicted")
    assert lines[1].split() == ["edits", "decision", "change", "prediction"]
    assert "carbon" in str(found) or not any("C" in (e.label, e.before) for es in found.edits for e in es)
    frame = found.to_frame()
    assert list(frame["n_edits"]) == [len(edits) for edits in found.edits]
    np.testing.assert_array_equal(frame["decision"], found.decision)
