"""Connexion, a game of tiles on a honeycomb; see RULES.md."""
