"""Old names that keep working for one minor version, each with a warning that gives the new name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

REMOVED_IN = "0.3"  # the version without the old names

# Names that left the top level: where each one is now.
MOVED = {
    "Applicability": "novelty.Applicability",
    "Audit": "auditing.Audit",
    "Counterfactuals": "explain.Counterfactuals",
    "Evaluation": "models.Evaluation",
    "Explanation": "explain.Explanation",
    "Exploration": "explorer.Exploration",
    "FeatureFolder": "scale.FeatureFolder",
    "ModelFileError": "storage.ModelFileError",
    "NoveltyExplanation": "novelty.NoveltyExplanation",
    "PairedTest": "models.PairedTest",
    "PartsFailedError": "scale.PartsFailedError",
    "Plan": "scale.Plan",
    "Similarity": "explain.Similarity",
    "check_scheme": "propagation.check_scheme",
    "circular_neighborhood": "graphs.circular_neighborhood",
    "curvature": "graphs.curvature",
    "draw_molecule": "molecules.draw_molecule",
    "draw_similarity": "molecules.draw_similarity",
    "flip_labels": "datasets.flip_labels",
    "from_grakel": "convert.from_grakel",
    "hide_labels": "datasets.hide_labels",
    "knn_graph": "graphs.knn_graph",
    "load": "storage.load_model",
    "load_dataset": "datasets.load",
    "open_index": "search.GraphIndex.open",
    "plot_embedding": "plotting.plot_embedding",
    "plot_evaluation": "plotting.plot_evaluation",
    "plot_explanation": "plotting.plot_explanation",
    "plot_graph": "plotting.plot_graph",
    "plot_kernel": "plotting.plot_kernel",
    "plot_similarity": "plotting.plot_similarity",
    "save": "storage.save_model",
    "scaffolds": "molecules.scaffolds",
    "to_grakel": "convert.to_grakel",
    "to_igraph": "convert.to_igraph",
    "to_networkx": "convert.to_networkx",
    "to_pandas": "convert.to_pandas",
    "to_pyg": "convert.to_pyg",
    "transition_matrix": "propagation.transition_matrix",
}


def warn_renamed(old: str, new: str, stacklevel: int = 2, what: str = "name") -> None:
    """Warn about an old name, or an old order of arguments.

    Parameters
    ----------
    old, new : str
        The names as a user writes them.
    stacklevel : int, default=2
        Frames between the caller of this function and the line that used the old name, plus 1.
    what : str, default="name"
        "name" or "order".
    """
    text = f"{old} is now {new}; the old {what} is removed in version {REMOVED_IN}"
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel + 1)


def moved(name: str) -> Any:
    """Return the object that an old name of the top level stands for, with a warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     function = moved("load_dataset")
    >>> print(caught[0].message)
    propkernels.load_dataset is now propkernels.datasets.load; the old name is removed in version 0.3
    """
    warn_renamed(f"propkernels.{name}", f"propkernels.{MOVED[name]}", stacklevel=3)
    module, *path = MOVED[name].split(".")
    thing: Any = import_module(f"propkernels.{module}")
    for part in path:
        thing = getattr(thing, part)
    return thing


def renamed_keywords(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that it also takes old names of keywords, with a warning.

    Examples
    --------
    >>> import warnings
    >>> @renamed_keywords(n_folds="cv")
    ... def split(cv=5):
    ...     return cv
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     split(n_folds=3)
    3
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            _rename(kwargs, renamed)
            return function(*args, **kwargs)

        return call

    return decorate


def _rename(kwargs: dict[str, Any], renamed: Mapping[str, str]) -> None:
    """Give keywords their new names, with a warning for each old one."""
    for old in sorted(renamed.keys() & kwargs.keys()):
        if renamed[old] in kwargs:
            raise TypeError(f"{old} is the old name of {renamed[old]}: give {renamed[old]} alone")
        warn_renamed(old, renamed[old], stacklevel=3)
        kwargs[renamed[old]] = kwargs.pop(old)


def graphs_first(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function of (graphs, target, kernel), so that it also takes (kernel, graphs, target).

    An estimator as first argument is the old order; it gives a warning. Keywords are renamed as by
    :func:`renamed_keywords`.

    Examples
    --------
    >>> import warnings, propkernels as pk
    >>> @graphs_first(data="graphs")
    ... def count(graphs, target=None, kernel=None):
    ...     return len(graphs), target, kernel
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     count(pk.P2K(), ["graph"], target=[1])
    (1, [1], P2K())
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            _rename(kwargs, renamed)
            if args and hasattr(args[0], "get_params"):
                name = function.__name__
                warn_renamed(
                    f"{name}(kernel, graphs, target)", f"{name}(graphs, target, kernel)", what="order"
                )
                kwargs["kernel"] = args[0]
                return function(*args[1:], **kwargs)  # type: ignore[arg-type]
            return function(*args, **kwargs)

        return call

    return decorate


def renamed_parameters(**renamed: str) -> Callable[[C], C]:
    """Decorate an estimator so that old names of parameters work: as keyword, in set_params, as attribute.

    ``get_params`` and the signature have the new names alone.
    """

    def decorate(cls: C) -> C:
        for name in ("__init__", "set_params"):
            setattr(cls, name, renamed_keywords(**renamed)(getattr(cls, name)))
        cls.__getattr__ = _read_old(renamed)  # type: ignore[attr-defined]
        cls.__setattr__ = _write_old(renamed)  # type: ignore[assignment]
        return cls

    return decorate


def _read_old(renamed: Mapping[str, str]) -> Callable[[Any, str], Any]:
    """Return a method that reads attributes by their old names, which ``dir`` does not list."""

    def __getattr__(self: Any, name: str) -> Any:
        if name not in renamed:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warn_renamed(name, renamed[name])
        return getattr(self, renamed[name])

    return __getattr__


def _write_old(renamed: Mapping[str, str]) -> Callable[[Any, str, Any], None]:
    """Return a method that writes attributes by their old names."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name in renamed:
            warn_renamed(name, renamed[name])
        object.__setattr__(self, renamed.get(name, name), value)

    return __setattr__
