"""Validation of parameters, texts for messages and tables, and scikit-learn tags of estimators."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.safe_files import is_system_error

MOST_STREAMS = 2**20
SMALLEST_WIDTH = 1e-100


def shown(value: Any) -> str:
    """Return a short representation of any value, for error messages.

    Examples
    --------
    >>> shown("auto"), shown([0] * 1000)
    ("'auto'", '[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,...')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # too many digits, nesting too deep, or a faulty __repr__
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def kind_of(thing: Any) -> str:
    """Return the name of the class of an object; that of None is "None"."""
    return "None" if thing is None else type(thing).__name__


def reason_of(error: BaseException) -> str:
    """Return why reading failed, in one line, without internal messages of Python.

    System errors (too many open files, memory, permissions, disk) are raised again unchanged: the file may be
    intact, and users should not remove it.

    Examples
    --------
    >>> reason_of(KeyError("parts")), reason_of(TypeError("'int' object is not subscriptable"))
    ("'parts' is missing", 'a part of it is of the wrong kind')
    """
    if is_system_error(error):
        raise error
    if isinstance(error, KeyError):
        return f"{shown(error.args[0]) if error.args else 'a part'} is missing"
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"byte {error.start + 1:,} is 0x{byte:02x}, which is not text in UTF-8: save it as UTF-8"
    if isinstance(error, (AttributeError, IndexError, TypeError, RecursionError)):
        return "a part of it is of the wrong kind"
    return " ".join(str(error).split())[:200] or type(error).__name__


def check_choice(value: Any, choices: Sequence[Any], name: str) -> None:
    """Raise ValueError if a value is not among the choices."""
    is_known = value in choices if isinstance(value, str) else any(value is choice for choice in choices)
    if not is_known:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {shown(value)}")


def check_integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return an integer (of Python or numpy, not bool) from ``least`` to ``most``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(value)}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {shown(value)}")
    return number


def check_streams(t_max: Any, n_hashes: Any) -> tuple[int, int]:
    """Return the numbers of steps and hashes; raise ValueError for more than 2**20 streams.

    Examples
    --------
    >>> check_streams(10, 1)
    (10, 1)
    """
    steps, hashes = check_integer(t_max, "t_max", 0), check_integer(n_hashes, "n_hashes", 1)
    if (steps + 1) * hashes > MOST_STREAMS:
        product = "t_max + 1" if hashes == 1 else "(t_max + 1) * n_hashes"
        raise ValueError(f"{product} must be at most {MOST_STREAMS}, got t_max={shown(t_max)}")
    return steps, hashes


def _number(value: Any, name: str, holds: Callable[[float], bool], kind: str) -> float:
    """Return a number for which a condition holds; ``kind`` says which numbers these are."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, got {shown(value)}") from None
    if not holds(number):
        raise ValueError(f"{name} must be {kind}, got {shown(value)}")
    return number


def check_positive(value: Any, name: str) -> float:
    """Return a finite number above 0."""
    return _number(value, name, lambda x: 0 < x < np.inf, "a finite number above 0")


def check_width(value: Any, name: str) -> float:
    """Return the width of a bin: divided projections do not overflow."""
    check_positive(value, name)
    return _number(value, name, lambda x: x >= SMALLEST_WIDTH, f"at least {SMALLEST_WIDTH}")


def check_fraction(value: Any, name: str) -> float:
    """Return a number in [0, 1)."""
    return _number(value, name, lambda x: 0 <= x < 1, "at least 0 and below 1")


def check_share(value: Any, name: str) -> float:
    """Return a number in [0, 1]."""
    return _number(value, name, lambda x: 0 <= x <= 1, "between 0 and 1")


def check_nonnegative(value: Any, name: str) -> float:
    """Return a finite number, at least 0."""
    return _number(value, name, lambda x: 0 <= x < np.inf, "a finite number of at least 0")


def check_finite(value: Any, name: str) -> float:
    """Return a finite number."""
    return _number(value, name, lambda x: -np.inf < x < np.inf, "a finite number")


def check_weights(values: Any, number: int, name: str) -> NDArray[np.float64]:
    """Return so many finite numbers, not negative; None: 1 each."""
    try:
        with np.errstate(over="ignore"):  # infinite values are rejected below
            weights = np.ones(number) if values is None else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.empty(0)
    if weights.shape != (number,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{name} must be {number} finite numbers, not negative; got {shown(values)}")
    return weights


RandomState = int | np.random.Generator | np.random.RandomState | None


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return a numpy Generator: the given one, a seeded one, or (None) a fresh one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


class Documented:
    """Mixin for estimators: scikit-learn's diagrams link to the API reference.

    List it before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    _doc_link_module = "propkernels"
    _doc_link_template = "https://propkernels.github.io/propkernels/api/generated/{name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the public name of the class: at the top of the package, or in one of its modules."""
        import propkernels

        name, folder = type(self).__name__, type(self).__module__.split(".")[1]
        return {"name": f"propkernels.{name}" if name in dir(propkernels) else f"propkernels.{folder}.{name}"}


class GraphInput(Documented):
    """Mixin for estimators of graphs: X is not a 2-d array and has no NaN.

    List it before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        return tags


class ImageInput(GraphInput):
    """Mixin for estimators of images: one 2-d or 3-d array per image."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def format_number(value: float) -> str:
    """Return a number as text, with a sign and four digits.

    Examples
    --------
    >>> format_number(-0.0123456), format_number(0.0)
    ('-0.01235', '0')
    """
    return f"{value:+.4g}" if value else "0"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()) -> str:
    """Return an aligned text table with a header; columns in ``left`` are left-aligned, others right-aligned.

    Examples
    --------
    >>> print(format_table(["node", "label"], [["12", "C"], ["3", "Cl"]], left=["label"]))
    node  label
      12  C
       3  Cl
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if name in left else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ).rstrip()
        for row in (head, *rows)
    ]
    return "\n".join(lines)
