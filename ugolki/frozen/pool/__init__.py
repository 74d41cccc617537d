"""Frozen opponents: a pool of players, each a row of one table over one engine."""
