"""A folder of features that tests of linear models share."""

import pytest
from sklearn.base import clone

import propkernels as pk
from tests.models.feature_rows import FEATURES, molecules


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, data = tmp_path_factory.mktemp("features"), molecules()
    data.graphs.to_parquet(place / "graphs.parquet", target=data.target, row_group_size=20)
    plan = pk.partition(place / "graphs.parquet", nodes_per_part=150)
    opened = pk.featurize(plan, clone(FEATURES), place / "features")
    assert opened.n_parts >= 4
    return opened
