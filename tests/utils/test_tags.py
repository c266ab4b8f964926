"""Tags of scikit-learn: no estimator of graphs says that its input is a table."""

import pytest

import propkernels as pk
from propkernels import images

GRAPHS = [
    pk.PropagationKernel,
    pk.ShortestPath,
    pk.PropagationFeatures,
    pk.PropagationClassifier,
    pk.PropagationRegressor,
    pk.GraphIndex,
    pk.CategoryPrior,
    pk.LabelImputer,
]


@pytest.mark.parametrize("cls", GRAPHS, ids=lambda cls: cls.__name__)
def test_estimators_of_graphs(cls):
    tags = cls().__sklearn_tags__()
    assert not tags.input_tags.two_d_array
    assert not tags.input_tags.allow_nan
    assert not tags.input_tags.three_d_array


@pytest.mark.parametrize("cls", [images.GrayLevels, images.KMeansColors, images.GrayCooccurrence])
def test_estimators_of_images(cls):
    tags = cls().__sklearn_tags__()
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array
