"""Kernels by name, the same in Python and in commands."""

from __future__ import annotations

from typing import Any

KERNELS = {
    "propagation": "PropagationKernel",
    "p2k": "P2K",
    "wl": "WeisfeilerLehman",
    "shortest-path": "ShortestPath",
    "graph-hopper": "GraphHopper",
    "labels": "LabelHistogram",
}


def named_kernel(kernel: Any, **settings: Any) -> Any:
    """Return the kernel of a name, with the settings that it has; anything but a text as it is.

    Raises
    ------
    ValueError
        If no kernel has the name.

    Examples
    --------
    >>> named_kernel("wl", t_max=2, random_state=0)
    WeisfeilerLehman(t_max=2)
    """
    if not isinstance(kernel, str):
        return kernel
    if kernel not in KERNELS:
        listed = ", ".join(map(repr, KERNELS))
        raise ValueError(f"no kernel is called {kernel[:40]!r}: the names are {listed}")
    from propkernels import kernels

    made = getattr(kernels, KERNELS[kernel])()
    known = made.get_params(deep=False)
    return made.set_params(**{name: value for name, value in settings.items() if name in known})
