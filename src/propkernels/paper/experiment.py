"""Experiment: one table or figure of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from propkernels.paper.job import Job, Scope
from propkernels.paper.published import read_package_file
from propkernels.paper.section import Section, State


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name : str
        What the command calls it.
    title : str
        What the paper calls it.
    jobs : callable
        What is to be computed in a scope.
    sections : callable
        Tables and figures, from what is known.
    """

    name: str
    title: str
    jobs: Callable[[Scope], Sequence[Job]]
    sections: Callable[[State], Sequence[Section]]

    @property
    def about(self) -> str:
        """How it is measured."""
        found = read_package_file("about.toml").get(self.name, {})
        return str(found.get("about", ""))
