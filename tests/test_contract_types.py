"""Types of all public signatures: every parameter has one, and none of them is Any."""

import inspect
import re

import pytest

from tests.public_names import members, public


def functions():
    """Public functions and methods of this package, by qualified name."""
    found = {}
    for thing in public().values():
        parts = [thing]
        if inspect.isclass(thing):
            parts = [inspect.getattr_static(thing, name) for name in [*members(thing), "__init__"]]
        for function in map(inspect.unwrap, map(_function_of, parts)):
            if inspect.isfunction(function) and function.__module__.startswith("propkernels."):
                found[function.__qualname__] = function
    return found


def _function_of(part):
    """The function behind a classmethod, staticmethod, property or cached property."""
    for name in ("__func__", "fget", "func"):
        part = getattr(part, name, part)
    return part


FUNCTIONS = functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_has_a_type_that_says_something(name):
    """Results may be ``X | Any`` if their kind depends on an argument; ``**options`` are handed on."""
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    types = {
        part.name: part.annotation for part in signature.parameters.values() if part.kind != part.VAR_KEYWORD
    }
    types.pop("self", types.pop("cls", None))
    assert inspect.Parameter.empty not in types.values()
    assert not [each for each, text in types.items() if re.search(r"\bAny\b", str(text))]
    assert not re.search(r"\bAny\b", str(signature.return_annotation).removesuffix(" | Any"))


def test_functions_are_found():
    assert {"evaluate", "PropagationKernel.__init__", "GraphIndex.add", "Container.take"} <= FUNCTIONS.keys()
    assert len(FUNCTIONS) > 200
