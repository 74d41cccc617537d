"""Division of a game's clock among its moves. It imports nothing."""

SETTLED, EXACT, PLIES = 52, 54, 64
"""Plies: no more chance from the first one on; exhaustive search from the second one on, which
takes no time except at first; end of the game."""


def weight(ply: int) -> float:
    """Return the weight of a move: greatest when the search may just reach the end. Not tuned."""
    if ply < SETTLED:
        return 1.0
    if ply < EXACT:
        return 9.0
    return 6.0 if ply < EXACT + 2 else 1.0


def moves_to_go(ply: int) -> float:
    """Return the number of moves like the one at this ply for which the mover's clock must last."""
    return sum(map(weight, range(ply, PLIES, 2))) / weight(ply)
