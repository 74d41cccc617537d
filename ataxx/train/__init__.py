"""How the evaluation is made: self-play, learning, the command."""
