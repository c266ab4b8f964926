"""How good a model is: nested cross-validation, metrics and paired tests."""
