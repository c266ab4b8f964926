"""The gram station."""
