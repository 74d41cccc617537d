"""The evaluation: its weights. The engine computes the features."""
