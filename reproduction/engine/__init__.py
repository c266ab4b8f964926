"""The engine: cells, the store that keeps them, the runner, and the report."""
