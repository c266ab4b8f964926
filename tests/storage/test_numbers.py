"""Whole numbers in model files: every field of them says what it points to."""

import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils.stored import ANY_NUMBER
from propkernels.kernels import AttributeKernel, LabelHistogram, LabelHistogramFeatures
from propkernels.storage.classes import class_of, known_names
from propkernels.storage.invariants import always_learned, marks, pointers
from propkernels.storage.types import check_of, declared_types, fitted_types, is_estimator
from tests.storage.test_safety import (
    GRAPHS,
    MAKERS,
    fitted,
    forged,
    load_bytes,
    parts_of,
    to_file,
    use,
)

INTEGERS = [np.ones(2, dtype=kind) for kind in (np.int32, np.int64, np.uint64)]


def takes_integers(annotation):
    """Whether an array of integers, or a list of them, passes a check that not every array passes."""
    check = check_of(annotation)
    takes = any(check(sample) for array in INTEGERS for sample in (array, [array]))
    return (
        takes
        and not check(np.array(["text"]))
        and not check(["text"])
        and not check(np.ones(2, dtype=np.float32))
    )


def fields_of_whole_numbers(name):
    """Fields of a savable class, or attributes that fit leaves, that hold arrays of whole numbers."""
    cls = class_of(name)
    types = fitted_types(cls) if is_estimator(cls) else declared_types(cls)
    return [field for field, annotation in types.items() if takes_integers(annotation)]


@pytest.mark.parametrize("name", known_names())
def test_every_field_of_whole_numbers_is_offsets_indices_or_any_number(name):
    cls = class_of(name)
    for field in fields_of_whole_numbers(name):
        assert field in pointers(cls) or ANY_NUMBER in marks(cls)[field], field


def test_fields_of_whole_numbers_are_found():
    found = {f"{name}.{field}" for name in known_names() for field in fields_of_whole_numbers(name)}
    wanted = {"Segment.bin_ptr", "JoinedCounter.parts", "ShortestPath._train_ptr", "StreamCounts.codes"}
    assert wanted <= found


JOINED = pk.SumKernel([LabelHistogram(), pk.PropagationKernel(t_max=1, random_state=0)])
MORE = {
    "detector": lambda: pk.NoveltyDetector(random_state=0).fit(GRAPHS),
    "joined": lambda: pk.GraphIndex(kernel=JOINED).fit(GRAPHS),
    "features": lambda: pk.PropagationFeatures(t_max=1, random_state=0).fit(GRAPHS),
    "graphs": lambda: GRAPHS,
    "distributions": lambda: GRAPHS.with_labels(np.full((GRAPHS.n_nodes, 2), 0.5)),
}
OTHER_USES = {
    "detector": lambda model: model.score_samples(GRAPHS[:3]),
    "graphs": lambda graphs: LabelHistogram().fit_transform(graphs),
    "distributions": lambda graphs: pk.PropagationKernel(t_max=1, random_state=0).fit_transform(graphs),
}
MOST_ARRAYS = 6  # of a model


def other_numbers(array):
    """The same array with numbers that wrap around, are negative or huge, in another order, or missing."""
    least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    for values in ([most, max(least, -2)], [max(least, -1)], [most]):
        if array.size > len(values):
            changed = array.copy()
            changed.flat[1 : 1 + len(values)] = values
            yield changed
    yield from (array[::-1].copy(), array[:-1].copy(), np.concatenate([array, array[:1]]))


def forge_all():
    """Load and use every kind of model with other whole numbers; print what does not end in a sentence."""
    warnings.simplefilter("ignore")
    folder, n_cases, wrong = Path(tempfile.mkdtemp()), 0, []
    for name in [*MAKERS, *MORE]:
        whole = to_file(fitted(name) if name in MAKERS else MORE[name]())
        integers = [i for i, array in enumerate(parts_of(whole)[1]) if array.dtype.kind in "iu"]
        for number in integers[:MOST_ARRAYS]:
            for case, changed in enumerate(other_numbers(parts_of(whole)[1][number])):
                print(name, number, case, flush=True)  # the last line before a crash
                header, arrays = parts_of(whole)
                arrays[number] = changed
                n_cases += 1
                try:
                    with np.errstate(all="ignore"):
                        OTHER_USES.get(name, use)(load_bytes(forged(header, arrays), folder))
                except (ValueError, TypeError) as error:
                    if "\n" in str(error):
                        wrong.append(f"{name} {number} {case}: {error!r}")
                except Exception as error:
                    wrong.append(f"{name} {number} {case}: {error!r}")
    shutil.rmtree(folder)
    print(json.dumps({"n_cases": n_cases, "wrong": wrong}))


@pytest.mark.processes
@pytest.mark.slow
def test_no_other_whole_numbers_crash_or_end_in_an_error_of_the_interpreter():
    """In a process of its own, which loops that run out of their arrays would end."""
    code = "from tests.storage.test_numbers import forge_all; forge_all()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout[-200:], done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["n_cases"] > 200


FITS = {
    "LabelHistogram": lambda: LabelHistogram().fit(GRAPHS[:6]),
    "LabelHistogramFeatures": lambda: LabelHistogramFeatures().fit(GRAPHS[:6]),
    "AttributeKernel": lambda: AttributeKernel().fit(GRAPHS[:6]),
    "SumKernel": lambda: pk.SumKernel([LabelHistogram()]).fit(GRAPHS[:6]),
    "GraphIndex": lambda: pk.GraphIndex(kernel=LabelHistogram()).fit(GRAPHS[:6]),
}


@pytest.mark.parametrize("name", FITS)
def test_estimators_that_lack_what_fit_always_leaves_are_refused(name, tmp_path):
    model = FITS[name]()
    whole = to_file(model)
    assert always_learned(type(model))
    for attribute in always_learned(type(model)):
        header, arrays = parts_of(whole)
        del header["model"]["object"]["state"][attribute]
        with pytest.raises(pk.storage.ModelFileError, match=f"{name} lacks {attribute}"):
            load_bytes(forged(header, arrays), tmp_path)
