"""LinearModel: a linear model on rows of features, in memory, in files, or from a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from propkernels._utils.checks import Documented, check_choice, check_integer, check_positive, shown
from propkernels._utils.stored import SOMETIMES, require
from propkernels._utils.typing import Array, ClassWeight, Column, Estimator, PathLike, Target
from propkernels.convert.check import check_graphs
from propkernels.explain.explanation import Explanation
from propkernels.graphs.accepted import Graphs
from propkernels.kernels.count_features import CountFeatures
from propkernels.models.exact_sums import CLASSIFIES, LOSSES, Problem, learn_rows
from propkernels.models.predicting import class_numbers, predict_folder, probabilities_of, scores_of
from propkernels.models.rows import (
    ArrayRows,
    PartRows,
    Rows,
    Settings,
    at_least_two_classes,
    canonical_rows,
    check_targets,
    class_weighted,
    of_all_rows,
    stream_classes,
    target_unit,
)
from propkernels.models.targets import Known
from propkernels.scale.executors import ExecutorLike
from propkernels.scale.opened import FeatureFolder

Values = NDArray[np.float64]
SMALLEST = 1e-150  # unit of targets, and of rows, that are all 0
RATE = 1.0  # step size on a stream, in units of coefficients


def _is_logistic(model: Any) -> bool:
    if model.loss != "logistic":
        raise AttributeError(f'probabilities need loss="logistic", this model has loss={model.loss!r}')
    return True


def _classifies(model: Any) -> bool:
    if model.loss not in CLASSIFIES:
        raise AttributeError(f"decision_function needs classes, this model has loss={model.loss!r}")
    return True


class LinearModel(Documented, BaseEstimator):
    """Linear classification or regression with a ridge penalty, on any number of rows.

    The coefficients w and the intercept b minimize ``C * (sum of losses) + |w|^2 / 2``. Losses and gradients
    are summed exactly (each in two numbers, without rounding): the model is identical to the bit for rows in
    memory and in files, for any partition and order of the rows, and for any number of threads, processes or
    cluster workers.

    Parameters
    ----------
    loss : {"logistic", "squared_hinge", "squared"}, default="logistic"
        Logistic regression, linear SVM with squared hinge loss, or ridge regression (numbers instead of
        classes).
    C : float, default=1.0
        Weight of the losses against the penalty: large values penalize less.
    fit_intercept : bool, default=True
        Whether to learn b, which is not penalized.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    tol : float, default=1e-6
        Largest entry of the gradient of the mean objective at which training stops; with ``loss="squared"``
        for a target scaled to a range of about 1, so that its unit does not matter.
    max_iter : int, default=1000
        Largest number of iterations of L-BFGS.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores.

    Attributes
    ----------
    coef_ : ndarray of shape (1, columns), (classes, columns) if there are more than two, or (columns,)
        The last for ``loss="squared"``. More than two classes are learned one-vs-rest.
    intercept_ : ndarray of shape (1,) or (classes,)
    classes_ : ndarray
        The classes; absent for ``loss="squared"``.
    n_iter_ : int
        Largest number of iterations of L-BFGS over the classes.
    features_ : estimator or None
        Estimator of the features, if the model was trained on a folder that describes it.

    See Also
    --------
    featurize : Features of any number of graphs, in a folder.
    PropagationClassifier : Chooses kernel and parameters as well; with ``solver="linear"`` for many graphs.

    References
    ----------
    .. [1] D. C. Liu and J. Nocedal (1989). On the limited memory BFGS method for large scale optimization.
       Mathematical Programming 45, 503-528. doi:10.1007/BF01589116.
    .. [2] J. Demmel and H. D. Nguyen (2015). Parallel reproducible summation. IEEE Transactions on Computers
       64 (7), 2060-2070. doi:10.1109/TC.2014.2345391.
    .. [3] J. Duchi, E. Hazan and Y. Singer (2011). Adaptive subgradient methods for online learning and
       stochastic optimization. Journal of Machine Learning Research 12, 2121-2159. Equation 3, for
       ``partial_fit``.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(200, random_state=0)
    >>> features = pk.PropagationFeatures(n_features=2**12, t_max=3, normalize=True, random_state=0)
    >>> model = pk.LinearModel(C=10).fit(features.fit_transform(data.graphs), data.target)
    >>> model.coef_.shape, model.score(features.transform(data.graphs), data.target) > 0.9
    ((1, 4096), True)
    """

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    features_: Any
    n_features_in_: int
    n_iter_: int
    classes_: Annotated[Any, SOMETIMES]  # an array of numbers, texts or objects
    feature_names_in_: Annotated[Any, SOMETIMES]  # an array of texts, of a table with named columns
    _gradients: Annotated[NDArray[np.float64], SOMETIMES]  # of a stream
    _squares: Annotated[NDArray[np.float64], SOMETIMES]
    _units: Annotated[NDArray[np.float64], SOMETIMES]

    def __init__(
        self,
        *,
        loss: str = "logistic",
        C: float = 1.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Rows, y: Target | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows of features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns), or FeatureFolder
            A folder from :func:`open_features` is passed to :meth:`fit_parts`.
        y : array-like of shape (n,)
            Classes, or numbers with ``loss="squared"``.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        if isinstance(X, FeatureFolder):
            return self.fit_parts(X, y, sample_weight=sample_weight)
        settings = self._settings()
        features, y = self._checked(X, y, reset=True)
        weights = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
        self._learn(ArrayRows(features, self.n_jobs), y, weights, settings)
        self.features_: Any = None
        return self

    def fit_parts(
        self,
        features: FeatureFolder,
        y: Target | None = None,
        executor: ExecutorLike = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train on features in files; the model equals that of :meth:`fit` on all rows in memory.

        Each pass sends the coefficients to the workers, which return sums. Workers keep parts in memory
        between passes if there is room.

        Parameters
        ----------
        features : FeatureFolder
            A folder from :func:`open_features`.
        y : array-like of shape (n,), optional
            One value per graph, in the order of the parts; by default the target in the files. Graphs with a
            missing target (None or NaN) are dropped, with a warning that gives their number.
        executor : optional
            As in :func:`featurize`: None (threads), a number of processes, an executor, a Dask client.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        if not isinstance(features, FeatureFolder):
            raise TypeError(f"features must be a folder from open_features, got {shown(features)}")
        settings = self._settings()
        known = check_targets(features.target if y is None else y, len(features), self.loss)
        weights = np.ones(len(features)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        if weights.shape != (len(features),) or not (weights >= 0).all() or not np.isfinite(weights).all():
            raise ValueError(f"sample_weight must be {len(features)} numbers that are not negative")
        known.warn()
        with PartRows.opened(features, executor, self.n_jobs) as rows:
            self._learn(rows, known.target, weights[known.places], settings, known)
        self.n_features_in_ = features.shape[1]
        self._forget("feature_names_in_")
        self.features_ = None if "fitted" in features.parameters else features.estimator()
        return self

    def partial_fit(
        self, X: Rows, y: Target, classes: Column | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on the next rows of a stream, each used once.

        Dual averaging with one step size per column (AdaGrad). The result depends on the order of rows, but
        not on their partition into calls. With ``loss="squared"``, steps are in units of the largest absolute
        target and the longest row so far: predictions are proportional to the unit of the target. The first
        call starts from scratch, also after :meth:`fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns)
        y : array-like of shape (n,)
        classes : array-like, optional
            All classes of the stream; required in the first call, unless :meth:`fit` was called before.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        settings = self._settings()
        is_first = not hasattr(self, "_gradients")
        features, y = self._checked(X, y, reset=is_first)
        weights = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
        if self.loss in CLASSIFIES:
            if isinstance(self.class_weight, str):
                raise ValueError(
                    'class_weight="balanced" needs all rows at once: give a weight for each class'
                )
            previous = None if is_first and classes is not None else vars(self).get("classes_")
            self.classes_ = stream_classes(y, classes, previous)
            weights = class_weighted(y, self.classes_, weights, self.class_weight)
        targets = self._targets(y)
        if is_first:
            self._gradients = np.zeros((len(targets), features.shape[1] + 1))
            self._squares = np.zeros_like(self._gradients)
            self._units = np.full((len(targets), 2), 1.0 if self.loss in CLASSIFIES else SMALLEST)
        self._learn_stream(features, targets, weights, settings)
        self.n_iter_, self.features_ = 1, None
        return self

    @available_if(_classifies)
    def decision_function(self, X: Rows) -> Values:
        """Return the decision value of each row.

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
    def predict_proba(self, X: Rows) -> Values:
        """Return class probabilities; those of more than two classes are normalized to sum 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, columns)

        Returns
        -------
        ndarray of shape (n, classes)
        """
        return probabilities_of(self._scores(X))

    def predict(self, X: Rows) -> Array:
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
        return np.asarray(self.classes_[class_numbers(scores)])

    def predict_parts(
        self, features: FeatureFolder, out: PathLike, executor: ExecutorLike = None
    ) -> list[Path]:
        """Predict the graphs of a feature folder, and write one Parquet file per part.

        Columns are ``graph_id``, ``prediction`` and, for classifiers, the probability or the decision of each
        class. Files are written atomically; running again computes the missing ones.

        Parameters
        ----------
        features : FeatureFolder
            A folder from :func:`open_features`.
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
            raise TypeError(f"features must be a folder from open_features, got {shown(features)}")
        if features.shape[1] != self.n_features_in_:
            raise ValueError(f"the model has {self.n_features_in_} columns, the features {features.shape[1]}")
        return predict_folder(self, features, out, executor)

    def score(self, X: Rows, y: Target, sample_weight: ArrayLike | None = None) -> float:
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

    def explain(
        self, graphs: Graphs, features: Estimator | None = None, classes: object = None
    ) -> Explanation:
        """Return the contribution of each node at each iteration to the decision.

        Parameters
        ----------
        graphs : GraphDatabase or sequence of graphs
        features : estimator, optional
            The fitted features of the training rows; by default ``features_``.
        classes : one class, or None
            The class to explain against the rest; required with more than two classes.

        Returns
        -------
        Explanation
            Contributions and intercept add up to the decision, or to the prediction.
        """
        check_is_fitted(self, "coef_")
        database = check_graphs(graphs)
        known: Any = self.features_ if features is None else features
        if known is None:
            raise ValueError("explain needs the features of the training rows: explain(graphs, features)")
        if not isinstance(known, CountFeatures):
            raise TypeError(f"features must be like PropagationFeatures, got {shown(known)}")
        if known.n_features is not None and not hasattr(known, "_stream_codes"):
            known = clone(known).fit(database)  # hashed features learn nothing from graphs
        machine, sign, speaks_for, against = self._explained(classes)
        contributions = known.contributions(database, sign * np.atleast_2d(self.coef_)[machine])
        intercept = sign * float(self.intercept_[machine])
        return Explanation(contributions, database.graph_ptr, intercept, database, speaks_for, against)

    def _explained(self, classes: Any) -> tuple[int, float, Any, Any]:
        """Return the row of coefficients to explain, its sign, and the classes it favors and opposes."""
        if self.loss not in CLASSIFIES:
            if classes is not None:
                raise ValueError("classes needs a classifier, this model predicts numbers")
            return 0, 1.0, None, None
        known = self.classes_.tolist()
        if classes is None and len(known) > 2:
            raise ValueError(f"classes must name the class to explain, one of {known}")
        named = known[1] if classes is None else classes
        if named not in known:
            raise ValueError(f"classes must be one of {known}, got {shown(classes)}")
        if len(known) > 2:
            return known.index(named), 1.0, named, None
        return 0, 1.0 if named == known[1] else -1.0, named, known[1 - known.index(named)]

    def _scores(self, X: Any) -> Values:
        """Return the decisions, (n, decisions)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return scores_of(canonical_rows(X), np.atleast_2d(self.coef_), self.intercept_)

    # training

    def _learn_stream(
        self, features: csr_array, targets: list[Values], weights: Values, settings: Settings
    ) -> None:
        """Learn each row once, and store the coefficients given by sums of gradients and squares."""
        shape = (len(targets), features.shape[1] + 1)
        if not self._gradients.shape == self._squares.shape == shape:  # compiled loops rely on it
            raise ValueError(
                f"the stream started with {self._gradients.shape[1] - 1} columns, or other classes"
            )
        rows = (features.indptr, features.indices, features.data)
        how = (LOSSES[self.loss], settings.fit_intercept, 1 / settings.cost, RATE)
        if not hasattr(self, "_units"):  # a stream that an earlier version saved
            self._units = np.ones((len(targets), 2))
        sums = zip(targets, self._gradients, self._squares, self._units, strict=True)
        for target, gradients, squares, units in sums:
            learn_rows(*rows, target, weights, *how, gradients, squares, units)
        ridge, steps = np.full(shape[1], 1 / settings.cost), np.repeat(RATE * self._units[:, :1], shape[1], 1)
        ridge[-1] = 0.0
        steps[:, :-1] /= self._units[:, 1:]
        scale = ridge + np.sqrt(self._squares) / steps
        self._keep(-np.divide(self._gradients, scale, out=np.zeros(shape), where=self._squares > 0))

    def _learn(
        self, rows: Rows, y: NDArray[Any], weights: Values, settings: Settings, known: Known | None = None
    ) -> None:
        """Learn one row of coefficients, or one per class; ``known`` are the rows with a target."""
        unit = 1.0
        if self.loss in CLASSIFIES:
            self.classes_ = at_least_two_classes(y)
            weights = class_weighted(y, self.classes_, weights, self.class_weight)
        else:
            self._forget("classes_")
            unit = target_unit(y, settings.fit_intercept)
        learned = []
        for number, targets in enumerate(self._targets(y)):
            text = f"Learning class {number + 1}" if number else "Learning"
            problem = Problem(LOSSES[self.loss], *of_all_rows(targets / unit, weights, known))
            learned.append(rows.minimize(problem, settings, text))
        self._forget("_gradients", "_squares", "_units")  # a later stream starts from scratch
        self._keep(unit * np.stack([coefficients for coefficients, _ in learned]))
        self.n_iter_ = max(n_iterations for _, n_iterations in learned)

    def _targets(self, y: NDArray[Any]) -> list[Values]:
        """Return y, or -1 and 1 for each class against the rest."""
        if self.loss not in CLASSIFIES:
            return [np.asarray(y, dtype=np.float64)]
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [np.where(y == name, 1.0, -1.0) for name in positive]

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def _keep(self, coefficients: Values) -> None:
        weights = np.ascontiguousarray(coefficients[:, :-1])
        self.coef_ = weights if self.loss in CLASSIFIES else weights[0]
        self.intercept_ = coefficients[:, -1].copy()

    # checks

    def _settings(self) -> Settings:
        check_choice(self.loss, tuple(LOSSES), "loss")
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise TypeError(f"fit_intercept must be True or False, got {shown(self.fit_intercept)}")
        if self.class_weight is not None and self.loss not in CLASSIFIES:
            raise ValueError('class_weight needs a classifier, this model has loss="squared"')
        cost, tolerance = check_positive(self.C, "C"), check_positive(self.tol, "tol")
        return Settings(
            cost, bool(self.fit_intercept), tolerance, check_integer(self.max_iter, "max_iter", 1)
        )

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[csr_array, NDArray[Any]]:
        numeric = self.loss not in CLASSIFIES
        options = {"accept_sparse": "csr", "dtype": np.float64, "y_numeric": numeric}
        X, y = validate_data(self, X, y, reset=reset, **options)
        if not numeric:
            check_classification_targets(y)
        return canonical_rows(X), np.asarray(y)

    def _check_parts(self) -> None:
        """Refuse coefficients that do not match columns and classes."""
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
        sums = [getattr(self, name) for name in ("_gradients", "_squares") if hasattr(self, name)]
        fits = all(array.shape == (n_machines, self.n_features_in_ + 1) for array in sums)
        require(fits, "sums of gradients are of other columns")
        units = getattr(self, "_units", np.ones((n_machines, 2)))
        require(units.shape == (n_machines, 2) and bool((units >= SMALLEST).all()), "units are positive")
        finite = np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()
        require(finite, "coefficients are finite")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        if self.loss in CLASSIFIES:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
