"""The counting station."""
