"""The C-SVM on slices of a kernel."""

import numpy as np
from sklearn.svm import SVC

from reproduction.protocols.svm import count_correct, is_unbounded

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def make_problem(n_classes=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    target = np.arange(60) % n_classes
    features = rng.normal(size=(60, 5)) * noise + 3 * np.eye(5)[target]
    return features @ features.T * 40, target


def exhaustive(kernel, target, train, test, costs):
    """Every machine by itself."""
    scale = kernel[train, train].mean()
    known, unknown = kernel[np.ix_(train, train)] / scale, kernel[np.ix_(test, train)] / scale
    machines = [SVC(kernel="precomputed", C=cost).fit(known, target[train]) for cost in costs]
    return [int((machine.predict(unknown) == target[test]).sum()) for machine in machines]


def test_equals_every_machine_by_itself():
    train, test = np.arange(40), np.arange(40, 60)
    for n_classes, noise, seed in [(2, 1.0, 0), (2, 3.0, 1), (4, 1.0, 2), (4, 0.2, 3)]:
        kernel, target = make_problem(n_classes, noise, seed)
        expected = exhaustive(kernel, target, train, test, COSTS)
        assert count_correct(kernel, target, train, test, COSTS).tolist() == expected


def test_scale_of_the_kernel_does_not_matter():
    kernel, target = make_problem(noise=3.0)
    train, test = np.arange(40), np.arange(40, 60)
    expected = count_correct(kernel, target, train, test, COSTS)
    np.testing.assert_array_equal(count_correct(kernel * 2.0**12, target, train, test, COSTS), expected)


def test_kernel_is_left_as_it_is():
    kernel, target = make_problem()
    before = kernel.copy()
    count_correct(kernel, target, np.arange(40), np.arange(40, 60), COSTS)
    np.testing.assert_array_equal(kernel, before)


def test_machine_without_bounded_multipliers_is_found():
    kernel, target = make_problem(noise=0.1)
    assert is_unbounded(SVC(kernel="precomputed", C=1e6).fit(kernel, target))
    assert not is_unbounded(SVC(kernel="precomputed", C=1e-9).fit(kernel, target))


def test_one_class_needs_no_machine():
    kernel, target = make_problem()
    train = np.flatnonzero(target == 1)
    assert count_correct(kernel, target, train, np.arange(60), [1.0, 2.0]).tolist() == [30, 30]


def test_kernel_of_zeros_is_no_error():
    target = np.arange(10) % 2
    correct = count_correct(np.zeros((10, 10)), target, np.arange(8), np.arange(8, 10), [1.0])
    assert correct.tolist() == [1]  # one class for both test graphs, which have different ones
