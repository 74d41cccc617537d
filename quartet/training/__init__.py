"""Networks from self-play: the games, their samples, and the trainer."""
