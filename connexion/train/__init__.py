"""Training of the evaluation: self-play, learning, command."""
