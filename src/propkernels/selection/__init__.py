"""Selection: candidates are halved on parts of the graphs, and race in cross-validation."""
