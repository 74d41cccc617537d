"""Search kernels that several games include, and what they take."""
