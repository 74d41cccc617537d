"""The terminal: boards in colour, keys, and a human who chooses moves."""
