"""The learn station."""
