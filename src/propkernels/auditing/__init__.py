"""Auditing: what to know about a data set before believing an accuracy on it."""

from propkernels.auditing.examine import audit as audit
from propkernels.auditing.result import Audit as Audit
