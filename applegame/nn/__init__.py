"""What the engine's evaluation is made of: features, inference, weights."""
