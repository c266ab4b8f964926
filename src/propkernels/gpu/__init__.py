"""The pipeline on a GPU: the same codes, counts and kernels, to the same bits, by CUDA kernels."""
