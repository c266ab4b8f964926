"""What is known of experiments: their sections, from the store alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from propkernels.paper.experiment import Experiment
from propkernels.paper.job import Job, Scope
from propkernels.paper.section import Section, State
from propkernels.paper.sources import AbsentDataError, load_source
from propkernels.paper.store import Store


@dataclass(frozen=True)
class Chapter:
    """An experiment with its sections."""

    experiment: Experiment
    sections: Sequence[Section]


def chapter(experiment: Experiment, store: Store, scope: Scope, absent: dict[str, str]) -> Chapter:
    """Return what a run in a scope has found, or left out."""
    return Chapter(experiment, experiment.sections(State(store, experiment.jobs(scope), absent)))


def everything(experiment: Experiment, store: Store, absent: dict[str, str]) -> Chapter:
    """Return all that the store knows of an experiment, from full and from quick runs."""
    full = list(experiment.jobs(Scope()))
    known = {cell for job in full for cell in job.cells}
    only_quick = [job for job in experiment.jobs(Scope(quick=True)) if not known.intersection(job.cells)]
    return Chapter(experiment, experiment.sections(State(store, full + only_quick, absent)))


def find_absent(jobs: Sequence[Job], store: Store) -> dict[str, str]:
    """Return the data sets that are not there, of those that cells without a value need."""
    needed = {job.dataset for job in jobs if job.dataset is not None and store.missing(job.cells)}
    absent = {}
    for name in sorted(needed):
        try:
            load_source(name)
        except AbsentDataError as error:
            absent[name] = str(error)
    return absent
