"""Optional packages: imported on use, with an error that names the extra to install."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

PACKAGE_OF = {"PIL": "Pillow", "skimage": "scikit-image"}


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
        If the package is not installed; the message names the extra.

    Examples
    --------
    >>> import_optional("not_there", extra="plot", purpose="plots need")
    Traceback (most recent call last):
    ImportError: plots need not_there: install it with pip install 'propkernels[plot]'
    """
    root = module.partition(".")[0]
    try:
        importlib.import_module(root)
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != root:
            raise  # the package is installed, but one of its dependencies is missing
        package = PACKAGE_OF.get(root, root)
        raise ImportError(
            f"{purpose} {package}: install it with pip install 'propkernels[{extra}]'", name=root
        ) from None


def has_package(name: str) -> bool:
    """Whether an optional package is installed, without importing it."""
    return importlib.util.find_spec(name) is not None
