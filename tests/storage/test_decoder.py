"""Trees that no encoder wrote are refused."""

import numpy as np
import pytest

from propkernels.storage.codec import Decoder

ARRAYS = [np.arange(3), np.array([0, 1, 2, 3]), np.ones(3)]


def decode(tree):
    return Decoder(ARRAYS.__getitem__).decode(tree)


def test_arrays_are_read_once_and_sparse_matrices_get_their_own():
    decoder = Decoder(lambda number: ARRAYS[number].copy())
    first, second = decoder.decode([{"array": 2}, {"array": 2}])
    assert first is second
    content = {"format": "csr", "shape": [3, 4], "data": 2, "indices": 0, "indptr": 1}
    matrix = decoder.decode({"sparse": content})
    assert matrix.data is not first
    assert matrix.toarray().tolist() == np.eye(3, 4).tolist()


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
