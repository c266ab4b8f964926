"""Experiment: one table or figure of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from propkernels.paper.job import Job, Scope
from propkernels.paper.section import Section
from propkernels.paper.store import Store


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name : str
        What the command calls it.
    title : str
        What the paper calls it.
    about : str
        How it is measured, for the report.
    jobs : callable
        What is to be computed in a scope.
    sections : callable
        Tables and figures, from what the store holds; see :class:`Section`.
    """

    name: str
    title: str
    about: str
    jobs: Callable[[Scope], Sequence[Job]]
    sections: Callable[[Store, Sequence[Job]], Sequence[Section]]
