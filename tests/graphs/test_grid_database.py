"""GridDatabase: images, masks, distributions, list behavior, text and pictures."""

import pickle

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs.drawing import gray_labels, thumbnail


def random_images(seed=0, shapes=((4, 5), (3, 3), (1, 6), (7, 2))):
    generator = np.random.default_rng(seed)
    return [generator.integers(0, 3, shape) for shape in shapes]


def random_masks(images, seed=1):
    generator = np.random.default_rng(seed)
    masks = [generator.random(image.shape) < 0.7 for image in images]
    for mask in masks:
        mask.flat[0] = True
    return masks


def masked_database():
    images = random_images()
    return pk.GridDatabase(images, random_masks(images))


def test_what_it_holds():
    images = random_images()
    grids = pk.GridDatabase(images)
    assert len(grids) == 4
    assert grids.shape == (4,)
    assert grids.n_nodes == 49
    assert grids.dimension == 2
    assert grids.graph_sizes.tolist() == [20, 9, 6, 14]
    assert grids.graph_ids.tolist() == [i for i, size in enumerate([20, 9, 6, 14]) for _ in range(size)]
    assert sorted(grids.label_values) == [0, 1, 2]
    np.testing.assert_array_equal(grids.node_labels, np.concatenate([image.ravel() for image in images]))
    for image, grid in zip(images, grids, strict=True):
        np.testing.assert_array_equal(grid.image, image)
        assert grid.shape == image.shape
        assert grid.mask is None


def test_masks():
    images = random_images()
    masks = random_masks(images)
    grids = pk.GridDatabase(images, masks)
    assert grids.n_nodes == sum(mask.sum() for mask in masks)
    for image, mask, grid in zip(images, masks, grids, strict=True):
        np.testing.assert_array_equal(grid.mask, mask)
        np.testing.assert_array_equal(grid.image, np.where(mask, image, -1))
        np.testing.assert_array_equal(grid.node_labels, image[mask])
    some, plain = pk.GridDatabase(images, [masks[0], None, None, None]), pk.GridDatabase(images)
    assert some[1].mask is None
    assert some[1:].inside is None
    assert pk.GridDatabase(images, [np.ones(i.shape, dtype=bool) for i in images]) == plain
    both = pk.GridDatabase.concat([plain, grids])
    assert both[:4] == plain
    assert both[4:] == grids


def test_distributions():
    generator = np.random.default_rng(0)
    image = generator.dirichlet(np.ones(3), (4, 5))
    image[1, 2] = np.nan
    grids = pk.GridDatabase([image, generator.integers(0, 3, (2, 2))])
    assert grids.dimension == 2
    assert grids.shapes.tolist() == [[4, 5], [2, 2]]
    np.testing.assert_allclose(grids[0].image, image)
    assert "20 unobserved" in repr(grids)
    assert pk.GridDatabase([np.zeros((2, 3, 2), dtype=int)]).dimension == 3  # whole numbers are labels


def test_unobserved_pixels():
    masked = np.ma.array([[0, 1], [2, 1]], mask=[[False, True], [False, False]])
    grids = pk.GridDatabase([masked, np.array([[0, -1], [2, 1]])])
    assert grids[0] == grids[1]
    assert grids.node_labels.tolist() == [0, -1, 2, 1, 0, -1, 2, 1]
    outside = pk.GridDatabase([np.array([[0, -7]])], [np.array([[True, False]])])
    assert outside.node_labels.tolist() == [0]  # labels outside the mask do not matter
    for kind in (bool, np.uint8, np.int16, np.uint64):
        image = np.array([[0, 1], [1, 0]]).astype(kind)
        assert pk.GridDatabase(np.stack([image] * 3)) == pk.GridDatabase([image.tolist()] * 3)


@pytest.mark.parametrize("make", [lambda: pk.GridDatabase(random_images()), masked_database])
def test_a_list(make):
    grids = make()
    for key in (slice(1, 3), [2, 0], np.array([True, False, False, True]), [3, 3], slice(0, 0), [-1]):
        chosen = grids[key]
        reference = [grids[i] for i in np.arange(4)[key]]
        assert len(chosen) == len(reference)
        assert all(a == b for a, b in zip(chosen, reference, strict=True))
    assert grids.take([1, 2]) == grids[1:3]
    assert grids.iloc[[1]] == grids.loc[[1]] == grids[[1]]
    assert pk.GridDatabase.concat([grids[:2], grids[2], grids[3:]]) == grids
    assert pk.GridDatabase.concat([grids[:0], grids]) == grids
    assert pk.check_graphs(list(grids)) == grids
    assert pk.check_graphs(grids) is grids
    assert pickle.loads(pickle.dumps(grids)) == grids
    for other in (grids.with_labels(np.zeros(grids.n_nodes, dtype=int)), grids[::-1], "grids"):
        assert grids != other
    assert grids[0] != grids[1]


def test_text_and_html():
    grids = masked_database()
    assert repr(grids) == "GridDatabase(4 images of 1-7 x 2-6, 37 pixels, 3 labels, 12 masked out)"
    assert repr(grids[1]).startswith("Grid(3 x 3, ")
    html = grids._repr_html_()
    assert html.count("<img") == 4
    assert "4 images of 1-7 x 2-6" in html
    many = pk.GridDatabase([np.zeros((2, 2, 2), dtype=int)] * 7)
    assert "2 more images" in many._repr_html_()
    assert repr(many[:0]) == "GridDatabase(0 images, 0 pixels, 0 labels)"
    assert "<img" not in pk.GridDatabase([np.zeros(3, dtype=int)])._repr_html_()
    assert 'alt="image 0"' in grids[0]._repr_html_()


def test_labels_are_gray_and_values_are_squares():
    """One way to draw an image in reprs and plots: larger labels are brighter, values lie on the pixels."""
    gray = gray_labels(masked_database()[0])
    assert len(np.unique(gray)) == 4  # three labels, and white outside the mask
    image, labels = np.array([[[0.1, 0.9], [0.8, 0.2]]]), np.array([[1, 0]])
    pictures = [gray_labels(pk.GridDatabase([one, labels])[0]) for one in (image, labels)]
    np.testing.assert_array_equal(*pictures)
    grids = pk.GridDatabase([np.array([[0, 1], [1, 0]])])
    drawing = thumbnail(grids, 0, np.array([0.0, 1.0, -0.5, 0.01]))
    assert drawing.count("<rect") == 4 + 2
    assert drawing.count("var(--for") == drawing.count("var(--against") == 1
