"""explore: what goes into the page, without a browser."""

import gzip
import json
import re
import shutil
import subprocess
from base64 import b64decode
from importlib.resources import files

import numpy as np
import pytest

import propkernels as pk
from propkernels.explorer.embedding import nearest_graphs, quantized
from propkernels.explorer.live import NotLive, code_function
from propkernels.explorer.packing import pack, smallest
from propkernels.explorer.page import SCRIPTS
from propkernels.explorer.structure import graph_arrays


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(40, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    kernel = pk.WeisfeilerLehman(n_iter=2)
    return pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, data.target)


def embedded(html, name):
    return json.loads(re.search(f'id="{name}">(.*?)</script>', html).group(1))


def unpacked(section):
    raw = gzip.decompress(b64decode(section["base64"]))
    return {
        place["name"]: np.frombuffer(raw, "<" + place["type"], place["length"], place["offset"])
        for place in section["arrays"]
    }


def test_arrays_survive_packing():
    rng = np.random.default_rng(0)
    arrays = {
        "small": rng.integers(0, 200, 7),
        "signed": rng.integers(-300, 300, 5),
        "large": rng.integers(0, 2**32, 3, dtype=np.uint64),
        "floats": rng.normal(size=4),
        "empty": np.empty(0),
    }
    for name, found in unpacked(pack(arrays)).items():
        np.testing.assert_array_equal(found, arrays[name])
    with pytest.raises(ValueError, match="32 bits"):
        smallest(np.array([2**32]))


@pytest.mark.slow
def test_the_same_page_twice(data):
    pages = [pk.explore(data.graphs, data.target, title="t").html for _ in range(2)]
    assert pages[0] == pages[1]


def test_the_page_holds_the_graphs(data, model):
    html = pk.explore(data.graphs, data.target, model).html
    arrays = unpacked(embedded(html, "ex-data")["graphs"])
    ptr = np.concatenate([[0], np.cumsum(arrays["sizes"])])
    np.testing.assert_array_equal(ptr, data.graphs.graph_ptr)
    rows = np.repeat(np.arange(len(arrays["degrees"])), arrays["degrees"])
    matrix = np.zeros((len(arrays["degrees"]),) * 2)
    matrix[rows, rows + arrays["steps"]] = matrix[rows + arrays["steps"], rows] = 1
    np.testing.assert_array_equal(matrix, data.graphs.adjacency.toarray())


def test_directed_edges_are_listed_both_ways():
    path = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    directed, arrays = graph_arrays(pk.check_graphs([path]))
    assert directed
    assert arrays["steps"].tolist() == [1, 1]
    ring = pk.check_graphs([(np.ones((3, 3)) - np.eye(3), ["C", "C", "O"])])
    assert graph_arrays(ring)[0] is False


def test_neighbors_are_exact(data):
    kernel = pk.PropagationKernel(t_max=2, normalize=True, random_state=0)
    K = kernel.fit_transform(data.graphs)
    np.fill_diagonal(K, -1)
    similarities, neighbors = nearest_graphs(data.graphs, kernel, 5, None)
    np.testing.assert_allclose(similarities, -np.sort(-K, axis=1)[:, :5])
    np.testing.assert_allclose(np.take_along_axis(K, neighbors, axis=1), similarities)


def test_coordinates_keep_their_shape():
    points = np.array([[0.0, 0.0], [2.0, 1.0], [1.0, 0.5]])
    found = quantized(points).reshape(-1, 2).astype(int)
    assert found[:, 0].tolist() == [0, 65535, 32768]
    assert np.ptp(found[:, 1]) == pytest.approx(65535 / 2, abs=1)


@pytest.mark.slow
def test_held_out_predictions_are_those_of_cross_validation(data):
    page = pk.explore(data)
    assert set(np.unique(page.predictions)) <= {0, 1}
    assert page.points.shape == (40, 2)
    assert np.isfinite(page.points).all()
    assert 0 <= page.novelty.min() <= page.novelty.max() <= 1
    correct = float(np.mean(page.predictions == data.target))
    assert f"{100 * correct:.1f} % predicted correctly" in page.html


@pytest.mark.slow
def test_a_model_that_the_page_cannot_compute_has_a_companion(data):
    given = pk.PropagationClassifier(kernel=pk.ShortestPath(), C=10, random_state=0)
    given.fit(data.graphs, data.target)
    page = pk.explore(data.graphs, data.target, given)
    assert page.model is not given
    assert "what is explained and edited here is another model" in page.html.lower()
    np.testing.assert_array_equal(page.predictions, given.predict(data.graphs))
    assert given.predict(data.graphs).tolist() != []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (pk.ShortestPath(), "does not know how"),
        (pk.PropagationKernel(base_kernel="rbf"), "not a dot product"),
        (pk.WeisfeilerLehman(exact=True), "does not know how"),
        (pk.WeisfeilerLehman(edge_weights=True), "weights"),
        (pk.PropagationKernel(metric="hellinger"), "project"),
        (pk.PropagationKernel(propagation="label_propagation"), "scheme"),
        (pk.PropagationKernel(propagation=pk.Diffusion(normalization="symmetric")), "scheme"),
    ],
)
def test_what_the_page_cannot_compute_is_said(data, kernel, reason):
    model = pk.PropagationClassifier(kernel=kernel, C=1, t_max=None, random_state=0)
    model.fit(data.graphs, data.target)
    with pytest.raises(NotLive, match=reason):
        code_function(model.rule_, data.graphs)


def check_pixels(page, height, width):
    assert embedded(page.html, "ex-meta")["pixels"] == 1
    places = unpacked(embedded(page.html, "ex-data")["graphs"])["places"].reshape(-1, 2)[: height * width]
    assert places[:, 0].max() == width - 1
    assert places[:, 1].min() == 1 - height


