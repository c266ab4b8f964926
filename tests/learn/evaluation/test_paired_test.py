"""Paired t-tests on folds."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel

from propkernels.learn.evaluation.paired_test import paired_test

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(0.8, 0.05, 30), RNG.normal(0.78, 0.05, 30)


def test_plain_test_is_scipys():
    reference = ttest_rel(FIRST, SECOND)
    computed = paired_test(FIRST, SECOND, 1 / 9)
    assert (computed.t, computed.p) == pytest.approx((reference.statistic, reference.pvalue))
    assert computed.difference == pytest.approx(np.mean(FIRST - SECOND))
    assert computed.n_folds == 30


def test_corrected_test_widens_the_variance():
    gaps = FIRST - SECOND
    reference = gaps.mean() / np.sqrt((1 / 30 + 1 / 9) * gaps.var(ddof=1))
    computed = paired_test(FIRST, SECOND, 1 / 9)
    assert computed.corrected_t == pytest.approx(reference)
    assert computed.corrected_p == pytest.approx(2 * student.sf(abs(reference), 29))
    assert computed.corrected_p > computed.p


def test_equal_values_are_no_evidence_and_a_constant_gap_is_all():
    assert paired_test(FIRST, FIRST, 0.1).p == paired_test(FIRST, FIRST, 0.1).corrected_p == 1.0
    ones, zeros = np.ones(5), np.zeros(5)
    assert paired_test(ones, zeros, 0.1).p == 0.0
    assert paired_test(zeros, ones, 0.1).t == -np.inf
