"""Seats: programs, built-in players, humans, and the players of logged games."""
