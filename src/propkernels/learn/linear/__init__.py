"""Linear models on rows of features: in memory, in files, on a stream."""
