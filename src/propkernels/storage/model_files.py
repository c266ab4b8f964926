"""save_model and load_model: fitted estimators in files that are safe to load."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Literal, overload
from zipfile import ZipFile

from numpy.typing import NDArray

from propkernels._utils.checks import reason_of, shown
from propkernels._utils.safe_files import Pathlike, atomic_write, open_regular
from propkernels._utils.typing import Estimator
from propkernels._version import __version__
from propkernels.graphs.database import GraphDatabase
from propkernels.search.index import GraphIndex
from propkernels.storage.archive import (
    as_read,
    check_members,
    from_json,
    map_array,
    read_array,
    read_header,
    to_json,
    write_archive,
)
from propkernels.storage.classes import name_of
from propkernels.storage.codec import Decoder, Encoder


class ModelFileError(ValueError):
    """A file is damaged, is not a model file, or was written by a newer version.

    See Also
    --------
    load_model : Raises this error.

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


def save_model(model: Estimator | GraphDatabase, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator or index, or graphs, to one file.

    The file is a zip of JSON and arrays, without code. An existing file is replaced only after the new one is
    complete. Equal models give equal files.

    Parameters
    ----------
    model : estimator of this library, or GraphDatabase
    path : path
        Any name; the usual suffix is ``.pk``.

    Raises
    ------
    TypeError
        If the model contains an object of another library, such as a function as base kernel or a custom
        scheme; the message names the attribute.
    ValueError
        If :func:`load_model` would refuse the file; this is checked before anything is written.

    See Also
    --------
    load_model : Load the file.

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
    """Save a model with notes, which :func:`read_model` returns and ``load_model`` ignores."""
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
    text = _checked_text(header, encoder.arrays, type(model).__name__)
    with atomic_write(path) as stream:
        write_archive(stream, text, encoder.arrays)


def _checked_text(header: dict[str, Any], arrays: list[NDArray[Any]], name: str) -> str:
    """Return the header as text, after checking that ``load_model`` would accept the model."""
    try:
        text = to_json(header)
        _decoded(from_json(text), lambda number: as_read(arrays[number]))
    except MemoryError:
        raise
    except Exception as error:
        reason = reason_of(error)
        raise ValueError(f"the {name} cannot be saved: load_model would refuse it ({reason})") from error
    return text


@overload
def load_model(path: Pathlike, *, mmap_mode: Literal["r"]) -> GraphIndex: ...
@overload
def load_model(path: Pathlike, *, mmap_mode: None = None) -> Any: ...
def load_model(path: Pathlike, *, mmap_mode: Literal["r"] | None = None) -> Estimator | Any:
    """Load a model saved by :func:`save_model`.

    Loading an untrusted file is safe: only objects of this library are created, no code of the file is run,
    nothing is written, and all values are checked.

    Parameters
    ----------
    path : path
    mmap_mode : {"r"} or None, default=None
        "r", for a :class:`GraphIndex`: its arrays are checked, and then stay in the file. Queries read what
        they need, and processes share it. The index is read-only, and the file must not change meanwhile.

    Returns
    -------
    estimator
        Its results are bit-identical to those of the saved estimator.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file, or was written by a newer version (a ValueError).
    OSError
        If the file does not exist or is not readable.

    See Also
    --------
    save_model : Save a model.
    propkernels.storage.ModelFileError : Raised for damaged files.

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
    if mmap_mode not in (None, "r"):
        raise ValueError(f"mmap_mode must be 'r' or None, got {shown(mmap_mode)}")
    model = read_model(path, is_mapped=mmap_mode == "r")[0]
    if mmap_mode == "r" and not isinstance(model, GraphIndex):
        raise TypeError(f"mmap_mode is for a GraphIndex, and {path} holds a {type(model).__name__}: omit it")
    return model


def read_model(path: str | os.PathLike[str], is_mapped: bool = False) -> tuple[Any, dict[str, str]]:
    """Return a saved model and its notes; arrays of a mapped one stay in the file."""
    with open_regular(path) as stream:
        try:
            return _read(stream, os.fstat(stream.fileno()).st_size, is_mapped)
        except ModelFileError as error:
            raise ModelFileError(f"{Path(path)} {error}") from None
        except Exception as error:
            reason = reason_of(error)
            text = f"{Path(path)} is damaged or not a propkernels model file ({reason})"
            raise ModelFileError(text) from error


def _read(stream: IO[bytes], n_bytes: int, is_mapped: bool) -> tuple[Any, dict[str, str]]:
    with ZipFile(stream) as archive:
        check_members(archive, n_bytes)
        if not is_mapped:
            return _decoded(read_header(archive), lambda number: read_array(archive, number))
        memory = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        return _decoded(read_header(archive), lambda number: map_array(archive, memory, number))


def _decoded(header: dict[str, Any], arrays: Callable[[int], NDArray[Any]]) -> tuple[Any, dict[str, str]]:
    """Return the model and the notes of a header; ``arrays`` returns an array by its number."""
    _check_version(header)
    model = Decoder(arrays).decode(header["model"])
    if not is_model(model):
        raise ValueError("it does not contain an estimator")
    notes = header.get("notes", {})
    if not isinstance(notes, dict) or not all(isinstance(text, str) for text in notes.values()):
        raise TypeError("its notes are not text")
    return model, notes


def is_model(thing: Any) -> bool:
    """Whether an object is a savable estimator or a GraphDatabase."""
    return name_of(thing) is not None and (hasattr(thing, "get_params") or isinstance(thing, GraphDatabase))


def _check_version(header: dict[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise ModelFileError("is not a propkernels model file")
    version = header["format_version"]
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"its format version is {version!r}")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"was written by propkernels {header.get('propkernels')} in format {version}, but this is "
            f"propkernels {__version__}, which reads formats up to {FORMAT_VERSION}: install a newer one"
        )
