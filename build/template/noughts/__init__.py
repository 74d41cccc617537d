"""Noughts and crosses, a minimal game; see RULES.md."""
