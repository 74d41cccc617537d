"""Play one game between four seats, turn by turn."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Protocol

from quartet.judge.record import VERSION, Header, Result, Turn
from quartet.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from quartet.judge.game import TablePosition
    from quartet.judge.table import Table


class Player(Protocol):
    """Whoever takes the turns of a seat: a program, or a person at the terminal."""

    def play(self, table: Table) -> Turn:
        """Take the turn of the seat to move."""
        ...

    def close(self) -> None:
        """The game is over."""
        ...


def header(
    game: str,
    players: Sequence[str | None],
    *,
    seed: int = 0,
    options: Mapping[str, bool | int] | None = None,
    disqualify: bool = False,
    seconds: float,
    megabytes: float,
) -> Header:
    """The header of a game that begins now."""
    date = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return Header(
        game,
        VERSION,
        tuple(players),
        seed,
        dict(options or {}),
        disqualify,
        seconds,
        megabytes,
        date,
    )


def turns(table: Table, players: Sequence[Player | None]) -> Iterator[tuple[TablePosition, Turn]]:
    """Play the game to its end: every turn, with the position before it; the one after it is then
    `table.position`.

    `players` has None where nobody sits. A seat that is stuck is not asked.
    """
    while table.wait():
        before = table.position
        player = players[before.to_move]
        if table.stuck:
            turn = Turn(
                before.ply,
                before.to_move,
                before.text(),
                verdict=Verdict.PASS,
                reason="no piece can move",
                move=table.game.pass_move,
            )
        elif player is None:
            raise ValueError(f"nobody plays seat {before.to_move}")
        else:
            turn = player.play(table)
        table.take(turn)
        yield before, turn


def summary(table: Table, turns: Sequence[Turn]) -> dict[str, object]:
    """A finished game for machines: the header, the result, and for every seat why it lost
    turns."""
    result: Result = table.result()
    seats = [
        {
            "seat": seat,
            "player": name,
            "score": result.scores[seat],
            "place": result.places[seat],
            "share": result.shares[seat],
            "disqualified": seat in result.disqualified,
            "lost": [
                {"ply": turn.ply, "verdict": turn.verdict.value, "reason": turn.reason}
                for turn in turns
                if turn.seat == seat and turn.verdict.lost
            ],
        }
        for seat, name in enumerate(table.header.players)
    ]
    head = table.header
    return {
        "game": head.game,
        "seed": head.seed,
        "options": head.options,
        "score": table.game.info.score_name,
        "plies": result.plies,
        "seats": seats,
    }
