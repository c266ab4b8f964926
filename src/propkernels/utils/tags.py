"""scikit-learn's tags of estimators whose input is graphs or images."""

from __future__ import annotations

from typing import Any


class GraphInput:
    """Mixin of estimators that take graphs: their X is not a table, and holds no NaN.

    List it before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        return tags


class ImageInput(GraphInput):
    """Mixin of estimators that take images, one array of two or three dimensions each."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
