"""Pictures of the paper's figures, each a function that returns a matplotlib figure."""
