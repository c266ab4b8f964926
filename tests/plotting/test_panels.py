"""Panels of figures: axes, grids, graphs, forecasts."""

from io import BytesIO

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.graphs.drawing import BRIGHTEST, DARKEST, gray_labels
from propkernels.plotting.draw_graph import draw_graph, node_texts
from propkernels.plotting.panels import draw_grid, forecast
from tests.zoo import one

# draw grid


@pytest.fixture(autouse=True)
def _heat_maps(monkeypatch, request):
    if "squares" not in request.node.name:
        monkeypatch.setattr("propkernels.plotting.panels.MOST_SQUARES", 0)


def axes_of(grid, values, picture=None):
    ax = Figure().subplots()
    draw_grid(ax, grid, values, picture, Normalize(-4, 4), "RdBu_r")
    return ax


def images_of(grid, values, picture=None):
    """Arrays of the image below and of the heat map."""
    return [np.asarray(image.get_array()) for image in axes_of(grid, values, picture).get_images()]


def test_small_images_have_squares_that_leave_the_image_visible():
    values = np.array([[1.0, np.nan], [0.0, -4.0]])
    grid = pk.GridDatabase([np.array([[0, 1], [1, 0]])], masks=[~np.isnan(values)])[0]
    ax = axes_of(grid, values)
    (below,) = (np.asarray(image.get_array()) for image in ax.get_images())
    assert np.array_equal(below, gray_labels(grid))
    widths = [path.get_extents().width for path in ax.collections[0].get_paths()]
    assert len(widths) == 2, "values of 0 and pixels outside the mask have no square"
    assert widths[0] < widths[1] < 1


def test_opacity_follows_the_absolute_value():
    values = np.arange(12.0).reshape(3, 4) / 3 - 2.1
    grid = pk.GridDatabase([np.zeros((3, 4), dtype=int)])[0]
    below, heat = images_of(grid, values)
    assert below.shape == (3, 4)
    assert np.array_equal(np.argsort(np.abs(values).ravel()), np.argsort(heat[..., 3].ravel()))


def test_a_photograph_below_the_heat_map():
    photograph = np.random.default_rng(0).integers(0, 256, (4, 6, 3)).astype(np.uint8)
    grid = pk.GridDatabase([np.zeros((4, 6), dtype=int)])[0]
    assert np.allclose(images_of(grid, np.ones((4, 6)), photograph)[0], photograph / 255)
    with pytest.raises(ValueError, match=r"picture has shape \(6, 4, 3\), the grid \(4, 6\)"):
        images_of(grid, np.ones((4, 6)), photograph.swapaxes(0, 1))


def test_nothing_is_drawn_outside_a_mask():
    values = np.array([[1.0, np.nan], [2.0, -3.0]])
    grid = pk.GridDatabase([np.array([[0, 1], [1, 0]])], masks=[~np.isnan(values)])[0]
    assert np.array_equal(images_of(grid, values)[1][..., 3] > 0, ~np.isnan(values))


@pytest.mark.parametrize(("shape", "drawn"), [((7,), (1, 7)), ((3, 4, 5), (4, 5))])
def test_lines_and_volumes(shape, drawn):
    values = np.zeros(shape)
    values.flat[-1] = -4.0
    heat = images_of(pk.GridDatabase([np.zeros(shape, dtype=int)])[0], values)[1]
    assert heat.shape[:2] == drawn
    assert heat[-1, -1, 3] == 1, "the slice with the largest value is shown"


def test_labels_in_gray():
    gray = gray_labels(pk.GridDatabase([np.array([[0, 1, 2], [2, -1, 0]])])[0])
    middle = (DARKEST + BRIGHTEST) / 2
    assert np.allclose(gray, [[DARKEST, middle, BRIGHTEST], [BRIGHTEST, 1.0, DARKEST]])


# draw graph

SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]
CORNERS = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def drawn(graph, positions, texts=None):
    """Axes and mappable of a graph whose nodes have the values 0, 1, ..."""
    ax = Figure().subplots()
    values = np.arange(float(graph.n_nodes))
    return ax, draw_graph(ax, graph, positions, texts, c=values, norm=Normalize(0, 3), cmap="Reds")


def test_nodes_at_their_positions_with_the_color_of_their_values():
    ax, mappable = drawn(one(4, SQUARE, ["C", "N", "O", "C"])[0], CORNERS)
    assert np.array_equal(mappable.get_offsets(), CORNERS)
    assert np.array_equal(mappable.get_array(), [0, 1, 2, 3])
    lines = next(child for child in ax.collections if isinstance(child, LineCollection))
    assert len(lines.get_segments()) == 4
    assert [text.get_text() for text in ax.texts] == ["C", "N", "O", "C"]
    assert [ax.texts[0].get_color(), ax.texts[3].get_color()] == ["black", "white"]  # on pale and dark red


def test_texts_in_the_nodes():
    graphs = one(4, SQUARE, ["C", None, "O", "helium"])
    assert node_texts(graphs[0]) == ["C", "?", "O", "he"]
    assert node_texts(graphs.with_names({"O": "Ox"})[0]) == ["C", "?", "Ox", "he"]


def test_no_texts_without_labels_or_in_large_graphs():
    assert node_texts(one(4, SQUARE, None)[0]) == []
    assert len(node_texts(one(150, [], ["C"] * 150)[0])) == 150
    assert node_texts(one(151, [], ["C"] * 151)[0]) == []


def test_directed_edges_are_arrows():
    ax, _ = drawn(one(4, SQUARE, None, directed=True)[0], CORNERS)
    assert len(ax.patches) == 4
    ax.figure.canvas.draw()


@pytest.mark.parametrize("positions", [[[0.0, 0], [1, 0]], [[2.0, 1], [2, 5]], [[3.0, 3]]])
def test_nodes_on_a_line_are_drawn_in_an_area(positions):
    n = len(positions)
    ax, _ = drawn(one(n, [(0, 1)][: n - 1], ["C", "O"][:n])[0], np.array(positions))
    ax.figure.savefig(BytesIO())
    width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    assert 0.2 < width / height < 5


# forecasts

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
