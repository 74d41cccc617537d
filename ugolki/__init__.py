"""Ugolki, the four-player Corners; see RULES.md."""
