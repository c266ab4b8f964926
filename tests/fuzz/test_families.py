"""The families reach what is public, and a few cases of each find nothing."""

import io
import json
import warnings
from zipfile import ZipFile

import pytest

from fuzz import adapters
from fuzz.cases import outcome_of
from fuzz.families import FAMILIES, case_of, module_of, run
from fuzz.models import file_of, kinds
from propkernels.storage.classes import known_names

SLOW = ("pages", "commands", "tables", "targets", "saving", "parts")


def classes_in(tree):
    """Names of classes in the JSON of a model file."""
    if isinstance(tree, dict):
        found = {tree["class"]} if isinstance(tree.get("class"), str) else set()
        return found.union(*(classes_in(value) for value in tree.values()))
    return set().union(*(classes_in(value) for value in tree)) if isinstance(tree, list) else set()


def test_every_public_adapter_is_given_graphs_that_lie():
    assert adapters.missing() == set()


@pytest.mark.slow
def test_learners_and_their_parts_are_among_the_forged_models():
    found = set()
    for name in kinds():
        with ZipFile(io.BytesIO(file_of(name))) as archive:
            found |= classes_in(json.loads(archive.read("model.json")))
    learners = {
        name for name in known_names() if name.endswith(("Rule", "Score", "Model", "Classifier", "Regressor"))
    }
    learners -= {"FoldedRule", "KernelRule", "SumRule"}  # of files that version 0.1 wrote
    assert learners | {"CategoryPrior", "NoveltyDetector", "GraphIndex", "Pipeline", "GraphDatabase"} <= found


def test_a_number_stands_for_one_case():
    drawn = [case_of(number) for number in range(300)]
    assert list(map(str, drawn)) == [str(case_of(number)) for number in range(300)]
    assert len({case.family for case in drawn}) > 8


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in FAMILIES]
)
def test_a_few_cases_find_nothing(name):
    n_cases = 3 if name in SLOW else 25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(n_cases):
            case = module_of(name).draw(number)
            outcome = outcome_of(lambda case=case: run(case))
            assert not outcome.is_finding, f"{case}: {outcome.kind} in {outcome.where}: {outcome.text}"
