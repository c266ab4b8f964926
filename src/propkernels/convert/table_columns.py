"""One rule for the columns of tables of edges and nodes, in every reader of tables.

Keys (graph, node, source, target) and weights are named by the caller or have usual names. The label is what
the caller names; else a column with a usual name; else the columns of text, of which several make tuples. A
column of texts that are nearly all different holds names, not labels. Columns of numbers are attributes. What
is left is not used, and a warning names it, unless the caller has named what to use.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.arrays import object_array
from propkernels._utils.cells import is_missing
from propkernels._utils.checks import shown

AUTO = "auto"
USUAL_LABELS = {
    "nodes": ("label", "node_label", "type", "kind", "element", "symbol"),
    "edges": ("label", "edge_label", "type", "kind", "relation"),
}
USUAL_WEIGHTS = ("weight", "weights")
FEW_NAMES = 20  # different texts that are labels, however few rows there are
NUMBERS = (bool, int, float, np.number, np.bool_)


class Roles(NamedTuple):
    """Columns of labels, of attributes and of weights."""

    labels: list[Any]
    attributes: list[Any]
    weight: Any = None


def column_roles(
    table: Any,
    kind: str,
    keys: Iterable[Hashable],
    label: Any = AUTO,
    attributes: Any = AUTO,
    weight: Any = AUTO,
    advice: str = "name a column as label to use it",
) -> Roles:
    """Return what the columns of a table are used for; warn of those that are not used.

    Parameters
    ----------
    table : DataFrame or mapping of names to columns
    kind : {"nodes", "edges"}
    keys : iterable
        Columns that identify graphs and nodes.
    label, attributes, weight : str, sequence of str or None
        Columns that the caller names; None: none; "auto": by the rule of this module.
    advice : str
        What to do with columns that are not used.

    Examples
    --------
    >>> table = {"node": [0, 1], "element": ["C", "O"], "mass": [12.0, 16.0]}
    >>> column_roles(table, "nodes", ["node"])
    Roles(labels=['element'], attributes=['mass'], weight=None)
    """
    taken = set(keys)
    kinds = {name: kind_of_column(table[name]) for name in table if name not in taken}
    return roles_of(kinds, kind, label, attributes, weight, advice)


def roles_of(
    kinds: Mapping[Any, str], kind: str, label: Any, attributes: Any, weight: Any, advice: str
) -> Roles:
    """Return what columns are used for, as :func:`column_roles`, given what each of them holds.

    "some numbers" are those of some rows only, which are not used.
    """
    if kind == "nodes":
        weight = None
    elif is_auto(weight):
        weight = find_usual(kinds, USUAL_WEIGHTS)
    free = [name for name in kinds if name != weight]
    labels = names_in(label)
    if is_auto(label):
        usual = find_usual(free, USUAL_LABELS[kind])
        labels = [name for name in free if kinds[name] == "text"] if usual is None else [usual]
    numbers = names_in(attributes)
    if is_auto(attributes):
        numbers = [name for name in free if kinds[name] == "numbers" and name not in labels]
    of_numbers = dict.fromkeys(("numbers", "some numbers"), is_auto(attributes))
    unused = [n for n in free if n not in {*labels, *numbers} and of_numbers.get(kinds[n], is_auto(label))]
    if unused:
        warn_unused(unused, kind, advice)
    return Roles(labels, numbers, weight)


def names_in(names: str | Sequence[str] | None) -> list[str]:
    """Return names of columns as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def is_auto(value: object) -> bool:
    """Whether a parameter that names columns is "auto"."""
    return isinstance(value, str) and value == AUTO


def warn_unused(names: Sequence[Any], kind: str, advice: str, stacklevel: int = 4) -> None:
    """Warn of columns that are not used."""
    columns = f"the column {names[0]!r} of {kind} is" if len(names) == 1 else ""
    columns = columns or f"the columns {shown(list(names))} of {kind} are"
    warnings.warn(f"{columns} not used: {advice}", stacklevel=stacklevel)


def warn_of_numbers(edges: Any, used: Iterable[Any]) -> None:
    """Warn of columns of numbers of edges that models of nodes do not use."""
    unused = [name for name in edges if name not in used and kind_of_column(edges[name]) == "numbers"]
    if unused:
        warn_unused(unused, "edges", 'call a column "weight" to weigh edges by it')


def find_usual(names: Iterable[Any], usual: Sequence[str]) -> Any:
    """Return the first usual name that a table has, in any case; None if it has none."""
    known = {str(name).casefold(): name for name in reversed(list(names))}
    return next((known[name] for name in usual if name in known), None)


def kind_of_column(column: Any) -> str:
    """Return "numbers", "text", "names" (texts that are nearly all different) or "other".

    Examples
    --------
    >>> kind_of_column([1, None, 2.5]), kind_of_column(["a", None, "b"]), kind_of_column([[1], [2]])
    ('numbers', 'text', 'other')
    >>> kind_of_column([f"person {i}" for i in range(30)])
    'names'
    """
    values = np.asarray(column) if hasattr(column, "dtype") else object_array(column)
    is_category = str(getattr(column, "dtype", "")) == "category"
    if values.dtype.kind in "biuf" and not is_category:
        return "numbers"
    if values.dtype.kind not in "OUT" and not is_category:
        return "other"
    present = values[~is_missing(values)].tolist()
    if not is_category:
        if all(isinstance(value, NUMBERS) for value in present):
            return "numbers"
        if not all(isinstance(value, (str, *NUMBERS)) for value in present):
            return "other"
    return "names" if len(set(present)) > max(FEW_NAMES, len(present) / 2) else "text"


def joined_labels(table: Mapping[Any, Any] | Any, columns: Sequence[Any]) -> Any:
    """Return one column of labels: that of one name, tuples of several, None of none.

    Rows without any of several labels have none.
    """
    if len(columns) < 2:
        return table[columns[0]] if columns else None
    several = [np.array(table[name], dtype=object) for name in columns]
    for values in several:
        values[is_missing(values)] = None
    return tuples_of(zip(*several, strict=True))


def tuples_of(rows: Iterable[tuple[Any, ...]]) -> Any:
    """Return tuples as an array of labels; None, a missing label, for those of None alone."""
    return object_array([None if all(part is None for part in row) else row for row in rows])
