"""The apple game, at its judge "Mushroom Game"; see RULES.md."""
