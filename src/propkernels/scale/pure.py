"""Features that are a pure function of each graph, so that parts can be computed independently."""

from __future__ import annotations

import copy
import hashlib
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone

from propkernels._utils.checks import shown
from propkernels._utils.typing import Record
from propkernels._version import __version__
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.propagation.initial import label_source

WITHOUT_EFFECT = ("n_jobs", "device", "output", "sparse_output")  # parameters that do not change the files
FIT_FIRST = "fit them on a sample of graphs first, features.fit(graphs)"


@dataclass(frozen=True)
class PureFeatures:
    """Fitted features whose values do not depend on machine, process or order of computation.

    Attributes
    ----------
    estimator : CountFeatures
        Fitted estimator with ``n_features``: bins are hashed into columns.
    description : dict
        Class, parameters and version, as JSON; with a hash of the learned state if the user fitted it.
    is_whole : bool
        Whether all feature values are integers.
    needs_labels : {"", "some", "one", "all"}
        Whether graphs need node labels ("some"), and whether one of each graph ("one") or all of them
        must be observed.
    """

    estimator: CountFeatures
    description: Record
    is_whole: bool
    needs_labels: str

    def transform(self, graphs: GraphDatabase) -> csr_array:
        """Return the features of graphs; raise ValueError if required labels are missing."""
        column = graphs.label_column
        if self.needs_labels and column is None and graphs.n_nodes:
            raise ValueError("these graphs have no node labels, but the graphs of the first part have them")
        if self.needs_labels in ("all", "one") and column is not None:
            observed = np.bincount(graphs.graph_ids, column.observed, len(graphs))
            wanted = graphs.graph_sizes if self.needs_labels == "all" else np.minimum(graphs.graph_sizes, 1)
            for graph in np.flatnonzero(observed < wanted)[:1].tolist():
                what = "a node without a label" if self.needs_labels == "all" else "no label at all"
                raise ValueError(
                    f"graph {graph} of a block has {what}, so initial distributions of unobserved nodes must "
                    f"be learned: {FIT_FIRST}"
                )
        return csr_array(self.estimator.transform(graphs))


def pure_features(features: Any, sample: GraphDatabase) -> PureFeatures:
    """Return features as :class:`PureFeatures`; raise an error if they depend on the order of parts.

    Parameters
    ----------
    features : estimator
        With ``n_features``. A fitted estimator is used unchanged. Otherwise "auto" is resolved on the sample,
        and parameters that need learning raise ValueError.
    sample : GraphDatabase
        Graphs of the first part.
    """
    if not isinstance(features, CountFeatures):
        raise TypeError(
            "features must be PropagationFeatures, WeisfeilerLehmanFeatures, ShortestPathFeatures or "
            f"LabelHistogramFeatures with n_features, got {shown(features)}"
        )
    if features.n_features is None:
        raise ValueError(
            "features with n_features=None number bins in order of appearance, so parts would disagree: "
            f"hash them, {type(features).__name__}(n_features=2**20)"
        )
    is_fitted = hasattr(features, "_coder")
    estimator = copy.copy(features) if is_fitted else _resolved(features, sample)
    parameters = estimator.get_params(deep=False)
    usual = {"n_jobs": 1, "output": "host", "sparse_output": True}
    estimator.set_params(**{name: value for name, value in usual.items() if name in parameters})
    if not is_fitted:
        estimator.fit(sample)
    lasting = [name for name in sorted(parameters) if name not in WITHOUT_EFFECT]
    description: Record = {
        "version": __version__,
        "estimator": type(estimator).__name__,
        "parameters": {name: described(parameters[name], name) for name in lasting},
        "n_features": int(features.n_features),
    }
    if is_fitted:
        description["fitted"] = digest_of(estimator._coder, "_coder")
    streams = estimator._counter.count(sample, None)
    is_whole = not estimator.normalize and all(stream.weight == 1.0 for stream in streams)
    needs = "some"
    if "prior" in parameters:
        scheme = parameters["propagation"]
        needs = "one" if isinstance(scheme, str) and scheme == "auto" else "all"
    needs = "" if is_fitted or parameters["labels"] != "node" else needs
    return PureFeatures(estimator, description, is_whole, needs)


def _resolved(features: CountFeatures, sample: GraphDatabase) -> CountFeatures:
    """Return a clone with "auto" resolved; raise ValueError if fit would learn from the graphs."""
    parameters = features.get_params(deep=False)
    if parameters.get("attributes") is not None:
        raise ValueError(f"features of attributes learn their scale: {FIT_FIRST}")
    seed = parameters.get("random_state", 0)
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral):
        raise ValueError(
            "random_state must be an integer, so that all parts and later runs have the same hash "
            f"functions; got {shown(seed)}"
        )
    estimator: CountFeatures = clone(features)
    return estimator.set_params(labels=label_source(sample, parameters["labels"]))


def digest_of(value: Any, name: str) -> str:
    """Return the SHA-256 of a description; stored in files, so it must never change."""
    return hashlib.sha256(repr(described(value, name)).encode("utf-8", "surrogatepass")).hexdigest()


def described(value: Any, name: str) -> Any:
    """Return a parameter as JSON, equal in every process.

    Examples
    --------
    >>> import propkernels as pk
    >>> described(pk.propagation.Diffusion(laziness=0.5), "propagation")["parameters"]["laziness"]
    0.5
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (list, tuple)):
        return [described(item, name) for item in value]
    if isinstance(value, Mapping):
        pairs = [[described(key, name), described(item, name)] for key, item in value.items()]
        return {"mapping": sorted(pairs, key=repr)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        array = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(array.tobytes()).hexdigest(), "type": f"{array.dtype} {array.shape}"}
    state = _state(value)
    if state is None:
        raise TypeError(
            f"{name}={shown(value)} cannot be written down, so results could not be distinguished"
        )
    return {"class": type(value).__name__, "parameters": {k: described(v, k) for k, v in state.items()}}


def _state(value: Any) -> dict[str, Any] | None:
    """Return parameters of an estimator or fields of a dataclass; None for other objects."""
    if isinstance(value, BaseEstimator):
        parameters: dict[str, Any] = value.get_params(deep=False)
        return parameters
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return None
