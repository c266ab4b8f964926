"""The report: sentences, sections with tables, charts and drawings; page, fragment and files."""

import json
import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.learning import Score
from propkernels.auditing.rendering import outline
from propkernels.auditing.report import sentences_of
from tests.html import Elements


def test_page(report):
    page = report.to_html()
    assert Elements(page).names.count("svg") >= 12
    for sentence in report.sentences:
        assert sentence.text.split(":")[0].split("'")[0] in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    data = re.search(r'<script type="application/json" id="audit">(.*?)</script>', page, re.DOTALL).group(1)
    assert json.loads(data) == json.loads(report.to_json())
    fragment = report._repr_html_()
    assert fragment.startswith('<div class="pk">')
    assert "no method can exceed" in fragment
    assert "<script" not in fragment


def test_no_number_is_said_twice_and_molecules_are_molecules(report):
    page = report.to_html()
    assert "<summary>Scores" not in page
    text = re.sub(r"<svg.*?</svg>|<script.*?</script>|<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)
    text = text.replace("Audit of graphs", "")
    assert "t = 0" in page
    assert not re.findall(r"\b(?:graph|node|edge)s?\b", text, re.IGNORECASE)
    assert "PropagationKernel(" not in text


def test_graphs_are_called_by_their_ids(report):
    ids = [f"number {i}" for i in range(len(report.graphs))]
    named = replace(report, graphs=report.graphs.with_ids(ids))
    assert "<td>number 7, number 60</td>" in named.to_html()
    one = replace(named.suspects, graphs=named.suspects.graphs[:1])
    said = [texts(replace(named, suspects=some), "suspects")[0][1] for some in (named.suspects, one)]
    first = f"number {named.suspects.graphs[0]}"
    assert f"check their targets, first {first}, " in said[0]
    assert said[1].endswith(f"check its target: {first}.")


def test_strange_names_are_harmless():
    graphs = [nx.path_graph(3) for _ in range(4)]
    for graph in graphs:
        nx.set_node_attributes(graph, "<b>|*", "label")
    report = pk.audit(pk.from_networkx(graphs), ["</script>", "<i>", "<i>", "a|b"])
    page = report.to_html()
    assert "<i>" not in page
    assert "<b>" not in page
    assert page.count("</script>") == page.count("<script ")


@pytest.fixture(scope="module")
def sections(report):
    return {section.topic: section for section in outline(report)}


def test_every_sentence_is_in_its_section(report, sections):
    assert list(sections) == ["graphs", "sameness", "learning", "suspects"]
    listed = [sentence for section in sections.values() for sentence in section.sentences]
    assert listed == list(report.sentences)


def test_sections_have_tables_charts_and_captions(report, sections):
    tables = [table for section in sections.values() for table in section.tables]
    assert len(tables) >= 3
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.head)}, table.title
    charts = [chart for section in sections.values() for chart in section.charts]
    assert {"learning curve", "baselines (counts) and the kernel", "molecules per class"} <= {
        title for title, _ in charts
    }
    assert all(drawn.startswith("<svg") for _, drawn in charts)
    graph, caption = sections["graphs"].drawings[0]
    assert caption.startswith(f"molecule {graph}, class ")
    assert caption.endswith(f": typical, {int(report.graphs.graph_sizes[graph])} atoms")


def test_conflicts_and_steps_are_listed(report, sections):
    tables = {table.title: table for table in sections["sameness"].tables}
    assert tables["Duplicates with different targets"].rows[0][0] == "7, 60"
    steps = tables["Molecules that t steps distinguish"].rows
    assert [row[:2] for row in steps] == [(step.t, step.n_groups) for step in report.sameness.by_step]


def test_files(report, tmp_path):
    for name in ("report.html", "report.json"):
        report.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert json.loads((tmp_path / "report.json").read_text())["name"] == "graphs"
    with pytest.raises(ValueError, match=r"end with \.html, \.json; got"):
        report.save(tmp_path / "report.pdf")


def test_repr_and_str(report):
    assert repr(report) == "Audit(graphs: 61 graphs, 2 with a duplicate)"
    assert str(report).startswith("Audit of graphs\n- 61 molecules with ")


