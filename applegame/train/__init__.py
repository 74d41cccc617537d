"""Training of the evaluation: self-play, fit, command."""