@pytest.mark.slow
def test_pictures_are_graphs_of_pixels():
    images = np.random.default_rng(0).integers(0, 3, (20, 4, 5))
    target = np.arange(20) % 2
    grids = pk.GridDatabase(list(images))
    model = pk.PropagationClassifier(C=1, t_max=1, random_state=0).fit(grids, target)
    page = pk.explore(grids, target, model)
    check_pixels(page, 4, 5)
    assert page.model is not model  # pixels are edited as nodes of graphs
    np.testing.assert_array_equal(page.predictions, model.predict(grids))


@pytest.mark.slow
def test_images_beside_graphs_say_where_pixels_are():
    digits = pk.datasets.load("DIGITS")
    part = pk.datasets.dataset.Dataset(
        "some", digits.graphs[:40], digits.target[:40] % 2, (), {"images": digits.extras["images"][:40]}
    )
    check_pixels(pk.explore(part), 8, 8)


def test_given_coordinates_and_molecules_are_drawn_there():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCl", "C1CC1"]
    graphs = pk.from_smiles(smiles)
    for options in (
        {"molecules": smiles},
        {"layout": np.random.default_rng(0).normal(size=(graphs.n_nodes, 3))},
    ):
        page = pk.explore(graphs, **options)
        places = unpacked(embedded(page.html, "ex-data")["graphs"])["places"]
        assert len(places) == 2 * graphs.n_nodes
        assert np.abs(places).max() == 127


@pytest.mark.slow
def test_edge_labels_and_missing_labels():
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(20):
        ring = np.roll(np.eye(6), 1, axis=1)
        labels = rng.choice(["C", "N", None], 6).tolist()
        graphs.append((ring + ring.T, labels))
    page = pk.explore(graphs, rng.integers(0, 2, 20))
    assert type(page.model.kernel_).__name__ == "WeisfeilerLehman"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [0, 1]}, "one value for each of 40 graphs"),
        ({"target": [0] * 40}, "one class is not enough"),
        ({"target": [np.inf] + [0.5] * 39}, "finite"),
        ({"ids": ["a"]}, "1 ids for 40 graphs"),
        ({"class_names": ["a"]}, "must name 2 classes"),
        ({"columns": {"x": [1]}}, "column 'x' must hold 40 values"),
        ({"layout": np.zeros((3, 2))}, "a point for each"),
    ],
)
def test_bad_input(data, model, change, message):
    arguments = {"graphs": data.graphs, "target": data.target, "model": model} | change
    with pytest.raises(ValueError, match=message):
        pk.explore(**arguments)


def test_one_graph_is_not_enough_and_a_model_needs_a_target(data, model):
    with pytest.raises(ValueError, match="2 to 50,000 graphs"):
        pk.explore(data.graphs[:1])
    with pytest.raises(ValueError, match="together with the target"):
        pk.explore(data.graphs, model=model)


def test_a_frame_for_notebooks(data, model):
    page = pk.explore(data.graphs, data.target, model, title='"><script>alert(1)</script>')
    frame = page._repr_html_()
    assert frame.count("<") == 2
    assert 'sandbox="allow-scripts"' in frame


@pytest.mark.slow
def test_scripts_are_complete_and_valid():
    static = files("propkernels.explorer") / "static"
    assert {path.name for path in static.iterdir() if path.name.endswith(".js")} == {
        f"{s}.js" for s in SCRIPTS
    }
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the syntax of the scripts is checked by Chromium alone")
    for name in SCRIPTS:
        subprocess.run([node, "--check", str(static / f"{name}.js")], check=True, capture_output=True)


def test_whole_numbers_that_a_regressor_predicts_are_numbers():
    """Ratios of counts have no weights of bins: the page says which other model it shows."""
    graphs = pk.datasets.make_molecules(24, random_state=0).graphs
    sizes = graphs.graph_sizes
    kernel = pk.WeisfeilerLehman(n_iter=1, base_kernel="jaccard")
    model = pk.PropagationRegressor(kernel=kernel, C=10, random_state=0).fit(graphs, sizes)
    page = pk.explore(graphs, sizes, model, random_state=0)
    np.testing.assert_allclose(page.predictions, model.predict(graphs))
    assert "its kernel is not a dot product of counts" in page.html


def test_numbers_are_predicted_for_every_graph(data):
    """Real numbers occur once each: no fold has all of them in its training part."""
    target = np.random.default_rng(0).random(40)
    page = pk.explore(data.graphs, target)
    assert np.isfinite(page.predictions).all()
    assert "root mean squared error 0." in page.html
    assert not re.search(r"\bnan\b", page.html.partition("<script")[0].lower())


def test_whole_numbers_that_floats_do_not_tell_apart_are_numbers(data):
    page = pk.explore(data.graphs, np.array([2.0**60, 2.0**70])[data.target])
    assert page.predictions.min() > 2.0**59


def test_graphs_without_a_target_are_left_out(data):
    target = data.target.astype(object)
    target[::4] = None
    known = np.flatnonzero(np.arange(40) % 4)
    layout = np.arange(2.0 * data.graphs.n_nodes).reshape(-1, 2)
    options = {"columns": {"number": np.arange(40)}, "ids": [f"graph{i}" for i in range(40)]}
    with pytest.warns(UserWarning, match="10 of 40 graphs have no target and are left out"):
        page = pk.explore(data.graphs, target, layout=layout, **options)
    assert page.predictions.shape == (30,)
    assert embedded(page.html, "ex-meta")["ids"] == [f"graph{i}" for i in known]
    assert "10 of 40 graphs have no target and are left out" in page.html
