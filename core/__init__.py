"""What at least two games use; it knows no game and imports nothing of ours."""
