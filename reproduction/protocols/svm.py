"""C-SVMs on one kernel matrix for many values of C and many parts held out: ``svm.c``, compiled on first use.

The results are those of libsvm (scikit-learn's ``SVC``): its working sets, stopping rule and votes; held-out
parts start from the solution of their training set, which takes a fifth of the time.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-3  # libsvm's
LEAST_STEPS, STEPS_PER_GRAPH = 10_000, 25  # more are needed only where C is far too large
FLAGS = "-O3 -march=native -ffp-contract=off -ffinite-math-only -fno-signed-zeros -fno-trapping-math"
Parts = NDArray[np.int32]  # for each graph the number of its part; -1: not in the training set


@cache
def library() -> Any:
    """Return the compiled functions; they are kept in ``build``."""
    source = Path(__file__).with_name("svm.c")
    name = hashlib.sha256(source.read_bytes() + FLAGS.encode()).hexdigest()[:16]
    file = Path(__file__).parents[2] / "build" / f"svm-{name}.so"
    if not file.is_file():
        file.parent.mkdir(exist_ok=True)
        compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".so", delete=False) as part:
            command = [compiler, *FLAGS.split(), "-shared", "-fPIC", "-o", part.name, str(source), "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise OSError(
                f"{source} cannot be compiled: a C compiler is needed ({' '.join(command)})"
            ) from error
        Path(part.name).replace(file)
    found = ctypes.CDLL(str(file))
    found.evaluate.restype = ctypes.c_long
    return found


class Machine:
    """C-SVMs that learn from some graphs, one against one.

    Parameters
    ----------
    kernel : ndarray of float32
        Kernel matrix of all graphs.
    classes : ndarray of int
        0, 1, ...
    train : ndarray of int
        The graphs to learn from.

    Examples
    --------
    >>> target = np.repeat([0, 1], 10)
    >>> kernel = np.equal.outer(target, target).astype(np.float32)
    >>> Machine(kernel, target, np.arange(5, 15)).wrong(1.0)
    0
    """

    def __init__(self, kernel: NDArray[np.float32], classes: NDArray[Any], train: NDArray[Any]) -> None:
        self.kernel = np.ascontiguousarray(kernel, dtype=np.float32)
        self.classes = np.ascontiguousarray(classes, dtype=np.int32)
        self.train = np.full(len(classes), -1, dtype=np.int32)
        self.train[train] = 0
        self._solved: dict[float, tuple[Any, Any, bool]] = {}
        self._counts: dict[tuple[float, int, int], tuple[int, bool]] = {}

    def wrong(self, cost: float, parts: Parts | None = None, number: int = -1) -> int:
        """Return the number of mistakes outside the training set, or on a part that is left out of it."""
        key = (cost, -1 if parts is None else id(parts), number)
        self.prepare(cost)
        if key not in self._counts:
            smaller = [
                self._counts[c, *key[1:]] for c in self._solved if (c, *key[1:]) in self._counts and c < cost
            ]
            unbounded = next((found for found in smaller if not found[1]), None)  # a larger C changes nothing
            assert parts is not None
            self._counts[key] = unbounded or self._call(cost, parts, number, number + 1, is_solved=True)
        return self._counts[key][0]

    def prepare(self, cost: float) -> None:
        """Learn from the whole training set, starting from the solution for a smaller C."""
        if cost in self._solved:
            return
        n_classes = int(self.classes.max()) + 1
        shape = (n_classes * (n_classes - 1) // 2, len(self.classes))
        smaller = max((c for c in self._solved if c < cost), default=None)
        if smaller is None:
            alpha, values = np.zeros(shape), np.zeros(shape)
        else:
            alpha, values = (found.copy() for found in self._solved[smaller][:2])
            if np.count_nonzero(alpha >= smaller) > 0.5 * np.count_nonzero(alpha):
                alpha *= cost / smaller
                values *= cost / smaller
        self._solved[cost] = alpha, values, True
        found = self._call(cost, self.train, 0, 0, is_solved=False)
        self._solved[cost] = alpha, values, found[1]
        self._counts[cost, -1, -1] = found

    def _call(self, cost: float, parts: Parts, first: int, last: int, is_solved: bool) -> tuple[int, bool]:
        alpha, values, _ = self._solved[cost]
        n_graphs, n_parts = len(self.classes), max(last, 1)
        wrong, bounded = np.zeros(n_parts + 1, dtype=np.int32), np.zeros(n_parts + 1, dtype=np.int32)
        n_classes = int(self.classes.max()) + 1
        steps = max(LEAST_STEPS, STEPS_PER_GRAPH * n_graphs * 2 // n_classes)
        kernel, classes, numbers = map(_pointer, (self.kernel, self.classes, parts))
        sizes, flags = (n_parts, first, last, ctypes.c_double(cost)), (ctypes.c_double(TOLERANCE), steps)
        out = map(_pointer, (alpha, values, wrong, bounded))
        done = library().evaluate(
            kernel, n_graphs, classes, n_classes, numbers, *sizes, is_solved, *out, *flags
        )
        if done < 0:
            raise MemoryError(f"a C-SVM of {n_graphs} graphs does not fit into memory")
        place = first if last > first else n_parts
        return int(wrong[place]), bool(bounded[place])


def _pointer(array: NDArray[Any]) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)
