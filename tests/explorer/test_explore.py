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
from propkernels.decisions.rule import Rule, dual_members
from propkernels.explorer.carried import carried_rule
from propkernels.explorer.embedding import comparisons, nearest_graphs, quantized
from propkernels.explorer.exploration import SCRIPTS
from propkernels.explorer.page_arrays import pack, smallest
from propkernels.explorer.page_codes import NotLive
from propkernels.explorer.page_contents import short_names
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


@pytest.mark.parametrize("base_kernel", ["linear", "intersection", "tanimoto", "jaccard"])
def test_neighbors_are_exact(data, base_kernel):
    kernel = pk.PropagationKernel(t_max=2, normalize=True, base_kernel=base_kernel, random_state=0)
    K = kernel.fit_transform(data.graphs)
    np.fill_diagonal(K, -1)
    rule = Rule.of(dual_members(kernel, np.ones((len(data.graphs), 1))))
    compared = comparisons(carried_rule(rule, data.graphs, None))
    similarities, neighbors = nearest_graphs(compared, 5, None)
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


REFUSED = {
    "base kernel": (pk.PropagationKernel(base_kernel="rbf"), "without counting bins"),
    "exact codes": (pk.WeisfeilerLehman(exact=True), "no code function for ExactCoder"),
    "edge weights": (pk.WeisfeilerLehman(edge_weights=True), "weights"),
    "square roots": (pk.PropagationKernel(metric="hellinger"), "square roots"),
    "scheme": (pk.PropagationKernel(propagation="belief_propagation"), "BeliefPropagation"),
    "absorption by a function": (
        pk.PropagationKernel(propagation=pk.AbsorbingWalk(lambda graphs: graphs.degrees > 2)),
        "AbsorbingWalk",
    ),
    "pairs of graphs": (pk.GraphHopper(), "GraphHopper|HopCounter|code function"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_page_cannot_compute_is_refused_in_a_sentence(data, name):
    kernel, reason = REFUSED[name]
    model = pk.PropagationClassifier(kernel=kernel, C=1, t_max=None, random_state=0)
    model.fit(data.graphs, data.target)
    with pytest.raises(NotLive, match=reason) as refused:
        pk.explore(data.graphs, data.target, model)
    assert "a page shows models of Weisfeiler-Lehman" in str(refused.value)
    assert str(refused.value).startswith("the page does not carry this PropagationClassifier: ")


def test_gaussian_processes_and_several_targets_are_refused(data):
    kernel = pk.WeisfeilerLehman(n_iter=1)
    several = np.column_stack([data.target, 1 - data.target])
    for target, options, reason in [
        (data.target, {"solver": "gp"}, "Gaussian process"),
        (several, {}, "several targets"),
    ]:
        model = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0, **options)
        model.fit(data.graphs, target)
        with pytest.raises(NotLive, match=reason):
            pk.explore(data.graphs, data.target, model)


def test_models_of_other_targets_are_refused(data, model):
    with pytest.raises(NotLive, match=r"its classes are \[0, 1\], and those of the target \[0, 1, 2\]"):
        pk.explore(data.graphs, np.arange(40) % 3, model)
    with pytest.raises(NotLive, match="the target is numbers"):
        pk.explore(data.graphs, data.target + 0.5, model)
    numbers = pk.PropagationRegressor(kernel=pk.WeisfeilerLehman(n_iter=1), C=1).fit(
        data.graphs, data.target + 0.5
    )
    with pytest.raises(NotLive, match="no fitted PropagationClassifier"):
        pk.explore(data.graphs, data.target, pk.PropagationClassifier())
    assert pk.explore(data.graphs, data.target + 0.5, numbers).model is numbers


def test_a_model_that_fills_in_labels_is_refused():
    rng = np.random.default_rng(0)
    ring = np.roll(np.eye(6), 1, axis=1)
    graphs = [(ring + ring.T, rng.choice(["C", "N", None], 6).tolist()) for _ in range(20)]
    model = pk.PropagationClassifier(random_state=0).fit(graphs, np.arange(20) % 2)
    model.imputer_ = pk.LabelImputer().fit(graphs)
    with pytest.raises(NotLive, match="fills in missing node labels"):
        pk.explore(graphs, np.arange(20) % 2, model)


def test_the_header_says_whether_graphs_were_held_out(data, model):
    training = pk.explore(data.graphs, data.target, model).html
    assert "% predicted correctly (given model, probably on its training graphs)" in training
    fewer = pk.explore(data.graphs[:20], data.target[:20], model).html
    assert "(given model; its training graphs may be among them)" in fewer
    held_out = pk.explore(data.graphs, data.target).html
    assert "% predicted correctly (default model, held out, 5 folds)" in held_out
    assert "chosen on the same folds" in held_out


@pytest.mark.slow
def test_the_default_model_is_shown_itself(data):
    model = pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    assert len(model.rule_.members) > 1
    page = pk.explore(data.graphs, data.target, model)
    assert page.model is model
    assert len(embedded(page.html, "ex-meta")["members"]) == len(model.rule_.members)
    assert f"the mean of {len(model.rule_.members)} support vector machines" in page.html


@pytest.mark.slow
def test_without_a_model_the_default_one_is_trained(data):
    page = pk.explore(data.graphs, data.target)
    assert page.model.kernel is None
    attributes = np.random.default_rng(0).normal(size=(data.graphs.n_nodes, 2))
    graphs = data.graphs.with_attributes(attributes)
    page = pk.explore(graphs, data.target)
    assert any("attributes" in code for code in embedded(page.html, "ex-meta")["codes"])


def test_kept_graphs_that_are_on_the_page_are_stored_as_numbers(data):
    kernel = pk.WeisfeilerLehman(n_iter=1, base_kernel="jaccard")
    model = pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, data.target)
    for graphs, expected in [(data.graphs, True), (data.graphs[20:], False)]:
        carried = carried_rule(model.rule_, graphs, None)
        assert bool((carried.arrays["m0.graphs"] >= 0).all()) is expected
        (member,) = model.rule_.members
        n_stored = sum(carried.arrays[f"m0.counts{s}"].sum() for s in range(len(member.stream_weights)))
        assert bool(n_stored == 0) is expected


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
    check_pixels(pk.explore(grids, target), 4, 5)
    model = pk.PropagationClassifier(C=1, t_max=1, random_state=0).fit(grids, target)
    with pytest.raises(NotLive, match="Convolution"):
        pk.explore(grids, target, model)


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
    assert page.model.imputer_ is None


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
    graphs = pk.datasets.make_molecules(24, random_state=0).graphs
    sizes = graphs.graph_sizes
    kernel = pk.WeisfeilerLehman(n_iter=1, base_kernel="jaccard")
    model = pk.PropagationRegressor(kernel=kernel, C=10, random_state=0).fit(graphs, sizes)
    page = pk.explore(graphs, sizes, model, random_state=0)
    np.testing.assert_allclose(page.predictions, model.predict(graphs))


def test_numbers_are_predicted_for_every_graph(data):
    """Real numbers occur once each: no fold has all of them in its training part."""
    target = np.random.default_rng(0).random(40)
    page = pk.explore(data.graphs, target)
    assert np.isfinite(page.predictions).all()
    assert "root mean squared error 0." in page.html
    assert not re.search(r"\bnan\b", page.html.partition("<script")[0].lower())


def test_whole_numbers_that_floats_do_not_tell_apart_are_numbers(data):
    page = pk.explore(data.graphs, np.array([2.0**60, 2.0**70])[data.target])
    assert np.abs(page.predictions).max() > 2.0**59


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


def test_a_node_is_called_by_the_first_of_its_views():
    column = pk.check_graphs([(np.eye(2, k=1), [("C", "ring"), ("N", "chain")])]).label_column
    assert short_names(column, None) == {("C", "ring"): "C", ("N", "chain"): "N"}
    assert short_names(column, {("C", "ring"): "carbon"})["C", "ring"] == "carbon"
    assert short_names(None, None) == {}
