"""Trees that no encoder wrote are refused."""

import numpy as np
import pytest

from propkernels.storage.codec import Decoder

ARRAYS = [np.arange(3), np.array([0, 1, 2, 3]), np.ones(3)]


def decode(tree):
    return Decoder(ARRAYS.__getitem__).decode(tree)


@pytest.mark.parametrize(
    "tree",
    [
        {"unknown": 1},
        {"tuple": [], "set": []},
        {},
        {"tuple": "ab"},
        {"float": "1.5"},
        {"same": 0},
        {"same": -1},
        {"same": True},
        {"bytes": "not base64!"},
        {"array": 7},
        *({"array": number} for number in ({}, [], "x", None)),
        {"object": {"class": "os.system", "state": {}}},
        {"object": {"class": "propkernels.graphs.database.GraphDatabase", "state": {}}},
        {"sparse": {"format": "csr", "shape": [1, 1], "data": 2, "indices": 0, "indptr": 1}},
        {"random state": {"dict": []}},
    ],
    ids=str,
)
def test_other_trees_are_refused(tree):
    with pytest.raises(Exception) as caught:
        decode(tree)
    assert not isinstance(caught.value, (SystemExit, MemoryError, RecursionError))
