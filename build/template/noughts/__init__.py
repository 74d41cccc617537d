"""Noughts and crosses, the smallest game of the house; see RULES.md."""
