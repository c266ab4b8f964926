import itertools

import numpy as np
import pytest
from scipy import ndimage

import propkernels as pk
from propkernels.graphs.neighborhoods import BOUNDARIES, grid_edges, resolve_neighborhood
from propkernels.propagation import Convolution, LabelPropagation
from propkernels.propagation.convolution import GridOperator, cheapest_path
from tests import naive as exact
from tests.propagation import naive

GENERATOR = np.random.default_rng(5)
FILTERS = {
    "N14": pk.graphs.circular_neighborhood(1, 4),
    "N18": pk.graphs.circular_neighborhood(1, 8),
    "N216": pk.graphs.circular_neighborhood(2, 16),
    "N1.5,7": pk.graphs.circular_neighborhood(1.5, 7),
    "odd": GENERATOR.random((3, 5)),
    "one-sided": np.array([[0, 0, 0], [0, 0, 0.5], [0, 0.25, 0]]),
    "box": np.ones((5, 3)),
    "larger than the images": GENERATOR.random((9, 7)),
    "the centre alone": np.ones((1, 1)),
    "small numbers": 1e-9 * GENERATOR.random((3, 3)),
}
SHAPES = [(4, 5), (3, 3), (1, 6), (7, 2)]


def images(seed=0, shapes=SHAPES, labels=3):
    generator = np.random.default_rng(seed)
    return [generator.integers(0, labels, shape) for shape in shapes]


def masks(seed=1, shapes=SHAPES):
    generator = np.random.default_rng(seed)
    return [
        np.where(np.arange(np.prod(s)) == 0, True, generator.random(np.prod(s)) < 0.6).reshape(s)
        for s in shapes
    ]


def codes(grids, t_max=4, fitted_on=None, **parameters):
    kernel = pk.PropagationKernel(t_max=t_max, random_state=3, **parameters).fit(fitted_on or grids)
    (block,) = kernel._coder.codes(grids)
    return np.asarray(block.codes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "masked"),
    [("direct", False), ("direct", True), ("separable", False), ("separable", True), ("fourier", False)],
)
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("name", FILTERS)
def test_steps_against_loops_over_pixels(name, boundary, path, masked):
    weights = FILTERS[name]
    inside = masks() if masked else None
    grids = pk.GridDatabase(images(), inside)
    columns = GENERATOR.standard_normal((grids.n_nodes, 2))
    reference = columns
    for _ in range(2):
        reference = np.concatenate(
            [
                _naive_step(
                    reference[grids.graph_ptr[i] : grids.graph_ptr[i + 1]],
                    s,
                    weights,
                    boundary,
                    inside and inside[i],
                )
                for i, s in enumerate(SHAPES)
            ]
        )
    operator = GridOperator(grids, weights, boundary, path=path)
    computed = operator.step(operator.step(columns, columns), columns)
    np.testing.assert_allclose(computed, reference, rtol=1e-11, atol=1e-12 * max(1, weights.sum() ** 2))


def _naive_step(columns, shape, weights, boundary, mask):
    inside = np.ones(shape, dtype=bool) if mask is None else mask
    steps = []
    for column in columns.T:
        image = np.zeros(shape)
        image[inside] = column
        steps.append(naive.convolve(image, weights, boundary, inside)[inside])
    return np.stack(steps, axis=1)


