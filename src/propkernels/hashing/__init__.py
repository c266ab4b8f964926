"""The hashing station."""
