"""Audits of data sets: duplicates, leaks, baselines, scores and suspected label errors."""

from propkernels.auditing.examine import audit as audit
from propkernels.auditing.report import Audit as Audit
