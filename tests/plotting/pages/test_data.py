"""embed_json: JSON that is safe inside a page."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.plotting.pages import embed_json


@pytest.mark.slow
@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_embedded_json_is_json_without_markup(value):
    text = str(embed_json(value))
    assert json.loads(text) == value
    assert not set(text) & set("<>&'")


def test_embedded_json_takes_arrays_and_refuses_what_json_cannot_hold():
    assert json.loads(str(embed_json({"a": np.arange(3), "b": np.float64(0.5)}))) == {
        "a": [0, 1, 2],
        "b": 0.5,
    }
    with pytest.raises(ValueError, match="JSON"):
        embed_json([float("nan")])
    with pytest.raises(TypeError, match="got object"):
        embed_json(object())
