"""A case: one generated input and one check that it is put through; what came of it."""

from __future__ import annotations

import hashlib
import re
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import propkernels
from fuzz.graphs import Plain

T = TypeVar("T")
PACKAGE = str(Path(propkernels.__file__).parent)
SCRATCH = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
# Texts that Python and its libraries write for programmers, and that tell a user nothing.
INTERNAL = re.compile(
    r"object has no attribute|index out of range|is out of bounds|unhashable|not subscriptable"
    r"|could not be broadcast|unexpected keyword|positional argument|not iterable|ufunc|unpack"
    r"|Found array with 0|numba|Traceback|recursion|assert|not supported between|must be real number"
    r"|invalid literal|negative dimensions|Unable to allocate|too large to convert|too big to convert"
    r"|codec can't encode|^(propkernels: )?'utf-8' codec"
    r"|inhomogeneous|array element with a sequence|cannot convert float|argument of type"
    r"|object is not callable|NoneType|truth value|StopIteration|Length of values|zero-size array"
)


class Wrong(AssertionError):
    """A result that should be another one."""


@dataclass
class Case:
    """What is drawn from a seed; only graphs and parameters are shrunk."""

    family: str
    seed: int
    check: str = ""
    estimator: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    graphs: list[Plain] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"{self.family}:{self.seed}", self.check]
        if self.estimator:
            parts.append(f"{self.estimator}({', '.join(f'{k}={v!r}' for k, v in self.parameters.items())})")
        return " ".join([*parts, *map(repr, self.graphs)])


@dataclass(frozen=True)
class Outcome:
    """Right, refused in a sentence, or a finding: wrong, unclear or warning (crashes never get so far)."""

    kind: str
    text: str = ""
    where: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind not in ("right", "refused")


class Refused(Exception):
    """The input was refused in one clear sentence, as it may be."""


def try_to(function: Callable[[], T], *also: type[Exception]) -> T:
    """Call a function that may refuse its input; any other error passes through as a finding."""
    try:
        return function()
    except (TypeError, ValueError, *also) as error:
        text = str(error)
        told = text.split("cannot be read (")[0]  # what follows is the reason of the caller's own object
        if text and "\n" not in text.strip() and not INTERNAL.search(told):
            raise Refused(text) from error
        raise


def outcome_of(run: Callable[[], Any]) -> Outcome:
    """Run a case and say what came of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            run()
    except Refused as error:
        return Outcome("refused", str(error))
    except Wrong as error:
        return Outcome("wrong", str(error), _place(error))
    except RuntimeWarning as error:
        return Outcome("warning", str(error), _place(error))
    except Exception as error:
        return Outcome("unclear", f"{type(error).__name__}: {error}"[:300], _place(error))
    return Outcome("right")


def _place(error: BaseException) -> str:
    """The innermost line of the package, by which equal findings are told from different ones."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in frame.filename]
    if not frames:
        return "in the harness"
    return f"{Path(frames[-1].filename).relative_to(PACKAGE)}:{frames[-1].lineno}"


def same(computed: Any, expected: Any, what: str, exact: bool = False) -> None:
    """Refuse results that differ: in any bit, or beyond the rounding of base kernels and normalization."""
    if isinstance(expected, (propkernels.GraphDatabase, propkernels.GridDatabase)):
        if computed != expected:
            raise Wrong(f"{what}: another database")
        return
    computed, expected = dense(computed), dense(expected)
    if computed.shape != expected.shape:
        raise Wrong(f"{what}: shape {computed.shape} instead of {expected.shape}")
    if exact and not np.array_equal(computed, expected, equal_nan=True):
        raise Wrong(f"{what}: {computed.tolist()} instead of {expected.tolist()}"[:300])
    if not np.allclose(computed, expected, rtol=1e-9, atol=1e-12, equal_nan=False):
        raise Wrong(f"{what}: {computed.tolist()} instead of {expected.tolist()}"[:300])


def dense(output: Any) -> np.ndarray:
    return output.toarray() if hasattr(output, "toarray") else np.asarray(output)


def digest(output: Any) -> str:
    """A fingerprint of a result, to the bit."""
    if isinstance(output, propkernels.GraphDatabase):
        return hashlib.sha256(repr((output.node_labels, output.graph_ptr.tolist())).encode()).hexdigest()[:16]
    return hashlib.sha256(np.ascontiguousarray(dense(output)).tobytes()).hexdigest()[:16]
