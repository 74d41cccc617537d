"""Logs of games, of the real judges and of this toolkit: writing, reading, checking."""
