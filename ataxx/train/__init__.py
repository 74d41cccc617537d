"""Training of the evaluation: self-play samples and quantisation."""
