"""Auditing: what to know about a data set before believing an accuracy on it."""
