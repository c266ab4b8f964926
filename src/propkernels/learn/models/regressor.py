"""PropagationRegressor: graphs and real targets in, a prediction for any new graph out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from propkernels.graphs.check import check_graphs
from propkernels.learn.explain.explanation import Explanation
from propkernels.learn.machines.tasks import Regression
from propkernels.learn.models.base import Learned, PropagationModel
from propkernels.learn.selection.folds import check_numbers, draw_seeds, plain_folds
from propkernels.learn.selection.space import DEFAULT_COSTS
from propkernels.utils.checks import check_integer

Matrix = NDArray[np.float64]


class PropagationRegressor(RegressorMixin, PropagationModel):
    """Predict a number for each graph with a graph kernel, everything chosen by cross-validation.

    The kernel, t_max, normalisation, C and epsilon are chosen by cross-validation on the training graphs, by
    mean squared error, from one pass of propagation for each kernel. Where the kernel is a dot product of
    counts, the SVM is folded into one weight per bin, and a prediction takes time linear in the nodes of
    the new graph.

    The target is standardised inside, so that one grid of C and epsilon serves any unit.

    Parameters
    ----------
    kernel : estimator, list of estimators, or None, default=None
        Any kernel of this library; a list is a choice; None: propagation kernels by what the graphs carry.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own.
    C : float or sequence of float, default=(0.01, 0.1, 1, 10, 100, 1000)
        Candidates for the cost, in units of the kernel's mean diagonal; with solver "gp", the ratio of
        signal to noise variance.
    epsilon : float or sequence of float, default=(0.03, 0.3)
        Candidates for the half-width of the tube without loss, in standard deviations of the target; "gp"
        has none.
    normalize : {"auto", True, False, None}, default="auto"
        Whether kernels are normalised; "auto": tried both ways; None: as the kernel says.
    solver : {"auto", "kernel", "linear", "gp"}, default="auto"
        "kernel": libsvm's SVR on kernel matrices. "linear": liblinear's on sparse features, for many graphs;
        no kernel matrix is formed. "gp": exact Gaussian process, which knows how sure it is. "auto": "kernel"
        up to 20,000 graphs, as long as the matrices of all t_max take at most 8 GiB, else "linear".
    selection : {"auto", "race", "exhaustive"}, default="auto"
        "exhaustive": leave out only candidates that cannot win. "race": also those significantly worse
        than the leader after some folds. "auto": exhaustive up to 1000 graphs.
    n_folds : int, default=5
        Folds of the cross-validation that chooses.
    random_state : int, RandomState or None, default=None
        Seed of hash functions and folds.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    verbose : bool, default=False
        Show a progress bar on a terminal.

    Attributes
    ----------
    kernel_ : estimator
        The chosen kernel with its settings (unfitted if the machine was folded).
    t_max_, normalize_, C_, epsilon_, solver_ : chosen settings
    score_ : float
        R^2 of the choice in cross-validation.
    rule_ : FoldedRule or KernelRule
        Predictions for any graph, without ``intercept_``.
    posterior_ : Posterior or None
        What the Gaussian process is unsure of.

    See Also
    --------
    PropagationClassifier : The same for classes.
    evaluate : Cross-validates this model or a kernel.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 1.
    .. [2] C.-C. Chang and C.-J. Lin (2011). LIBSVM: a library for support vector machines. ACM Transactions
       on Intelligent Systems and Technology 2 (3). doi:10.1145/1961189.1961199.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(80, random_state=0).graphs
    >>> size = np.diff(graphs.graph_ptr)
    >>> model = pk.PropagationRegressor(t_max=[0, 2], random_state=0).fit(graphs[:60], size[:60])
    >>> bool(model.score(graphs[60:], size[60:]) > 0.9)
    True
    >>> model = pk.PropagationRegressor(t_max=0, solver="gp", random_state=0).fit(graphs[:60], size[:60])
    >>> mean, std = model.predict(graphs[60:], return_std=True)
    """

    def __init__(
        self,
        *,
        kernel: Any = None,
        t_max: Any = None,
        C: Any = DEFAULT_COSTS,
        epsilon: Any = (0.03, 0.3),
        normalize: Any = "auto",
        solver: str = "auto",
        selection: str = "auto",
        n_folds: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.t_max = t_max
        self.C = C
        self.epsilon = epsilon
        self.normalize = normalize
        self.solver = solver
        self.selection = selection
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the settings, and learn from all training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : array-like of shape (n,)
            Number to predict for each graph.

        Returns
        -------
        self
        """
        graphs = check_graphs(X)
        target = check_numbers(y, len(graphs))
        seeds = draw_seeds(self.random_state, 1)[0]
        folds = plain_folds(len(target), check_integer(self.n_folds, "n_folds", 2), seeds.inner)
        mean, unit = float(target.mean()), float(target.std()) or 1.0
        learned = self._learn(graphs, (target - mean) / unit, folds, Regression(), seeds, self.epsilon)
        self._keep(_in_units(learned, mean, unit))
        self.epsilon_ = learned.selection.candidate.epsilon
        self.score_ = 1.0 - learned.selection.mean_loss  # the variance of the standardised target is 1
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the number predicted for each graph.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        return_std : bool, default=False
            Also return the predictive standard deviation of each graph's number, noise included; only
            with solver "gp".

        Returns
        -------
        ndarray of shape (m,), or two of them
        """
        graphs = self._checked(X)
        mean = self._decisions(graphs)[:, 0]
        return (mean, np.sqrt(self._variances(graphs)[:, 0])) if return_std else mean

    def explain(self, X: Any) -> Explanation:
        """Say what each node adds to the prediction at each iteration.

        Returns
        -------
        Explanation
            Contributions add up to the prediction minus the intercept, exactly.
        """
        return self._explain(self._checked(X), np.ones(1))


def _in_units(learned: Learned, mean: float, unit: float) -> Learned:
    """Turn predictions of the standardised target into predictions of the target."""
    machine = replace(learned.machine, intercepts=unit * learned.machine.intercepts + mean)
    posterior = learned.posterior
    if posterior is not None:
        posterior = replace(posterior, amplitude=posterior.amplitude * unit**2)
    return replace(learned, rule=learned.rule.scaled(unit), machine=machine, posterior=posterior)
