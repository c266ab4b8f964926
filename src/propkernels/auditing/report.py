"""Audit: findings as numbers and sentences, exported as a page, Markdown or JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propkernels._utils.safe_files import Pathlike, atomic_write
from propkernels._utils.typing import LabelNames, Record
from propkernels.auditing.duplicates import NearDuplicates, Sameness
from propkernels.auditing.learnability import Learning
from propkernels.auditing.sentences import Sentence
from propkernels.auditing.statistics import Statistics
from propkernels.auditing.suspects import Suspects
from propkernels.auditing.target import Target
from propkernels.graphs.database import GraphDatabase

FORMATS = (".html", ".json", ".md")


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    r"""Findings of an audit, returned by :func:`propkernels.audit`.

    Attributes
    ----------
    name : str
        Name of the data set.
    statistics : Statistics
        Sizes, degrees, components, labels, attributes and the target.
    sameness : Sameness
        Duplicates, conflicts, leaks, and the graphs that t steps distinguish.
    near : NearDuplicates
    learning : Learning or None
        Scores, by t and by training size, and calibration; None without a target.
    suspects : Suspects or None
        Graphs that are misclassified in every cross-validation.
    sample : tuple of int or None
        Positions of the compared and scored graphs; None: all.
    t_max : int
    kernel : str
        The ``repr`` of the kernel.
    random_state : int
    seconds, processor_seconds : float
        Wall time and processor time.
    sentences : tuple of Sentence
        The findings.
    graphs, target, label_names
        The data; not part of ``to_dict``.

    See Also
    --------
    audit : Returns an Audit.

    References
    ----------
    .. [1] S. Ivanov, S. Sviridov and E. Burnaev (2019). Understanding isomorphism bias in graph data sets.
       arXiv:1910.12091.

    Examples
    --------
    >>> import propkernels as pk
    >>> report = pk.audit(pk.datasets.make_molecules(60, random_state=0))
    >>> report.sameness.duplicates.n_graphs, sorted(report.to_dict())[:3]
    (0, ['kernel', 'learning', 'name'])
    >>> print(report.to_markdown().splitlines()[0])
    # Audit of make\_molecules
    """

    name: str
    statistics: Statistics
    sameness: Sameness
    near: NearDuplicates
    learning: Learning | None
    suspects: Suspects | None
    sample: tuple[int, ...] | None
    t_max: int
    kernel: str
    random_state: int
    seconds: float
    processor_seconds: float
    sentences: tuple[Sentence, ...]
    graphs: GraphDatabase = field(metadata={"is_data": True})
    target: Target | None = field(metadata={"is_data": True})
    label_names: LabelNames = field(metadata={"is_data": True})

    def to_dict(self) -> Record:
        """Return all numbers and sentences as dicts, lists and plain values."""
        return {
            part.name: _plain(getattr(self, part.name))
            for part in fields(self)
            if not part.metadata.get("is_data")
        }

    def to_json(self) -> str:
        """Return all numbers and sentences as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_markdown(self) -> str:
        """Return sentences and tables as Markdown."""
        from propkernels.auditing.rendering import markdown

        return markdown(self)

    def to_html(self) -> str:
        """Return a self-contained page with sentences, tables, charts and drawings."""
        from propkernels.auditing.rendering import page

        return page(self)

    def save(self, path: Pathlike) -> None:
        """Write a report in the format given by the file suffix.

        Parameters
        ----------
        path : str or path
            ``.html``: a page; ``.md``: Markdown; ``.json``: all numbers.
        """
        kind = Path(path).suffix.lower()
        if kind not in FORMATS:
            raise ValueError(f"the file name must end with {', '.join(FORMATS)}; got {str(path)!r}")
        makers = {".html": self.to_html, ".md": self.to_markdown, ".json": self.to_json}
        text = makers[kind]()
        with atomic_write(path, text=True) as stream:
            stream.write(text if text.endswith("\n") else text + "\n")

    def __str__(self) -> str:
        return "\n".join([f"Audit of {self.name}", *(f"- {sentence.text}" for sentence in self.sentences)])

    def __repr__(self) -> str:
        n_graphs, n_duplicates = self.statistics.n_graphs, self.sameness.duplicates.n_graphs
        return f"Audit({self.name}: {n_graphs} graphs, {n_duplicates} with a duplicate)"

    def _repr_html_(self) -> str:
        from propkernels.auditing.rendering import fragment

        return fragment(self)


def _plain(value: Any) -> Any:
    """Return a value as dicts, lists and scalars; NaN and infinity become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
