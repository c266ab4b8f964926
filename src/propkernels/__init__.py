"""propkernels: propagation kernels for graphs, images and point clouds.

The public names are listed once, in ``__init__.pyi``, and loaded on first use, so that importing the package
costs nothing.
"""

import lazy_loader

from propkernels._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
