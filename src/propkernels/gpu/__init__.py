"""The pipeline on a GPU: CUDA kernels for codes, counts and kernel matrices, bit-equal to the CPU."""
