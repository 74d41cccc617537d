"""The player `bot2611`: Ugolki's bot of November 2026, with all that it is made of; frozen."""
