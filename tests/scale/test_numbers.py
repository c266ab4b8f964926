"""Whole numbers in plans, manifests, parts and sources: forged ones give one sentence, and never a crash."""

import hashlib
import json

import numpy as np
import pytest

import propkernels as pk

from .conftest import contents

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


HUGE = (2**31, 2**63 - 1, 2**63, 2**64, 10**30)


OTHERS = (-1, -(2**63), *HUGE, 1.5, True, None, "1", [1])


@pytest.fixture(scope="module")
def whole(plan, tmp_path_factory):
    out = tmp_path_factory.mktemp("numbers") / "out"
    pk.featurize(plan, pk.PropagationFeatures(n_features=1024, t_max=1, random_state=0), out)
    return out


@pytest.fixture
def out(whole, tmp_path):
    """A folder of features whose files may be changed."""
    for name, data in contents(whole).items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def places(tree):
    """All whole numbers of a tree of JSON, as (holder, key); of a list, those of its first entry."""
    items = tree.items() if isinstance(tree, dict) else list(enumerate(tree))[:1]
    for key, part in items:
        if isinstance(part, (dict, list)):
            yield from places(part)
        elif type(part) is int:
            yield tree, key


def is_sentence(call):
    """Whether a call succeeds, or ends in an error of one line that names a file or a number."""
    try:
        call()
    except (ValueError, TypeError, OSError) as error:
        return "\n" not in str(error) and len(str(error)) > 20
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan.json", "manifest.json"])
@pytest.mark.parametrize("value", OTHERS, ids=repr)
def test_every_number_of_plans_and_manifests(out, name, value):
    text = (out / name).read_text()
    n_places = len(list(places(json.loads(text))))
    assert n_places >= 4
    for i in range(n_places):
        tree = json.loads(text)
        holder, key = list(places(tree))[i]
        holder[key] = value
        (out / name).write_text(json.dumps(tree))
        for call in (lambda: pk.verify(out), lambda: pk.open_features(out).to_scipy()):
            assert is_sentence(call), key


def resealed(out, path):
    """Write the new size and hash of a part into the manifest."""
    manifest = out / "manifest.json"
    known, data = json.loads(manifest.read_text()), path.read_bytes()
    receipt = next(part for part in known["parts"] if part["name"] == path.name)
    known["n_bytes"] += len(data) - receipt["n_bytes"]
    receipt |= {"n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest.write_text(json.dumps(known))


def lists_of(column, values):
    """The lists of a column, with other values."""
    chunk = column.combine_chunks()
    return pa.ListArray.from_arrays(chunk.offsets, pa.array(values, type=column.type.value_type))


PARTS = {
    "ids that wrap around": ("graph_id", lambda c: pa.array([2**63 - 1, -2, *range(len(c) - 2)])),
    "negative ids": ("graph_id", lambda c: pa.array(np.arange(len(c)) - 5)),
    "missing ids": ("graph_id", lambda c: pa.array([None] * len(c), type=pa.int64())),
    "columns outside": ("indices", lambda c: lists_of(c, np.asarray(c.combine_chunks().flatten()) + 2**31)),
    "counts that are no numbers": ("counts", lambda c: pa.array([None] * len(c), type=c.type)),
}


@pytest.mark.parametrize("fault", PARTS)
def test_forged_parts_are_refused(out, fault):
    name, change = PARTS[fault]
    path = out / json.loads((out / "manifest.json").read_text())["parts"][0]["name"]
    table = pq.read_table(path)
    place = table.column_names.index(name)
    pq.write_table(table.set_column(place, name, change(table.column(name))), path)
    resealed(out, path)
    with pytest.raises(ValueError, match=path.name) as caught:
        pk.verify(out)
    assert "\n" not in str(caught.value)
