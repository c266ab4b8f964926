"""The paper's experiments: what they compute, what the paper prints, and how the two compare."""
