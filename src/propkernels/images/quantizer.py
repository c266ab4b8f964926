"""What the transformers from images to grids share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from propkernels.graphs.grids.database import GridDatabase
from propkernels.images.pictures import Picture, check_outside, check_pictures, find_inside
from propkernels.utils.tags import ImageInput

Mask = NDArray[np.bool_] | None


class Quantizer(ImageInput, TransformerMixin, BaseEstimator, ABC):
    """Images in, a GridDatabase out: subclasses say what is learned, and which label a pixel gets."""

    outside: str | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training images what labels stand for.

        Parameters
        ----------
        X : list of arrays
            Images (h, w) or (h, w, 3): integers up to the largest of their type, or floats from 0 to 1.
        y : ignored
        """
        check_outside(self.outside)
        pictures = check_pictures(X)
        self._learn(pictures, [find_inside(picture, self.outside) for picture in pictures])
        return self

    def transform(self, X: Any) -> GridDatabase:
        """Label the pixels of images.

        Returns
        -------
        GridDatabase
            With masks where ``outside`` says that some pixels do not belong to their images.
        """
        check_is_fitted(self, "n_labels_")
        pictures = check_pictures(X)
        masks = [find_inside(picture, self.outside) for picture in pictures]
        labels = [self._label(picture, mask) for picture, mask in zip(pictures, masks, strict=True)]
        return GridDatabase(labels, None if self.outside is None else masks)

    @abstractmethod
    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        """Check the parameters; set ``n_labels_`` and what else labels need."""

    @abstractmethod
    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        """Labels 0 .. n_labels_ - 1 of all pixels; those outside the mask may be anything from 0 on."""