def test_four_neighbours_are_the_random_walk():
    """Exact arithmetic: equal to the kernel of the 4-neighbour graphs entry for entry."""
    grids = pk.GridDatabase(images(), masks())
    graphs = grids.to_graphs((1, 4))
    reference = exact.propagation_kernels(graphs, 4)
    for neighborhood in ("nearest", (1, 4), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])):
        kernel = pk.PropagationKernel(propagation=Convolution(neighborhood), t_max=4, random_state=0)
        np.testing.assert_array_equal(kernel.fit_transform_cumulative(grids), reference)
    diffusion = codes(graphs, propagation="diffusion")
    assert naive.same_classes(codes(grids), diffusion)
    assert (codes(grids) == diffusion).mean() > 0.999


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("name", FILTERS)
def test_graphs_of_any_filter(name, boundary):
    """to_graphs against loops: the walk on A is the renormalised step, A itself the plain one."""
    weights, shape = FILTERS[name], (4, 5)
    adjacency = grid_edges(shape, weights, boundary).toarray()
    image = GENERATOR.standard_normal(shape)
    degrees = adjacency.sum(axis=1)
    reference = naive.convolve(image, weights, boundary).ravel()
    computed = adjacency @ image.ravel()
    if boundary == "renormalize":
        computed = np.where(degrees > 0, computed / np.where(degrees > 0, degrees, 1), image.ravel())
    np.testing.assert_allclose(computed, reference, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("pair", [(1, 4), (1, 8), (2, 16), (3, 24), (1.7, 12)])
def test_turned_and_mirrored_images_have_the_same_codes(pair, boundary, metric):
    """Bit for bit, whatever the size of the values: no tolerance, and no luck at the edges of bins."""
    pictures, inside = images(2, [(9, 12), (17, 5)], 4), masks(3, [(9, 12), (17, 5)])
    numbered = [np.arange(p.size).reshape(p.shape) for p in pictures]
    grids = pk.GridDatabase(pictures, inside)
    options = {"propagation": Convolution(pair, boundary), "t_max": 6, "metric": metric}
    reference = codes(grids, **options)
    for turn in (np.rot90, lambda a: np.rot90(a, 2), lambda a: np.rot90(a, 3), np.transpose, np.flipud):
        turned = pk.GridDatabase([turn(p) for p in pictures], [turn(m) for m in inside])
        order = np.concatenate(
            [
                start + np.searchsorted(np.flatnonzero(m), turn(n)[turn(m)])
                for n, m, start in zip(numbered, inside, grids.graph_ptr, strict=False)
            ]
        )
        np.testing.assert_array_equal(codes(turned, fitted_on=grids, **options), reference[:, order])


@pytest.mark.parametrize("n_hashes", [1, 3])
@pytest.mark.parametrize("clamp", ["after", "before"])
def test_observed_pixels_can_be_held(clamp, n_hashes):
    pictures = images(9, labels=4)
    grids = pk.GridDatabase([np.where(p == 3, -1, p) for p in pictures], masks())
    options = {"t_max": 4, "random_state": 0, "n_hashes": n_hashes}
    scheme, reference = Convolution((1, 4), clamp=clamp), LabelPropagation(clamp)
    np.testing.assert_array_equal(
        pk.PropagationKernel(propagation=scheme, **options).fit_transform(grids),
        pk.PropagationKernel(propagation=reference, **options).fit_transform(grids.to_graphs((1, 4))),
    )
    fourier = GridOperator(pk.GridDatabase(pictures), np.ones((3, 3)) / 9, "renormalize", path="fourier")
    assert fourier.step(np.ones((fourier.grids.n_nodes, 1)), np.empty(0)) == pytest.approx(1)


@pytest.mark.slow
def test_large_filters_by_fourier_transform():
    generator = np.random.default_rng(1)
    weights = generator.random((17, 17))
    grids = pk.GridDatabase(images(1, [(20, 30), (9, 40), (20, 30)]))
    assert cheapest_path(weights, False) == "fourier"
    for boundary, n_hashes in itertools.product(BOUNDARIES, (1, 2)):
        scheme = Convolution(weights / weights.sum(), boundary, clamp="after")
        options = {"propagation": scheme, "n_hashes": n_hashes, "metric": "l2", "bin_width": 1e-3, "t_max": 3}
        masked = pk.GridDatabase(
            [g.image for g in grids] + [np.zeros((1, 2), dtype=int)], [None] * 3 + [np.array([[True, False]])]
        )
        summed, transformed = codes(masked, **options)[:, :-1], codes(grids, **options)
        assert (summed == transformed).mean() > 0.9999


@pytest.mark.parametrize("boundary", ["renormalize", "zero", "wrap", "reflect"])
def test_mirror_is_the_convolution_of_the_formula(boundary):
    """(f * g)(x) = sum_i f(i) g(x - i), here by scipy.ndimage; without it, the mirrored filter."""
    weights = np.array([[0.0, 0.1, 0.0], [0.5, 0.0, 0.2], [0.0, 0.0, 0.3]])
    image = np.random.default_rng(0).random((5, 7))
    grids = pk.GridDatabase([np.zeros((5, 7), int)])
    step = Convolution(weights, boundary, mirror=True).operator(grids).step(image.reshape(-1, 1), image)
    mode = {"wrap": "wrap", "reflect": "reflect"}.get(boundary, "constant")
    expected = ndimage.convolve(image, weights, mode=mode)
    if boundary == "renormalize":
        expected /= ndimage.convolve(np.ones_like(image), weights, mode="constant")
    np.testing.assert_allclose(step.reshape(5, 7), expected)
    plain = Convolution(weights, boundary).operator(grids).step(image.reshape(-1, 1), image)
    assert not np.allclose(plain, step)
    other = Convolution(weights[::-1, ::-1], boundary).operator(grids).step(image.reshape(-1, 1), image)
    np.testing.assert_array_equal(other, step)


def test_circles_in_volumes_lie_in_every_plane():
    """N_{1,4} in three planes is the six nearest voxels; turning the volume does not matter."""
    rng = np.random.default_rng(0)
    volume = rng.integers(0, 3, (4, 5, 6))
    turned = np.rot90(volume, axes=(0, 2))
    kernels = [
        pk.PropagationKernel(propagation=Convolution(neighborhood), t_max=3, random_state=0)
        for neighborhood in ((1, 4), "nearest", (1, 8), (2, 16))
    ]
    found = [kernel.fit_transform(pk.GridDatabase([volume, turned])) for kernel in kernels]
    assert np.array_equal(found[0], found[1])
    assert all(np.ptp(matrix) == 0 for matrix in found)
    weights = resolve_neighborhood((1, 8), 3)
    circle = pk.graphs.circular_neighborhood(1, 8)
    np.testing.assert_allclose(weights.sum(), circle.sum())
    np.testing.assert_allclose(weights[0, 0], [0, circle[0, 0] / 3, 0])
