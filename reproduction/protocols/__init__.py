"""How accuracy is measured: nested cross-validation as in the paper."""
