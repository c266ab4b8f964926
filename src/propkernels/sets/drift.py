"""DriftDetector: windows of graphs against a reference, with a bound on false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice, check_fraction, check_integer
from propkernels._utils.randomness import draw_seed
from propkernels._utils.stored import require
from propkernels._utils.typing import Estimator, Seed
from propkernels.convert.check import check_graphs
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.sets.comparing import Comparison, Witness, compare_samples, counting_kernel, joined

GUARANTEES = ("stream", "window")


@dataclass(frozen=True, eq=False, repr=False)
class Window:
    """Result of a :class:`propkernels.DriftDetector` for one window of graphs.

    Attributes
    ----------
    number : int
        0 for the first window after ``fit``.
    alarm : bool
        Whether the window raises an alarm.
    p_value : float
        Probability of a difference this large if nothing changed.
    evidence : float
        Evidence of change in the windows since the last alarm, this one included; an alarm at 1 / alpha with
        ``guarantee="stream"``.
    comparison : Comparison
        Of the reference (A) with the window (B).
    """

    number: int
    alarm: bool
    p_value: float
    evidence: float
    comparison: Comparison

    @property
    def statistic(self) -> float:
        """Unbiased MMD^2 of the reference and the window."""
        return self.comparison.statistic

    @property
    def witness(self) -> Witness:
        """The surroundings in which the window (B) differs from the reference (A)."""
        return self.comparison.witness

    def __repr__(self) -> str:
        return f"Window(number={self.number}, alarm={self.alarm}, p_value={self.p_value:.4g})"

    def __str__(self) -> str:
        state = "alarm" if self.alarm else "no alarm"
        return f"window {self.number}: {state}, p = {self.p_value:.4g}\n{self.comparison}"


class DriftDetector(GraphInput, BaseEstimator):
    """Detector of change: windows of graphs, one after the other, against a reference.

    Each window is compared with the reference as by :func:`propkernels.compare`: an exact p-value, and the
    surroundings that have become more or less frequent.

    The rate of false alarms is guaranteed, for graphs that are exchangeable as long as nothing changes and
    windows whose sizes do not depend on their graphs:

    - ``guarantee="stream"``: the probability of a false alarm, in a stream of any length, is at most
      ``alpha``. A window without alarm joins the reference, so that the p-values of successive windows are
      independent, as ranks of successive observations are. The evidence of a window is the integral of
      e p^(e - 1) over e from 0 to 1, whose expectation is 1 at most [2]_. The evidence of a change at window
      j is the product over windows from j on; the mean over all j, with weights 1 / (j (j + 1)), is a test
      martingale, which reaches 1 / alpha with probability alpha at most (Ville's inequality) [1]_. After an
      alarm, windows are counted from 1 again.
    - ``guarantee="window"``: each window raises a false alarm with probability ``alpha`` at most. The
      reference does not change.

    Parameters
    ----------
    alpha : float, default=0.05
        Largest probability of a false alarm, below 1.
    guarantee : {"stream", "window"}, default="stream"
        Probability that ``alpha`` bounds: of any false alarm in the stream, or of one per window.
    kernel : estimator or None, default=None
        As in :func:`propkernels.compare`.
    n_permutations : int, default=999
        Number of random exchanges per window; the least p-value is 1 / (n_permutations + 1).
    random_state : int, RandomState or None, default=0
        Seed of the permutations and of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    reference_ : GraphDatabase
        The graphs with which the next window is compared.
    p_values_ : ndarray, (windows,)
        P-value of each window since ``fit``.
    alarms_ : ndarray of bool, (windows,)
        Whether each window raised an alarm.
    evidence_ : float
        Evidence of change in the windows since the last alarm; 1 if there are none.

    See Also
    --------
    compare : Test of two collections.
    NoveltyDetector : Single graphs unlike a collection.

    References
    ----------
    .. [1] V. Vovk (2021). Testing randomness online. Statistical Science 36 (4), 595-611.
    .. [2] V. Vovk and R. Wang (2021). E-values: calibration, combination and applications. Annals of
       Statistics 49 (3), 1736-1754. Section 2.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(150, random_state=0).graphs
    >>> detector = pk.DriftDetector(kernel=pk.WeisfeilerLehman(t_max=2), n_permutations=4999)
    >>> detector = detector.fit(graphs[:100])
    >>> detector.update(graphs[100:125]).alarm
    False
    >>> larger = pk.datasets.make_molecules(25, mean_nodes=40, random_state=1).graphs
    >>> window = detector.update(larger)
    >>> window.alarm, window.witness[0].more_in
    (True, 'B')
    """

    reference_: GraphDatabase
    p_values_: NDArray[np.float64]
    alarms_: NDArray[np.bool_]
    evidence_: float
    _seed_: int
    _begun_: float  # evidence of changes at the windows since the last alarm
    _n_since_: int  # number of these windows

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        guarantee: Literal["stream", "window"] = "stream",
        kernel: Estimator | None = None,
        n_permutations: int = 999,
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.guarantee = guarantee
        self.kernel = kernel
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Graphs, y: object = None) -> Self:
        """Take graphs as the reference, and forget all windows.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            Two graphs or more; see :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        check_fraction(self.alpha, "alpha")
        check_choice(self.guarantee, GUARANTEES, "guarantee")
        check_integer(self.n_permutations, "n_permutations", 1)
        graphs, seed = check_graphs(X), draw_seed(self.random_state)
        if len(graphs) < 2:
            raise ValueError(f"the reference needs two graphs or more, got {len(graphs)}")
        counting_kernel(self.kernel, seed)
        self.reference_, self._seed_ = graphs, seed
        self._forget_evidence()
        self.p_values_, self.alarms_ = np.empty(0), np.empty(0, dtype=bool)
        return self

    def update(self, X: Graphs) -> Window:
        """Test the next window of graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            One graph or more.

        Returns
        -------
        Window
            With attributes ``alarm``, ``p_value``, ``statistic`` and ``witness``.
        """
        check_is_fitted(self, "reference_")
        graphs, number = check_graphs(X), len(self.p_values_)
        kernel = counting_kernel(self.kernel, self._seed_)
        seed = int(
            np.random.SeedSequence([self._seed_, number]).generate_state(1, np.uint64)[0] >> np.uint64(1)
        )
        found = compare_samples(self.reference_, graphs, kernel, self.n_permutations, seed, self.n_jobs)
        self._add_evidence(found.p_value)
        evidence = self.evidence_
        is_stream = self.guarantee == "stream"
        alarm = bool(evidence * self.alpha >= 1 if is_stream else found.p_value <= self.alpha)
        if alarm:
            self._forget_evidence()
        self.p_values_, self.alarms_ = (
            np.append(self.p_values_, found.p_value),
            np.append(self.alarms_, alarm),
        )
        if is_stream and not alarm:
            self.reference_ = joined([self.reference_, graphs])
        return Window(number, alarm, found.p_value, evidence, found)

    def _check_parts(self) -> None:
        """Refuse another number of alarms than of p-values, and evidence that no windows give."""
        if hasattr(self, "reference_"):
            require(self.p_values_.shape == self.alarms_.shape, "every window needs a p-value")
            possible = (self.p_values_ > 0) & (self.p_values_ <= 1)
            require(bool(possible.all()), "p-values are above 0 and at most 1")
            require(len(self.reference_) >= 2, "the reference needs two graphs")
            require(0 <= self._begun_ < math.inf and 0 < self.evidence_ < math.inf, "evidence is positive")
            require(0 <= self._n_since_ <= len(self.p_values_), "evidence is of the windows so far")
            require(0 <= self._seed_ < 2**64, "the seed is out of range")

    def _forget_evidence(self) -> None:
        self.evidence_, self._begun_, self._n_since_ = 1.0, 0.0, 0

    def _add_evidence(self, p_value: float) -> None:
        """Multiply the evidence of changes at earlier windows, and begin that of a change at this one."""
        self._n_since_ += 1
        j = self._n_since_
        self._begun_ = (self._begun_ + 1 / (j * (j + 1))) * evidence_of(p_value)
        self.evidence_ = self._begun_ + 1 / (j + 1)  # the weights of changes at later windows add up to this


def evidence_of(p_value: float) -> float:
    """Return the integral of e p^(e - 1) over e from 0 to 1: (1 - p + p log p) / (p log(p)^2).

    Its expectation is 1 for p uniform between 0 and 1.

    Examples
    --------
    >>> evidence_of(1.0), round(evidence_of(0.001), 1)
    (0.5, 20.8)
    """
    if p_value > 1 - 1e-4:  # the first terms of the series: the formula is 0 / 0 at 1
        return 0.5 + (1 - p_value) / 6
    log = math.log(p_value)
    return (1 - p_value + p_value * log) / (p_value * log * log)
