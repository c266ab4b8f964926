"""propkernels: propagation kernels for graphs, images and point clouds.

The public names are listed once, in ``__init__.pyi``, and loaded on first use, so that importing the package
costs nothing. Old names still load, with a warning (``_utils/deprecation.py``).
"""

from typing import Any

import lazy_loader

from propkernels._utils.deprecation import MOVED, moved
from propkernels._version import __version__ as __version__

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    return moved(name) if name in MOVED else _load(name)
