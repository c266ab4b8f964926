"""Explanations: contributions of nodes, shared bins of two graphs, and counterfactual edits."""

from propkernels.explain.counterfactuals import Counterfactual, Counterfactuals, Edit
from propkernels.explain.decisions import explain_columns
from propkernels.explain.explanation import Explanation
from propkernels.explain.shared_bins import SharedBin, Similarity, similar_because

__all__ = [
    "Counterfactual",
    "Counterfactuals",
    "Edit",
    "Explanation",
    "SharedBin",
    "Similarity",
    "explain_columns",
    "similar_because",
]
