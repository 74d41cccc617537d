"""Which version is stronger: matches, and what their results mean."""
