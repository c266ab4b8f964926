"""Cases: small random inputs, each put through one check.

A check draws its input from a generator. The result is right, or the input is refused in one clear sentence;
all else fails the test, which names the number of the case. ``PROPKERNELS_FUZZ=1000`` runs a thousand cases
of each check instead of a few, and ``PROPKERNELS_FUZZ_FIRST=123`` begins with case 123.
"""

import os
import re
import warnings
import zlib

import numpy as np

import propkernels

# Texts that Python and its libraries write for programmers, and that tell a user nothing.
INTERNAL = re.compile(
    r"object has no attribute|index out of range|is out of bounds|unhashable|not subscriptable"
    r"|could not be broadcast|unexpected keyword|positional argument|not iterable|ufunc|unpack"
    r"|Found array with 0|Traceback|recursion|assert|not supported between|must be real number"
    r"|invalid literal|negative dimensions|Unable to allocate|too large to convert|too big to convert"
    r"|codec can't encode|^(propkernels: )?'utf-8' codec"
    r"|inhomogeneous|array element with a sequence|cannot convert float|argument of type"
    r"|object is not callable|NoneType|truth value|StopIteration|Length of values|zero-size array"
)


class Wrong(AssertionError):
    """A result that should be another one."""


class Refused(Exception):
    """The input was refused in one clear sentence, as it may be."""


def pick(rng, several):
    """One of several values."""
    return several[int(rng.integers(len(several)))]


def run_cases(check, few):
    """Run the cases of a check, all different from those of other checks."""
    first = int(os.environ.get("PROPKERNELS_FUZZ_FIRST", "0"))
    for number in range(first, first + int(os.environ.get("PROPKERNELS_FUZZ", few))):
        rng = np.random.default_rng([number, zlib.crc32(check.__name__.encode())])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)
                check(rng)
        except Refused:
            continue
        except Exception as error:
            error.add_note(f"case {number} of {check.__name__}")
            raise


def try_to(function, *also):
    """Call a function that may refuse its input; any other error passes through."""
    try:
        return function()
    except (TypeError, ValueError, *also) as error:
        text = str(error)
        told = text.split("cannot be read (")[0]  # what follows is the reason of the caller's own object
        if text and "\n" not in text.strip() and not INTERNAL.search(told):
            raise Refused(text) from error
        raise


def same(computed, expected, what, exact=False):
    """Refuse results that differ: in any bit, or beyond the rounding of base kernels and normalization."""
    if isinstance(expected, (propkernels.GraphDatabase, propkernels.GridDatabase)):
        if computed != expected:
            raise Wrong(f"{what}: another database")
        return
    computed, expected = dense(computed), dense(expected)
    if computed.shape != expected.shape:
        raise Wrong(f"{what}: shape {computed.shape} instead of {expected.shape}")
    equal = np.array_equal(computed, expected, equal_nan=True) if exact else True
    if not equal or not np.allclose(computed, expected, rtol=1e-9, atol=1e-12):
        raise Wrong(f"{what}: {computed.tolist()} instead of {expected.tolist()}"[:300])


def dense(output):
    return output.toarray() if hasattr(output, "toarray") else np.asarray(output)
