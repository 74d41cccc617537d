"""Ataxx, at its judge "Bacteria War"; see RULES.md."""
