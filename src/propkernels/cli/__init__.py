"""The cli station."""
