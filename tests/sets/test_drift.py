"""Windows against a reference: p-values as of compare, evidence from its definition, and few false alarms."""

import numpy as np
import pytest
from scipy.integrate import quad

import propkernels as pk
from propkernels.sets.drift import evidence_of

GRAPHS = pk.datasets.make_molecules(150, random_state=2, mean_nodes=10).graphs
OTHERS = pk.datasets.make_molecules(60, random_state=3, mean_nodes=25).graphs
KERNEL = pk.WeisfeilerLehman(t_max=1, normalize=True)


def detector(**others):
    return pk.DriftDetector(kernel=KERNEL, **({"n_permutations": 99} | others))


@pytest.mark.parametrize("p_value", [1e-9, 0.001, 0.05, 0.5, 0.99, 0.99995, 1.0])
def test_evidence_is_the_integral_over_powers(p_value):
    expected = quad(lambda e: e * p_value ** (e - 1), 0, 1, epsabs=1e-12, limit=200)[0]
    assert evidence_of(p_value) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("n", [9, 99, 999])
def test_evidence_of_permutation_p_values_has_expectation_below_1(n):
    assert np.mean([evidence_of((1 + above) / (1 + n)) for above in range(n + 1)]) <= 1


def test_a_window_has_the_statistic_and_witness_of_compare():
    window = detector().fit(GRAPHS[:80]).update(GRAPHS[80:100])
    same = pk.compare(GRAPHS[:80], GRAPHS[80:100], kernel=KERNEL, n_permutations=9)
    assert window.statistic == same.statistic
    np.testing.assert_array_equal(window.witness.contributions, same.witness.contributions)


def naive_evidence(p_values):
    """Mean over all windows j of the product of evidence from j on; changes to come have evidence 1."""
    n = len(p_values)
    parts = [np.prod([evidence_of(p) for p in p_values[j - 1 :]]) / (j * (j + 1)) for j in range(1, n + 1)]
    return sum(parts) + 1 / (n + 1)


def test_a_change_raises_an_alarm_and_evidence_starts_again():
    model = detector(n_permutations=1999).fit(GRAPHS[:80])
    windows = [GRAPHS[80:90], GRAPHS[90:100], OTHERS[:20], OTHERS[20:40], GRAPHS[100:110]]
    found = [model.update(window) for window in windows]
    assert [one.alarm for one in found] == model.alarms_.tolist()
    assert not model.alarms_[:2].any()
    assert model.alarms_[2:4].any()
    start = 0
    for i, one in enumerate(found):
        assert one.evidence == pytest.approx(naive_evidence(model.p_values_[start : i + 1]))
        assert one.alarm == (one.evidence >= 20)
        start = i + 1 if one.alarm else start


def test_evidence_grows_with_changes_that_come_late():
    """After 50 windows without change, four with p = 0.001 are enough."""
    model = detector().fit(GRAPHS[:10])
    for p_value in [0.5] * 50 + [0.001] * 4:
        model._add_evidence(p_value)
    assert model.evidence_ >= 20


def test_windows_without_alarm_join_the_reference_of_a_stream_alone():
    stream, windows = (detector(guarantee=kind).fit(GRAPHS[:80]) for kind in ("stream", "window"))
    for model in (stream, windows):
        model.update(GRAPHS[80:100])
    assert (len(stream.reference_), len(windows.reference_)) == (100, 80)
    alarmed = windows.update(OTHERS[:20])
    assert alarmed.alarm
    assert alarmed.p_value <= 0.05


def test_a_window_of_one_graph_is_ranked_among_the_reference():
    """The statistic of one graph orders graphs by their mean similarity to the others."""
    window = detector(n_permutations=1999).fit(GRAPHS[:19]).update(OTHERS[:1])
    matrix = pk.WeisfeilerLehman(t_max=1, normalize=True).fit_transform(
        pk.GraphDatabase.concat([GRAPHS[:19], OTHERS[:1]])
    )
    n = len(matrix) - 1
    rest = [np.delete(np.delete(matrix, i, 0), i, 1) for i in range(n + 1)]
    means = [(m.sum() - np.trace(m)) / (n * (n - 1)) for m in rest]
    statistics = [means[i] - 2 * (matrix[i].sum() - matrix[i, i]) / n for i in range(n + 1)]
    assert window.statistic == pytest.approx(statistics[-1])
    share = np.mean(np.array(statistics) >= statistics[-1] - 1e-12)
    assert window.p_value == pytest.approx(share, abs=0.05)


@pytest.mark.slow
def test_streams_without_change_have_few_alarms():
    """80 streams of 8 windows at alpha = 0.2: at most 27 alarms, but for a probability of 0.002."""
    rng, alarms = np.random.default_rng(0), 0
    for stream in range(80):
        order = rng.permutation(len(GRAPHS))
        model = detector(alpha=0.2, n_permutations=39, random_state=stream).fit(GRAPHS[order[:20]])
        for start in range(20, 60, 5):
            model.update(GRAPHS[order[start : start + 5]])
        alarms += bool(model.alarms_.any())
    assert alarms <= 27


def test_same_seed_same_windows():
    one, two = (detector(random_state=5).fit(GRAPHS[:50]) for _ in range(2))
    for model in (one, two):
        model.update(GRAPHS[50:70])
        model.update(list(GRAPHS[70:90]))
    np.testing.assert_array_equal(one.p_values_, two.p_values_)


def test_texts():
    window = detector().fit(GRAPHS[:50]).update(GRAPHS[50:60])
    assert str(window).startswith("window 0: no alarm, p = ")
    assert repr(window).startswith("Window(number=0, alarm=False, p_value=")


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(ValueError, match="two graphs or more"):
        detector().fit(GRAPHS[:1])
    with pytest.raises(ValueError, match="at least one graph"):
        detector().fit(GRAPHS[:9]).update(GRAPHS[:0])
    with pytest.raises(ValueError, match="guarantee"):
        detector(guarantee="year").fit(GRAPHS)
    with pytest.raises(ValueError, match="alpha"):
        detector(alpha=1.0).fit(GRAPHS)
    with pytest.raises(ValueError, match="dot product"):
        detector().set_params(kernel=pk.PropagationKernel(base_kernel="rbf")).fit(GRAPHS)


def test_a_saved_detector_goes_on(tmp_path):
    graphs = pk.datasets.make_molecules(40, random_state=3).graphs
    kept = pk.DriftDetector(kernel=pk.WeisfeilerLehman(t_max=1), n_permutations=19).fit(graphs[:20])
    kept.update(graphs[20:30])
    pk.save_model(kept, tmp_path / "detector.pk")
    read = pk.load_model(tmp_path / "detector.pk")
    one, other = kept.update(graphs[30:]), read.update(graphs[30:])
    assert (one.p_value, one.evidence, one.alarm) == (other.p_value, other.evidence, other.alarm)
    np.testing.assert_array_equal(kept.p_values_, read.p_values_)
