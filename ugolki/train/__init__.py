"""Training of the evaluation: self-play, learning and the command."""
