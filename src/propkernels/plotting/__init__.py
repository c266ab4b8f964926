"""Matplotlib figures of graphs, kernels, explanations and evaluations; ``plotting.pages`` has HTML and SVG.

The names are listed in ``__init__.pyi`` and loaded on first use: all packages may import ``plotting.pages``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
