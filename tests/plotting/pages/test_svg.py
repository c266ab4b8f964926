"""SVG: elements are escaped, axes have round ticks, and each chart draws every number."""

from xml.etree import ElementTree

import numpy as np
import pytest

from propkernels.plotting.pages import svg

EVIL = "<script>&\"'"
PAIR = "{} ± {}".format


CHARTS = {
    "histogram": (lambda: svg.histogram(EVIL, [0, 1, 2, 3], [1, 0, 4], EVIL, EVIL), "rect", 3),
    "bars": (lambda: svg.bar_chart(EVIL, [(EVIL, 3.0), ("a long name in two lines", 0.0)]), "rect", 2),
    "empty bars": (lambda: svg.bar_chart(EVIL, [(EVIL, 0.0)]), "rect", 1),
    "dots": (lambda: svg.dot_chart(EVIL, [(EVIL, 0.8, 0.1), ("b", 0.5, 0)], str, PAIR, 0.1), "circle", 2),
    "one dot": (lambda: svg.dot_chart(EVIL, [("b", 0.5, 0.0)], str, PAIR), "circle", 1),
    "line": (lambda: svg.line_chart(EVIL, [(1, 0.5, 0.1), (2, 0.5, 0.0)], EVIL, EVIL), "circle", 2),
    "flat line": (lambda: svg.line_chart(EVIL, [(1, 0.5, 0.0)], EVIL, EVIL), "circle", 1),
    "strips": (lambda: svg.strip_chart(EVIL, [svg.Strip(EVIL, [(1.0, EVIL)] * 3, 1.0)], str), "circle", 3),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_well_formed_and_draw_every_number(name):
    draw, tag, number = CHARTS[name]
    text = draw()
    root = ElementTree.fromstring(text)
    assert len(list(root.iter(tag))) == number
    assert root.find("title").text == EVIL
    assert "<script" not in text
    assert "nan" not in text


def test_marks_of_a_chart_are_inside_it():
    root = ElementTree.fromstring(svg.dot_chart("", [("a", 0.8, 0.1), ("b", 0.5, 0)], str, PAIR, 0.1))
    ends = [float(line.get(name)) for line in root.iter("line") for name in ("x1", "x2")]
    assert 0 <= min(ends) < max(ends) <= svg.WIDTH


def test_graphs_fit_into_their_size():
    positions = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 5.0]])
    nodes = [svg.Node("C", "node 0", "red", "black", True), *[svg.Node("", EVIL, "red", "black")] * 2]
    text = svg.node_link(positions, np.array([[0, 1], [1, 2]]), nodes, (200, 100), EVIL)
    root = ElementTree.fromstring(text)
    assert float(root.get("width")) <= 200
    assert float(root.get("height")) <= 100
    assert len(list(root.iter("line"))) == 2
    assert [node.get("stroke-width") for node in root.iter("circle")] == ["2.5", "0.8", "0.8"]


def test_pictures_are_png():
    image = pytest.importorskip("PIL.Image")
    from io import BytesIO

    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    np.testing.assert_array_equal(np.asarray(image.open(BytesIO(svg.png(picture)))), picture)
    assert 'height="20" width="40"' in svg.pixels(picture, EVIL, 40).replace("'", "")
    assert "<script" not in svg.pixels(picture, EVIL, 40)
