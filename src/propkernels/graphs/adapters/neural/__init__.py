"""PyTorch Geometric and DGL: graphs whose columns are tensors."""
