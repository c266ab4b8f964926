"""Audits of data sets: duplicates, leaks, baseline scores and suspected label errors."""

from propkernels.auditing.examine import audit
from propkernels.auditing.report import Audit

__all__ = ["Audit", "audit"]
