"""Files of features: columns and metadata."""

import pyarrow.parquet as pq

import propkernels as pk


def test_files_say_what_they_hold(plan, features, tmp_path):
    opened = pk.featurize(plan, features, tmp_path / "out")
    schema = pq.read_schema(opened.path(0))
    assert [str(field.type) for field in schema] == [
        "int64",
        "list<element: uint32>",
        "list<element: uint32>",
        "string",
        "int64",
    ]
    notes = schema.metadata[b"propkernels"].decode()
    for text in ("PropagationFeatures", '"random_state":0', f'"version":"{pk.__version__}"', '"t_max":2'):
        assert text in notes
    assert opened.parameters["parameters"]["labels"] == "node"
