"""What the measured pages share: records in files of JSON lines, data in archives, tables and pages."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from joblib import Parallel, delayed

from reproduction.engine.cells import note_measured


@dataclass(frozen=True)
class Record:
    """What was measured, in the first ``n_keys`` fields, and what came out."""

    n_keys: ClassVar[int]

    @property
    def key(self) -> tuple[Any, ...]:
        """What distinguishes records."""
        return tuple(getattr(self, one.name) for one in fields(self)[: self.n_keys])


Kind = TypeVar("Kind", bound=Record)


def load_records(path: Path, kind: type[Kind]) -> list[Kind]:
    """Read the records that earlier runs have kept; none without a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [kind(**json.loads(line)) for line in lines]


def keep_records(records: Iterable[Any], path: Path) -> None:
    """Add records, which are dataclasses, to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(record)) + "\n" for record in records)
    note_measured(path)


def measure_missing(
    path: Path,
    kind: type[Kind],
    keys: Iterable[tuple[Any, ...]],
    measure: Callable[..., Kind],
    n_jobs: int = 1,
) -> list[Kind]:
    """Return all records of a file, after measuring what it lacks: a stopped run continues where it stopped.

    Parameters
    ----------
    path : Path
        Every record is added as soon as it is measured.
    kind : type
        Of the records.
    keys : iterable of tuple
        What is to be measured, as ``key`` of a record has it.
    measure : callable
        Gets the parts of a key, and returns its record.
    n_jobs : int
        Processes that measure.
    """
    records = load_records(path, kind)
    done = {record.key for record in records}
    missing = [key for key in keys if key not in done]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for record in parallel(delayed(measure)(*key) for key in missing):
        keep_records([record], path)
        records.append(record)
        report(json.dumps(asdict(record)))
    return records


def report(text: str) -> None:
    """Write a line of progress to stderr."""
    print(text, file=sys.stderr, flush=True)


def chosen_names(names: Sequence[str], known: Iterable[str], what: str = "data set") -> list[str]:
    """Return the names that are asked for, all without any; raise if one is not known."""
    everything = list(known)
    for name in names:
        if name not in everything:
            raise ValueError(f"the {what} {name!r} is not here: choose among {', '.join(everything)}")
    return list(names) or everything


def data_file(name: str) -> Path:
    """Return a file in the folder that PROPKERNELS_DATA names."""
    path = Path(os.environ.get("PROPKERNELS_DATA") or ".") / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: set PROPKERNELS_DATA to the folder that holds it")
    return path


def describe_model(model: Any) -> str:
    """Say what was chosen: the kernels, those that are averaged joined by "+", and what is set in them."""
    kernels = getattr(model.kernel_, "kernels", None) or [model.kernel_]
    found = [f"{name}={getattr(model, f'{name}_')}" for name in ("t_max", "normalize")]
    return f"{' + '.join(map(describe_kernel, kernels))}; {', '.join(found)}, C={model.C_:g}"


def describe_kernel(kernel: Any) -> str:
    """Return the name of a kernel with parameters that are not the default.

    Examples
    --------
    >>> import propkernels as pk
    >>> describe_kernel(pk.PropagationKernel(base_kernel="intersection", t_max=3, random_state=7))
    "PropagationKernel(base_kernel='intersection')"
    """
    common = ("random_state", "n_jobs", "t_max", "normalize")
    defaults = type(kernel)().get_params(deep=False)
    changed = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if name not in common and repr(value) != repr(defaults[name])
    }
    return f"{type(kernel).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def with_error(values: Sequence[float]) -> str:
    """Mean and standard error over the repeats; the mean alone where there is one repeat.

    Examples
    --------
    >>> with_error([84.0, 85.0, 86.0])
    '85.0 ± 0.6'
    """
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{error}"


def with_spread(values: Sequence[float], digits: int = 1) -> str:
    """Mean and standard deviation.

    Examples
    --------
    >>> with_spread([84.0, 86.0]), with_spread([84.0])
    ('85.0 ± 1.4', '84.0')
    """
    spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
