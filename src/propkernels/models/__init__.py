"""Models: classifier, regressor, linear model and class priors."""

from propkernels.decisions.support_vectors import ForeignGraphsWarning
from propkernels.models.category_prior import CategoryPrior
from propkernels.models.classifier import PropagationClassifier
from propkernels.models.linear_model import LinearModel
from propkernels.models.regressor import PropagationRegressor

__all__ = [
    "CategoryPrior",
    "ForeignGraphsWarning",
    "LinearModel",
    "PropagationClassifier",
    "PropagationRegressor",
]
