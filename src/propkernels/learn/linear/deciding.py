"""What a linear model says once it is learned: decisions, predictions, explanations."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from propkernels.graphs.check import check_graphs
from propkernels.kernels.features import CountFeatures
from propkernels.learn.explain.explanation import Explanation
from propkernels.learn.linear.explaining import explain_columns
from propkernels.learn.linear.inputs import canonical_rows
from propkernels.learn.linear.losses import CLASSIFIES, LOSSES
from propkernels.learn.linear.predicting import predict_folder
from propkernels.learn.linear.scores import chosen, probabilities_of, scores_of
from propkernels.scale.opened import FeatureFolder
from propkernels.utils.checks import Documented, shown
from propkernels.utils.stored import SOMETIMES, require

Values = NDArray[np.float64]


def _is_logistic(model: Any) -> bool:
    if model.loss != "logistic":
        raise AttributeError(f'probabilities need loss="logistic", this model has loss={model.loss!r}')
    return True


def _classifies(model: Any) -> bool:
    if model.loss not in CLASSIFIES:
        raise AttributeError(f"decision_function needs classes, this model has loss={model.loss!r}")
    return True


class LinearDecisions(Documented, BaseEstimator):
    """The methods of :class:`LinearModel` that need nothing but its coefficients."""

    loss: str
    coef_: Values
    intercept_: Values
    features_: Any
    n_features_in_: int
    n_iter_: int
    classes_: Annotated[Any, SOMETIMES]  # an array of numbers, texts or objects
    feature_names_in_: Annotated[Any, SOMETIMES]  # an array of texts, of a table with named columns
    gradients_: Annotated[Values, SOMETIMES]  # of a stream
    squares_: Annotated[Values, SOMETIMES]

    @available_if(_classifies)
    def decision_function(self, X: Any) -> Values:
        """Return the distance of each row from the decision, in units of the loss.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns)

        Returns
        -------
        ndarray of shape (n,), or (n, classes) if there are more than two
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> Values:
        """Return the probability of each class; several classes are normalized to sum 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns)

        Returns
        -------
        ndarray of shape (n, classes)
        """
        return probabilities_of(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class, or the number, of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self._scores(X)
        if self.loss not in CLASSIFIES:
            return scores[:, 0]
        return np.asarray(self.classes_[chosen(scores)])

    def predict_parts(self, features: FeatureFolder, out: Any, executor: Any = None) -> Any:
        """Predict the graphs of a folder of features, and write one Parquet file per part.

        The columns are ``graph_id``, ``prediction`` and, where there are classes, the probability or the
        decision of each. Files are complete or not there; running again computes those that are missing.

        Parameters
        ----------
        features : FeatureFolder
            As :func:`open_features` gives it.
        out : str or path
            Folder to write into.
        executor : optional
            As in :func:`featurize`.

        Returns
        -------
        list of Path
            The files, in the order of the parts.
        """
        check_is_fitted(self, "coef_")
        if not isinstance(features, FeatureFolder):
            raise TypeError(f"features must be what open_features gives, got {shown(features)}")
        if features.shape[1] != self.n_features_in_:
            raise ValueError(f"the model has {self.n_features_in_} columns, the features {features.shape[1]}")
        return predict_folder(self, features, out, executor)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2 with ``loss="squared"``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        measure = accuracy_score if self.loss in CLASSIFIES else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def explain(self, graphs: Any, features: Any = None, classes: Any = None) -> Explanation:
        """Say what each node of graphs, at each iteration, adds to the decision.

        Parameters
        ----------
        graphs : GraphDatabase or sequence of graphs
        features : estimator, optional
            The fitted features that the model was learned on; by default ``features_``.
        classes : one class, or None
            With more than two classes: the one whose decision, against the rest, is explained.

        Returns
        -------
        Explanation
            Contributions and intercept add up to the decision, or to the prediction.
        """
        check_is_fitted(self, "coef_")
        database = check_graphs(graphs)
        features = self.features_ if features is None else features
        if features is None:
            raise ValueError(
                "explain needs the features that the model was learned on: explain(graphs, features)"
            )
        machine, sign, speaks_for, against = self._explained(classes)
        own = sign * np.atleast_2d(self.coef_)[machine]
        intercept = sign * float(self.intercept_[machine])
        return explain_columns(features, database, own, intercept, speaks_for, against)

    def _explained(self, classes: Any) -> tuple[int, float, Any, Any]:
        """Which machine is explained, its sign, and the classes that it speaks for and against."""
        if self.loss not in CLASSIFIES:
            if classes is not None:
                raise ValueError("classes are for models of classes, this one predicts numbers")
            return 0, 1.0, None, None
        known = self.classes_.tolist()
        if classes is None and len(known) > 2:
            raise ValueError(f"name the class to explain, one of {known}")
        named = known[1] if classes is None else classes
        if named not in known:
            raise ValueError(f"classes must be one of {known}, got {shown(classes)}")
        if len(known) > 2:
            return known.index(named), 1.0, named, None
        return 0, 1.0 if named == known[1] else -1.0, named, known[1 - known.index(named)]

    def _scores(self, X: Any) -> Values:
        """Decisions of all machines, (n, machines)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return scores_of(canonical_rows(X), np.atleast_2d(self.coef_), self.intercept_)

    def check_parts(self) -> None:
        """Refuse coefficients that are not those of the columns and classes."""
        if not hasattr(self, "coef_"):
            return
        require(self.loss in LOSSES, "the loss is unknown")
        names = getattr(self, "feature_names_in_", None)
        require(names is None or names.shape == (self.n_features_in_,), "every column needs a name")
        require(self.features_ is None or isinstance(self.features_, CountFeatures), "features are unknown")
        shape: tuple[int, ...] = (self.n_features_in_,)
        n_machines = 1
        if self.loss in CLASSIFIES:
            n_classes = len(set(self.classes_.tolist()))
            require(self.classes_.ndim == 1 and 2 <= n_classes == len(self.classes_), "classes are equal")
            n_machines = 1 if n_classes == 2 else n_classes
            shape = (n_machines, *shape)
        require(self.coef_.shape == shape, "every column needs a coefficient")
        require(self.intercept_.shape == (n_machines,), "every decision needs an intercept")
        sums = [getattr(self, name) for name in ("gradients_", "squares_") if hasattr(self, name)]
        fits = all(array.shape == (n_machines, self.n_features_in_ + 1) for array in sums)
        require(fits, "sums of gradients are of other columns")
        finite = np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()
        require(finite, "coefficients are finite")
