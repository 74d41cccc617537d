"""Search kernels that the engines of at least two games include."""
