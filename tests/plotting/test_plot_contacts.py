"""plot_contacts: lines of vertices, contacts, labels and contributions."""

import numpy as np
import pytest

import propkernels as pk

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

MET = pd.DataFrame(
    {"graph": [0, 0, 1], "source": ["a", "b", "x"], "target": ["b", "c", "y"], "time": [1, 2, 5]}
)
STATES = pd.DataFrame({"graph": [0, 0], "node": ["a", "b"], "time": [0, 0], "label": ["ill", "well"]})
GRAPHS = pk.from_contacts(MET, node_labels=STATES)


def test_one_line_per_vertex_and_one_segment_per_contact():
    axes = pk.plotting.plot_contacts(GRAPHS.with_names({"ill": "infected"}))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    segments = axes.collections[0].get_segments()
    assert sorted(segment[0][0] for segment in segments) == [1, 2]
    texts = {text.get_text() for text in axes.get_legend().get_texts()}
    assert texts == {"infected", "well", "not observed"}


def test_contributions_color_contacts():
    contributions = np.zeros((GRAPHS.n_nodes, 2))
    contributions[:, 1] = np.arange(GRAPHS.n_nodes)
    explanation = pk.explain.Explanation(contributions, GRAPHS.graph_ptr, 0.0, GRAPHS)
    axes = pk.plotting.plot_contacts(explanation, 1)
    listed = explanation.contacts(1)
    assert [(contact["source"], contact["target"], contact["time"]) for contact in listed] == [
        ("x", "y", 5.0)
    ]
    assert axes.collections[0].get_array().tolist() == [listed[0]["contribution"]]
    assert listed[0]["contribution"] == pytest.approx(contributions[4:].sum())


def test_graphs_without_time_are_refused():
    plain = pk.check_graphs([np.ones((3, 3)) - np.eye(3)])
    with pytest.raises(TypeError, match="from_contacts"):
        pk.plotting.plot_contacts(plain)
    explanation = pk.explain.Explanation(np.zeros((3, 1)), plain.graph_ptr, 0.0, plain)
    with pytest.raises(TypeError, match="graphs in time"):
        explanation.contacts()
