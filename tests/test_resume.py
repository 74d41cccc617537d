"""A match resumes from its recorded turns: position, clocks and forfeits are as before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs import jsonl
from quartet.judge.logs.check import check
from quartet.judge.match import Match
from quartet.judge.seats.engine import EngineSeat
from quartet.judge.seats.players import PlayerSpec
from quartet.judge.seats.seating import SeatSetup, seats_of
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from quartet.judge.seats.seat import Seat
    from quartet.judge.turn import Turn
    from tests.games import GameUnderTest

TURNS = 6


def resumed(
    name: str, make: Callable[[], Sequence[Seat | None]], recorded: Sequence[Turn] = ()
) -> tuple[Match, jsonl.JsonLog]:
    log, known = jsonl.JsonLog(), games.load(name)
    table = table_rules(known.info)
    seats = make()
    names = ["somebody" if seat is not None else None for seat in seats]
    start = Start(3, {})
    return Match(known, seats, names, table, start, watchers=[log], recorded=recorded), log


def bots(game: GameUnderTest) -> list[Seat | None]:
    count = game.info.players
    made: list[Seat | None] = [EngineSeat(game.name, "bot", 1, nodes=20) for _ in range(count)]
    if game.info.empty_seats:
        made[-1] = None
    return made


def test_a_game_resumes_where_it_stopped(whole_game: GameUnderTest) -> None:
    name = whole_game.name
    with resumed(name, lambda: bots(whole_game))[0] as match:
        for _ in match.play():
            if len(match.turns) == TURNS:
                break
    positions = [position.text() for position in match.positions]
    again, log = resumed(name, lambda: bots(whole_game), match.turns)
    with again:
        turns = again.play()
        next(turns)
        assert [position.text() for position in again.positions[:TURNS]] == positions
        assert again.turns[:TURNS] == match.turns
        last = again.turns[TURNS]
        spent = [left - now for left, now in zip(match.clocks, again.clocks, strict=True)]
        assert spent[last.seat] == (0 if again.table.per_move else last.ms)
        assert again.lost == match.lost
        for _ in turns:
            pass
    checked = check(games.load(name), bytes(log.data))
    assert (checked.complaint, len(checked.turns)) == (None, len(again.turns))


def test_turns_that_do_not_fit_are_refused(whole_game: GameUnderTest) -> None:
    with resumed(whole_game.name, lambda: bots(whole_game))[0] as match:
        turns = [turn for turn, _ in zip(match.play(), range(2), strict=False)]
    other = (turns[0].seat + 1) % whole_game.info.players
    for bad in ({"seat": other}, {"move": (99,) * len(turns[0].move or ())}):
        wrong = msgspec.structs.replace(turns[0], **bad)
        with (
            resumed(whole_game.name, lambda: bots(whole_game), [wrong])[0] as match,
            pytest.raises(QuartetError),
        ):
            match.play_out()


@pytest.mark.parametrize("repeats", [True, False])
def test_a_persistent_program_must_repeat_its_moves(tmp_path: Path, *, repeats: bool) -> None:
    """It reaches a position only by moves that it has played itself."""
    program = tmp_path / "program.py"
    seed = "1" if repeats else "time.time_ns()"
    program.write_text(
        "import runpy, sys, time\n"
        f"sys.argv[1:] = ['--player', 'random', '--seed', str({seed})]\n"
        "runpy.run_module('applegame', run_name='__main__', alter_sys=True)\n"
    )
    known, command = games.load("applegame"), f"{sys.executable} {program}"

    def seats() -> list[Seat | None]:
        setup = SeatSetup(PlayerSpec.parse("applegame", command))
        return seats_of(known, [setup, setup], Start(3, {}))

    with resumed("applegame", seats)[0] as match:
        for _ in match.play():
            if len(match.turns) == 2 * TURNS:
                break
    again, _ = resumed("applegame", seats, match.turns)
    with again:
        if repeats:
            again.play_out()
            assert again.turns[: 2 * TURNS] == match.turns
        else:
            with pytest.raises(QuartetError, match="does not repeat its move"):
                again.play_out()
