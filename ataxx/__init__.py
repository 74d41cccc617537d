"""Ataxx, which its judge calls "Bacteria War"; see RULES.md."""
