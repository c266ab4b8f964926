"""PyTorch Geometric: graphs whose columns are tensors."""
