"""How the outcome of a case is told."""

import warnings

import pytest

from fuzz.cases import Wrong, outcome_of, try_to


def refuse(text, kind=ValueError):
    raise kind(text)


def test_a_sentence_is_a_refusal():
    outcome = outcome_of(lambda: try_to(lambda: refuse("graph 3 has 2 labels for 4 nodes")))
    assert (outcome.kind, outcome.is_finding) == ("refused", False)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("operands could not be broadcast together", ValueError),
        ("'NoneType' object has no attribute 'x'", TypeError),
        ("two\nlines", ValueError),
        ("", ValueError),
        ("Python int too large to convert to C long", OverflowError),
        ("index 3 is out of bounds", IndexError),
    ],
)
def test_errors_of_libraries_are_unclear(text, kind):
    outcome = outcome_of(lambda: try_to(lambda: refuse(text, kind)))
    assert outcome.kind == "unclear"
    assert kind.__name__ in outcome.text


def test_wrong_results_and_warnings_of_numpy_are_findings():
    assert outcome_of(lambda: refuse("other", Wrong)).kind == "wrong"
    assert outcome_of(lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=1)).kind == "warning"
    assert outcome_of(lambda: None).kind == "right"
