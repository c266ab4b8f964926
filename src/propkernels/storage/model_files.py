"""Model files: save and load estimators safely."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

from numpy.typing import NDArray

from propkernels._utils.checks import reason_of, shown
from propkernels._utils.safe_files import atomic_write, open_regular
from propkernels._version import __version__
from propkernels.graphs.database import GraphDatabase
from propkernels.storage.archive import (
    as_read,
    check_members,
    from_json,
    read_array,
    read_header,
    to_json,
    write_archive,
)
from propkernels.storage.classes import name_of
from propkernels.storage.decoder import Decoder
from propkernels.storage.encoder import Encoder


class ModelFileError(ValueError):
    """A file is damaged, was written by something else, or by a newer version.

    See Also
    --------
    load_model : Raises it.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     pk.load_model(file.name)
    Traceback (most recent call last):
    ...
    propkernels.storage.model_files.ModelFileError: ...
    """


FORMAT, FORMAT_VERSION = "propkernels model", 1


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier, regressor, kernel, feature map or index, or graphs, to one file.

    The file is a zip with JSON and arrays and holds no code; an existing one is replaced once the new one is
    complete. The same model makes the same file.

    Parameters
    ----------
    model : estimator of this library, or GraphDatabase
    path : path
        Any name will do; ``.pk`` says what it is.

    Raises
    ------
    TypeError
        If the model, or something in it, is not this library's: a function as base kernel, a scheme of your
        own. The message says where.
    ValueError
        If :func:`load_model` would refuse the file, whose checks are made before anything is written.

    See Also
    --------
    load_model : Reads the file.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> kernel = pk.PropagationKernel(t_max=2, random_state=0).fit(data.graphs[:20])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pk.save_model(kernel, f"{folder}/kernel.pk")
    ...     again = pk.load_model(f"{folder}/kernel.pk")
    >>> bool((again.transform(data.graphs[20:]) == kernel.transform(data.graphs[20:])).all())
    True
    """
    write_model(model, path, {})


def write_model(model: Any, path: str | os.PathLike[str], notes: dict[str, str]) -> None:
    """Write a model together with notes, which :func:`read_model` returns and ``load_model`` ignores."""
    if not is_model(model):
        raise TypeError(
            f"save_model takes an estimator of this library or a GraphDatabase, got {shown(model)}"
        )
    encoder = Encoder()
    tree = encoder.encode(model, type(model).__name__)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "propkernels": __version__,
        "n_arrays": len(encoder.arrays),
        "model": tree,
    } | ({"notes": notes} if notes else {})
    text = _readable(header, encoder.arrays, type(model).__name__)
    with atomic_write(path) as stream:
        write_archive(stream, text, encoder.arrays)


def _readable(header: dict[str, Any], arrays: list[NDArray[Any]], name: str) -> str:
    """Return the header as text, from which a model was made as ``load_model`` makes it, with all checks."""
    try:
        text = to_json(header)
        _decoded(from_json(text), lambda number: as_read(arrays[number]))
    except MemoryError:
        raise
    except Exception as error:
        reason = reason_of(error)
        raise ValueError(f"the {name} cannot be saved: load_model would refuse it ({reason})") from error
    return text


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read what :func:`save_model` wrote.

    Loading an untrusted file is safe: only classes of this library are created, no code in the file is run,
    nothing is written, and everything is checked before it is used.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator
        It gives the same results, to the bit, as the one that was saved.

    Raises
    ------
    ModelFileError
        A ValueError: the file is damaged, is something else, or was written by a newer version.
    OSError
        If the file does not exist, or it cannot be read.

    See Also
    --------
    save_model : Writes the file.
    ModelFileError : What a damaged file gives.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pk.save_model(pk.PropagationKernel(t_max=2, random_state=0).fit(graphs), f"{folder}/kernel.pk")
    ...     kernel = pk.load_model(f"{folder}/kernel.pk")
    >>> kernel.transform(graphs).shape
    (10, 10)
    """
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[Any, dict[str, str]]:
    """Read a model, and the notes that were written with it."""
    with open_regular(path) as stream:
        try:
            return _read(stream, os.fstat(stream.fileno()).st_size)
        except ModelFileError as error:
            raise ModelFileError(f"{Path(path)} {error}") from None
        except Exception as error:
            reason = reason_of(error)
            text = f"{Path(path)} is damaged, or is not a model that propkernels wrote ({reason})"
            raise ModelFileError(text) from error


def _read(stream: IO[bytes], n_bytes: int) -> tuple[Any, dict[str, str]]:
    with ZipFile(stream) as archive:
        check_members(archive, n_bytes)
        return _decoded(read_header(archive), lambda number: read_array(archive, number))


def _decoded(header: dict[str, Any], arrays: Callable[[int], NDArray[Any]]) -> tuple[Any, dict[str, str]]:
    """Make the model and its notes from a header and a function that gives arrays by number."""
    _check_version(header)
    model = Decoder(arrays).decode(header["model"])
    if not is_model(model):
        raise ValueError("it does not hold an estimator")
    notes = header.get("notes", {})
    if not isinstance(notes, dict) or not all(isinstance(text, str) for text in notes.values()):
        raise TypeError("its notes are not text")
    return model, notes


def is_model(thing: Any) -> bool:
    """Whether something is an estimator of this library, of those that can be saved, or graphs."""
    return name_of(thing) is not None and (hasattr(thing, "get_params") or isinstance(thing, GraphDatabase))


def _check_version(header: dict[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise ModelFileError("is not a model that propkernels wrote")
    version = header["format_version"]
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"its format version is {version!r}")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"was written by propkernels {header.get('propkernels')} in format {version}, but this is "
            f"propkernels {__version__}, which reads formats up to {FORMAT_VERSION}: install a newer one"
        )
