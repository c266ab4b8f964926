"""Optional packages: imported on use, with an error that names the extra to install."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

PACKAGE_OF = {"PIL": "Pillow", "cupy": "cupy-cuda12x", "skimage": "scikit-image"}


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Module to import, such as "matplotlib.pyplot".
    extra : str
        Extra of propkernels that installs the package.
    purpose : str
        Subject and verb of the error message, such as "plots need".

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If the package is not installed; the message has the command that installs it.

    Examples
    --------
    >>> import_optional("not_there", extra="plot", purpose="plots need")
    Traceback (most recent call last):
    ImportError: plots need not_there: install it with pip install not_there
    """
    root = module.partition(".")[0]
    try:
        importlib.import_module(root)
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != root:
            raise  # the package is installed, but one of its dependencies is missing
        package = PACKAGE_OF.get(root, root)
        text = f"{purpose} {package}: install it with pip install {_requirement(package, extra)}"
        raise ImportError(text, name=root) from None


def _requirement(package: str, extra: str) -> str:
    """Return a package with the versions that the extra asks for, as a word of a command."""
    from importlib.metadata import PackageNotFoundError, requires

    with suppress(PackageNotFoundError):
        for line in requires("propkernels") or ():
            wanted, _, condition = line.partition(";")
            name = re.split(r"[^\w.-]", wanted, maxsplit=1)[0]
            is_it = name.lower().replace("_", "-") == package.lower().replace("_", "-")
            if is_it and re.search(rf"""extra == ['"]{extra}['"]""", condition):
                return f"'{wanted.strip()}'"
    return package


def has_package(name: str) -> bool:
    """Whether an optional package is installed, without importing it."""
    return importlib.util.find_spec(name) is not None


def data_frame(rows: Any, columns: Sequence[str] | None = None) -> Any:
    r"""Return records, or columns by name, as a pandas DataFrame.

    Lone surrogates, as in names of files, which pandas refuses, become ``\udce9``.
    """
    pandas = import_optional("pandas", extra="pandas", purpose="to_frame needs")
    try:
        return pandas.DataFrame(rows, columns=columns)
    except UnicodeEncodeError:
        return pandas.DataFrame(_encodable(rows), columns=columns)


def _encodable(value: Any) -> Any:
    """Return texts, also those in lists and dictionaries, as UTF-8 can encode them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(one) for key, one in value.items()}
    return [_encodable(one) for one in value] if isinstance(value, list) else value
