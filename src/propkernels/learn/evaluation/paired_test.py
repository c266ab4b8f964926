"""Whether one method is better than another on the same folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PairedTest:
    """Paired t-tests of two methods on the same folds.

    The plain test takes the folds' differences as independent. They are not, since training parts overlap,
    and it finds differences too easily. The corrected resampled t-test (Nadeau and Bengio, 2003) widens their
    variance by the ratio of test to training graphs: prefer it.

    Attributes
    ----------
    difference : float
        Mean over all folds of the first minus the second.
    n_folds : int
        Number of folds of all repeats.
    t, p : float
        Statistic and two-sided probability of the plain test.
    corrected_t, corrected_p : float
        The same of the corrected test.

    See Also
    --------
    Evaluation : ``Evaluation.compare`` returns this.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281. doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> walk = pk.evaluate(pk.PropagationKernel(), data, t_max=2, C=10, n_folds=3, random_state=0)
    >>> labels = pk.evaluate(pk.PropagationKernel(), data, t_max=0, C=10, n_folds=3, random_state=0)
    >>> walk.compare(labels).n_folds
    3
    """

    difference: float
    n_folds: int
    t: float
    p: float
    corrected_t: float
    corrected_p: float


def paired_test(first: NDArray[np.float64], second: NDArray[np.float64], test_ratio: float) -> PairedTest:
    """Compare values of the same folds.

    Parameters
    ----------
    first, second : ndarray
        Value of each fold.
    test_ratio : float
        Number of test graphs for each training graph.

    Examples
    --------
    >>> paired_test(np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.9, 0.6]), 0.5).p.__round__(3)
    0.184
    """
    gaps = (np.asarray(first) - np.asarray(second)).ravel()
    n, mean = len(gaps), float(gaps.mean())
    variance = float(gaps.var(ddof=1)) if n > 1 else float("nan")
    plain, corrected = (_statistic(mean, variance * share) for share in (1 / n, 1 / n + test_ratio))
    return PairedTest(mean, n, plain, _two_sided(plain, n - 1), corrected, _two_sided(corrected, n - 1))


def _statistic(mean: float, variance: float) -> float:
    if variance == 0:
        return 0.0 if mean == 0 else float(np.copysign(np.inf, mean))
    return mean / float(np.sqrt(variance))


def _two_sided(t: float, degrees: int) -> float:
    from scipy.stats import t as student

    return float(2 * student.sf(abs(t), degrees)) if degrees else float("nan")
