"""Sparse networks: their sums, a step of training, and sealed files of weights."""
