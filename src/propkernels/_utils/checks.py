"""What estimators owe scikit-learn: parameters of the right type and range or a clear error, and tags."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from propkernels._utils.safe_files import is_system_error

MOST_STREAMS = 2**20
SMALLEST_WIDTH = 1e-100


def shown(value: Any) -> str:
    """A value as a sentence can show it: short, whatever it is.

    Examples
    --------
    >>> shown("auto"), shown([0] * 1000)
    ("'auto'", '[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,...')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a number of too many digits, nesting that is too deep, an object of bad manners
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def reason_of(error: BaseException) -> str:
    """Why something could not be read, in one line; texts for programmers are left out.

    An error of the machine (too many open files, memory, rights, the disk) says nothing about what was read,
    which may be whole: such an error is raised as it is, so that nobody removes a good file because of it.

    Examples
    --------
    >>> reason_of(KeyError("parts")), reason_of(TypeError("'int' object is not subscriptable"))
    ("'parts' is missing", 'a part of it is of the wrong kind')
    """
    if is_system_error(error):
        raise error
    if isinstance(error, KeyError):
        return f"{shown(error.args[0]) if error.args else 'a part'} is missing"
    if isinstance(error, (AttributeError, IndexError, TypeError, RecursionError)):
        return "a part of it is of the wrong kind"
    return " ".join(str(error).split())[:200] or type(error).__name__


def check_choice(value: Any, choices: Sequence[Any], name: str) -> None:
    """Refuse a value that is not among the choices."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {shown(value)}")


def check_integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return a whole number (numpy's too, not a bool) from ``least`` to ``most``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(value)}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {shown(value)}")
    return number


def check_streams(t_max: Any, n_hashes: Any, name: str = "t_max") -> tuple[int, int]:
    """Return the number of steps and of hashes, which must not fill the memory before anything is computed.

    Examples
    --------
    >>> check_streams(10, 1)
    (10, 1)
    """
    steps, hashes = check_integer(t_max, name, 0), check_integer(n_hashes, "n_hashes", 1)
    if (steps + 1) * hashes > MOST_STREAMS:
        product = f"{name} + 1" if hashes == 1 else f"({name} + 1) * n_hashes"
        raise ValueError(f"{product} must be at most {MOST_STREAMS}, got {name}={shown(t_max)}")
    return steps, hashes


def check_width(value: Any, name: str) -> float:
    """Return the width of bins: so large that no projection divided by it overflows."""
    width = check_positive(value, name)
    if width < SMALLEST_WIDTH:
        raise ValueError(f"{name} must be at least {SMALLEST_WIDTH}, got {shown(value)}")
    return width


def check_positive(value: Any, name: str) -> float:
    """Return a finite number above 0."""
    number = _check_number(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {shown(value)}")
    return number


def check_fraction(value: Any, name: str) -> float:
    """Return a number in [0, 1)."""
    number = _check_number(value, name)
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {shown(value)}")
    return number


def _check_number(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, got {shown(value)}") from None


def check_share(value: Any, name: str) -> float:
    """Return a number in [0, 1]."""
    number = _check_number(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {shown(value)}")
    return number


def check_nonnegative(value: Any, name: str) -> float:
    """Return a finite number that is at least 0."""
    number = _check_number(value, name)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number, at least 0; got {shown(value)}")
    return number


RandomState = int | np.random.Generator | np.random.RandomState | None


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator: the given one, one seeded by a number, or a fresh one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


class Documented:
    """Mixin of everything with parameters: scikit-learn's diagrams link to its page of the API reference.

    List it before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    _doc_link_module = "propkernels"
    _doc_link_template = "https://propkernels.github.io/propkernels/api/generated/{name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the public name, under which the page is: classes of ``images`` have it in front."""
        package, folder, *_ = type(self).__module__.split(".")
        inside = f"{package}.images" if folder == "images" else package
        return {"name": f"{inside}.{type(self).__name__}"}


class GraphInput(Documented):
    """Mixin of estimators that take graphs: their X is not a table, and holds no NaN.

    List it before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        return tags


class ImageInput(GraphInput):
    """Mixin of estimators that take images, one array of two or three dimensions each."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
