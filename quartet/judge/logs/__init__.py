"""Logs of games, those of the real judges and ours: written, read and checked."""
