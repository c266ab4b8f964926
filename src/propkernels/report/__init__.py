"""Pictures of kernels and explanations; nothing below imports them."""

from propkernels.report.plot_explanation import plot_explanation

__all__ = ["plot_explanation"]
