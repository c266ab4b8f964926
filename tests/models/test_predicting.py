"""Predictions of a feature folder, one Parquet file per part."""

import hashlib
import json
import os

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import propkernels as pk
from propkernels.models.exact_sums import LOSSES
from tests.models.feature_rows import molecules, rows


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_predictions_of_parts(folder, tmp_path, loss):
    pq = pytest.importorskip("pyarrow.parquet")
    model = pk.LinearModel(loss=loss).fit(folder)
    files = model.predict_parts(folder, tmp_path / "out")
    assert len(files) == folder.n_parts
    tables = [pq.read_table(file).to_pydict() for file in files]
    column = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    assert np.array_equal(column["graph_id"], np.arange(120))
    assert np.array_equal(column["prediction"], model.predict(rows()))
    if loss == "logistic":
        assert np.array_equal(column["probability_1"], model.predict_proba(rows())[:, 1])
    if loss == "squared_hinge":
        assert np.array_equal(column["decision_1"], model.decision_function(rows()))


def test_verify_reads_every_number_of_predictions(folder, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file, *_ = pk.LinearModel().fit(folder).predict_parts(folder, tmp_path / "out")
    assert pk.verify(tmp_path / "out").n_graphs == 120
    table = pq.read_table(file)
    pq.write_table(table.set_column(0, "graph_id", pa.array(np.arange(table.num_rows) - 2**40)), file)
    manifest = tmp_path / "out" / "manifest.json"
    known = json.loads(manifest.read_text())
    data, n_before = file.read_bytes(), known["parts"][0]["n_bytes"]
    known["parts"][0] |= {"n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest.write_text(json.dumps(known | {"n_bytes": known["n_bytes"] + len(data) - n_before}))
    with pytest.raises(ValueError, match=r"graph_id of .* must be numbers from 0 to .*, got -1099511627776"):
        pk.verify(tmp_path / "out")


def test_predictions_are_resumed_and_those_of_another_model_refused(folder, tmp_path):
    model, out = pk.LinearModel().fit(folder), tmp_path / "out"
    files = model.predict_parts(folder, out)
    before = {file: file.read_bytes() for file in files}
    files[1].unlink()
    model.predict_parts(folder, out)
    assert {file: file.read_bytes() for file in files} == before
    with pytest.raises(ValueError, match="holds other results"):
        pk.LinearModel(C=2.0).fit(folder).predict_parts(folder, out)
    assert {file: file.read_bytes() for file in files} == before
    narrow = pk.LinearModel().fit(rows()[:, :5], molecules().target)
    with pytest.raises(ValueError, match="the model has 5 columns, the features 1024"):
        narrow.predict_parts(folder, tmp_path / "other")
    with pytest.raises(NotFittedError):
        pk.LinearModel().predict_parts(folder, tmp_path / "other")
    assert sorted(os.listdir(tmp_path)) == ["out"]
