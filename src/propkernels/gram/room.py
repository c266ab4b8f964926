"""The door that every dense kernel matrix goes through: those that do not fit into memory are refused."""

from __future__ import annotations

from propkernels.utils.memory import available_memory

WAYS_OUT = (
    'learn from features (solver="linear", or LinearModel on PropagationFeatures), '
    "search with GraphIndex, or write the matrix to disk with kernel_to_disk"
)
SPARSE = "leave sparse_output=True"


class KernelTooLargeError(MemoryError):
    """A dense matrix would not fit into the memory that is available; nothing was computed."""


def check_room(rows: int, columns: int, matrices: int = 1, *, ways_out: str = WAYS_OUT) -> None:
    """Refuse dense matrices of floats that would not fit, before they are allocated.

    Parameters
    ----------
    rows, columns : int
    matrices : int, default=1
        How many of that shape are in memory at a time.
    ways_out : str
        What to do instead.

    Raises
    ------
    KernelTooLargeError
        With one sentence: what is needed, what there is, and the ways out.

    Examples
    --------
    >>> check_room(1000, 1000)
    >>> check_room(10**7, 10**7)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    propkernels.gram.room.KernelTooLargeError: a dense matrix of 10000000 x 10000000 needs 800000.0 GB ...
    """
    needed, there = 8 * rows * columns * matrices, available_memory()
    if there is not None and needed > there:
        several = "" if matrices == 1 else f" ({matrices} of them at a time)"
        raise KernelTooLargeError(
            f"a dense matrix of {rows} x {columns}{several} needs {needed / 1e9:.1f} GB of memory, and "
            f"{there / 1e9:.1f} GB are available: {ways_out}"
        )