def texts(report, topic):
    return [(sentence.kind, sentence.text) for sentence in sentences_of(report) if sentence.topic == topic]


def test_duplicates_with_different_classes_bound_the_accuracy(report):
    bad = [text for kind, text in texts(report, "sameness") if kind == "bad"]
    assert bad[0].startswith(
        "2 of 61 molecules (3.3 %) have an exact duplicate, in 1 group; 1 can be removed."
    )
    assert bad[1].startswith(
        "1 group of duplicates has different classes (2 molecules): no method can exceed"
    )


@pytest.mark.parametrize(
    ("mean", "kind", "verdict"), [(0.6, "bad", "not clearly better"), (0.9, "good", "gain")]
)
def test_the_kernel_is_compared_with_the_best_baseline(report, mean, kind, verdict):
    scores = (
        Score("majority class", 0.5, 0.0),
        Score("counting degrees", 0.6, 0.01),
        Score("kernel", mean, 0.01),
    )
    found = texts(replace(report, learning=replace(report.learning, scores=scores)), "learning")
    assert found[1][0] == kind
    assert found[1][1].startswith("Counting degrees alone reaches 60.0 ± 1.0 %")
    assert verdict in found[1][1]


def test_a_rare_class_asks_for_balanced_accuracy():
    graphs = pk.datasets.make_molecules(22, random_state=0).graphs
    report = pk.audit(graphs, np.arange(22) == 0, t_max=0)
    assert any(kind == "bad" and "report balanced accuracy" in text for kind, text in texts(report, "graphs"))


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        (0.79, "does not rise."),
        (0.81, "rises by 1.0 points, within its standard error (2.0 points)."),
        (0.83, "rises by 3.0 points: more molecules would help."),
    ],
)
def test_the_learning_curve_is_judged_by_its_standard_error(report, after, verdict):
    curve = ((20, 0.7, 0.02), (40, 0.8, 0.02), (61, after, 0.02))
    found = texts(replace(report, learning=replace(report.learning, curve=curve)), "learning")
    assert any(text == f"From 40 to 61 training molecules the score {verdict}" for _, text in found)


def cycles(lengths, bond, attribute):
    """Cycles whose edges have one label, with a constant attribute and one of their own."""
    graph = nx.disjoint_union_all([nx.cycle_graph(length) for length in lengths])
    nx.set_edge_attributes(graph, bond, "label")
    nx.set_node_attributes(graph, {node: [1.0, attribute] for node in graph}, "attributes")
    return graph


@pytest.fixture(scope="module")
def awkward():
    """Graphs whose edge labels matter, two that no step distinguishes, and a test set that leaks."""
    graphs = [cycles([3 + i], "single", 0.5 * i) for i in range(8)]
    graphs += [cycles([3 + i], "double", 0.5 * i) for i in range(8)]
    graphs += [cycles([10], "single", np.nan), cycles([5, 5], "single", np.nan)]
    target = np.array([3.5 + i % 8 for i in range(18)])
    database = pk.check_graphs(graphs)
    return pk.audit(database, target, database[[1, 17]], test_target=[4.5, 9.25], t_max=2)


def test_edge_labels_and_steps_that_distinguish_graphs(awkward):
    said = [text for _, text in texts(awkward, "sameness")]
    assert any("graphs have an equal one but for edge labels: use a kernel" in text for text in said)
    assert any("can distinguish 2 graphs from another one (2 of them differ)" in text for text in said)


def test_leaks_are_counted(awkward):
    bad = [text for kind, text in texts(awkward, "sameness") if kind == "bad"]
    assert "2 of 2 test graphs (100 %) are training graphs, 1 of them with another target" in " ".join(bad)
    tables = {table.title: table for part in outline(awkward) for table in part.tables}
    assert tables["Test graphs that are training graphs"].rows == [("0", "1"), ("1", "17")]


def test_constant_and_missing_attributes(awkward):
    bad = [text for kind, text in texts(awkward, "graphs") if kind == "bad"]
    assert any(text.endswith("is constant.") for text in bad)
    assert any(text.endswith("has 20 missing values.") for text in bad)
    rows = {table.title: table.rows for part in outline(awkward) for table in part.tables}["Node attributes"]
    assert [row[-1] for row in rows] == [0, 20]
