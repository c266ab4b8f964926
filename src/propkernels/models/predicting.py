"""Classes and probabilities from decisions; predictions of a folder, one Parquet file per part."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from propkernels._utils.optional import import_optional
from propkernels.scale.folder import PLAN, part_name
from propkernels.scale.opened import FeatureFolder
from propkernels.scale.part_files import check_ids, open_parquet_part, read_block
from propkernels.scale.plan import Part, Plan
from propkernels.scale.run_parts import run_parts

PARQUET: dict[str, Any] = {"extra": "parquet", "purpose": "Parquet files need"}
Values = NDArray[np.float64]


def scores_of(features: csr_array, coefficients: Values, intercepts: Values) -> Values:
    """Return the decisions, (n, decisions)."""
    return np.asarray(features @ coefficients.T + intercepts)


def class_numbers(scores: Values) -> NDArray[np.int64]:
    """Return the class number of each row of decisions."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.argmax(scores, axis=1)


def probabilities_of(scores: Values) -> Values:
    """Return class probabilities from logistic decisions, one-vs-rest."""
    positive = expit(scores)
    if scores.shape[1] == 1:
        return np.column_stack([1 - positive[:, 0], positive[:, 0]])
    total = positive.sum(axis=1, keepdims=True)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1 / scores.shape[1])


@dataclass(frozen=True)
class PredictionWork:
    """Work that predicts the graphs of a part; see :class:`propkernels.scale.run_parts.Work`.

    Attributes
    ----------
    folder : str
        Folder of the features.
    features : dict
        Class, parameters and version of the feature estimator.
    coefficients : ndarray, (decisions, columns)
    intercepts : ndarray, (decisions,)
    classes : list or None
        Names of the classes; None for regression.
    is_logistic : bool
    n_jobs : int or None
    """

    folder: str
    features: dict[str, Any]
    coefficients: Values
    intercepts: Values
    classes: list[Any] | None
    is_logistic: bool
    n_jobs: int | None = None
    suffix: str = ".parquet"

    def describe(self) -> dict[str, Any]:
        """Return the description of features and model."""
        digest = hashlib.sha256(self.coefficients.tobytes() + self.intercepts.tobytes())
        digest.update(repr((self.coefficients.shape, self.classes, self.is_logistic)).encode())
        return {"work": "predictions", "features": self.features, "model": digest.hexdigest()}

    def write(self, part: Part, name: str, stream: IO[bytes]) -> None:
        """Write the predictions of a part."""
        pa = import_optional("pyarrow", **PARQUET)
        pq = import_optional("pyarrow.parquet", **PARQUET)
        source = Path(self.folder) / part_name(self.features, part, ".parquet")
        block = read_block(source, self.coefficients.shape[1])
        table = pa.table({"graph_id": block.ids, **self._columns(block.features)})
        notes = {b"propkernels": json.dumps({"name": name}).encode()}
        pq.write_table(table.replace_schema_metadata(notes), stream, compression="zstd")

    def _columns(self, features: csr_array) -> dict[str, Any]:
        scores = scores_of(features, self.coefficients, self.intercepts)
        if self.classes is None:
            return {"prediction": scores[:, 0]}
        word, named, values = "decision", self.classes, scores
        if self.is_logistic:
            word, values = "probability", probabilities_of(scores)
        elif len(named) == 2:
            named = named[1:]
        columns = {f"{word}_{name}": column for name, column in zip(named, values.T, strict=True)}
        return {"prediction": np.array(self.classes)[class_numbers(scores)], **columns}

    def inspect(self, part: Part, name: str, path: Path) -> dict[str, int]:
        """Return the number of predictions in a file."""
        with open_parquet_part(path) as file:
            return {"n_graphs": int(file.metadata.num_rows)}

    @staticmethod
    def check(path: Path, part: Part, work: dict[str, Any]) -> dict[str, int]:
        """Read all values of a file, and return the number of predictions."""
        with open_parquet_part(path, check=True) as file:
            table = file.read(use_threads=False)
        if not {"graph_id", "prediction"} <= set(table.column_names) or table.column("graph_id").null_count:
            raise ValueError(f"{path} does not contain predictions: remove it and run again")
        check_ids(table.column("graph_id").to_numpy(), part, path)
        return {"n_graphs": int(table.num_rows)}


def predict_folder(model: Any, features: FeatureFolder, out: Any, executor: Any) -> list[Path]:
    """Write the predictions of all parts, and return the files."""
    classes = getattr(model, "classes_", None)
    work = PredictionWork(
        str(features.folder.resolve()),
        features.parameters,
        np.atleast_2d(model.coef_),
        model.intercept_,
        None if classes is None else classes.tolist(),
        model.loss == "logistic",
        model.n_jobs,
    )
    plan = Plan.load(features.folder / PLAN)
    manifest = run_parts(plan, work, out, executor, text="Predicting")
    return [Path(out) / receipt.name for receipt in manifest.receipts if receipt is not None]
