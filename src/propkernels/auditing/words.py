"""Numbers as words."""

from __future__ import annotations


def many(number: int, noun: str) -> str:
    """Say "1 graph", "2,000 graphs".

    Examples
    --------
    >>> many(1, "graph"), many(2000, "class")
    ('1 graph', '2,000 classes')
    """
    ending = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun if number == 1 else noun + ending}"


def many_have(number: int, noun: str) -> str:
    """Say "1 graph has", "2 graphs have"."""
    return f"{many(number, noun)} {have(number)}"


def have(number: int) -> str:
    """The verb that goes with a number."""
    return "has" if number == 1 else "have"


def percent(share: float) -> str:
    """A share in percent, with one digit; never rounded up to 100 or down to 0.

    Examples
    --------
    >>> percent(0.8567), percent(1.0), percent(0.99999)
    ('85.7 %', '100 %', '99.9 %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %" if 0 < share < 1 else f"{100 * share:.1f} %"


def as_score(value: float, metric: str) -> str:
    """An accuracy in percent, R^2 as it is.

    Examples
    --------
    >>> as_score(0.5, "accuracy"), as_score(0.5, "R^2"), as_score(0.9999, "R^2")
    ('50.0 %', 'an R^2 of 0.500', 'an R^2 just below 1')
    """
    if metric == "accuracy":
        return percent(value)
    return "an R^2 just below 1" if 0.9995 <= value < 1 else f"an R^2 of {value:.3f}"


def with_error(value: float, error: float, metric: str) -> str:
    """A score with its standard error."""
    if metric == "accuracy":
        return f"{100 * value:.1f} ± {100 * error:.1f} %"
    return f"an R^2 of {value:.3f} ± {error:.3f}"


def listed(graphs: tuple[int, ...]) -> str:
    """Say "1, 2 and 3".

    Examples
    --------
    >>> listed((1,)), listed((1, 2, 3))
    ('1', '1, 2 and 3')
    """
    texts = [str(graph) for graph in graphs]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
