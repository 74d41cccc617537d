"""How a game's clock is to be divided among its moves. It imports nothing."""

SETTLED, EXACT, PLIES = 52, 54, 64
"""Plies: from which on nothing is left to chance; from which on everything is searched to the end,
in a blink but for the first of them; of a game."""


def weight(ply: int) -> float:
    """What a move deserves: most where the search may just reach the end. What the last moves do
    not need is left over."""
    if ply < SETTLED:
        return 1.0
    if ply < EXACT:
        return 9.0
    return 6.0 if ply < EXACT + 2 else 1.0


def pace(ply: int) -> float:
    """For how many moves like the one at this ply the mover's clock is to last."""
    return sum(map(weight, range(ply, PLIES, 2))) / weight(ply)
