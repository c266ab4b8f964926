"""Gram: from counts to kernel matrices."""
