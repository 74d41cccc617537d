"""A human takes moves back: the match returns to the previous turn, and clocks and forfeits are
restored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs import jsonl
from quartet.judge.match import Match
from quartet.judge.seats.engine import EngineSeat, fast_rules
from quartet.judge.seats.person import PersonSeat
from quartet.judge.seats.players import PlayerSpec
from quartet.judge.seats.seat import Answer, Seat, TakeBackError
from quartet.judge.seats.seating import SeatSetup, seats_of
from quartet.judge.table import Penalty, TableRules, table_rules
from quartet.judge.turn import Turn, Verdict
from tests import fakegame
from tests.games import has_forfeits

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.rules import Move
    from tests.games import GameUnderTest

NODES = 50
ILLEGAL = (99, 99, 99, 99)
"""A move of no game."""
SLOW_MS = 7


class Slow(EngineSeat):
    """A player that takes some milliseconds on any machine."""

    def ask(self, match: Match) -> Answer:
        return msgspec.structs.replace(super().ask(match), seconds=0.0, ms=SLOW_MS)


@dataclass(frozen=True)
class MatchState:
    """The state that must be restored."""

    turns: list[Turn]
    positions: list[str]
    position: str
    clocks: list[int]
    lost: list[int]
    disqualified: set[int]

    @classmethod
    def of(cls, match: Match) -> MatchState:
        texts = [position.text() for position in match.positions]
        return cls(
            list(match.turns),
            texts,
            match.position.text(),
            list(match.clocks),
            list(match.lost),
            set(match.disqualified),
        )


def sensible(match: Match) -> Move:
    """Return the greedy move, with which games last."""
    position, seat = match.position, match.position.to_move
    sign = -1 if match.game.info.lower_wins else 1
    return max(position.legal(), key=lambda move: sign * (position.play(move).scores()[seat] or 0))


@dataclass
class Script:
    """A human that follows a script: it takes a move back, leaves, or plays.

    Attributes:
        back_at: Numbers of the requests, from 1, that it answers by taking a move back.
        leave_at: Number of the request at which it leaves.
        choose: Returns the move otherwise.
        states: The state of the match at every request.
    """

    back_at: set[int]
    leave_at: int
    choose: Callable[[Match], Move] = sensible
    states: list[MatchState] = field(default_factory=list)

    def __call__(self, match: Match) -> Move:
        self.states.append(MatchState.of(match))
        if len(self.states) in self.back_at:
            raise TakeBackError
        if len(self.states) == self.leave_at:
            raise KeyboardInterrupt
        return self.choose(match)


class Scripted(PersonSeat):
    """A player with a script that is no human."""

    human = False


class Watch(jsonl.JsonLog):
    """A log that counts the moves taken back."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def taken_back(self, match: Match) -> None:
        super().taken_back(match)
        self.count += 1


def rival(name: str) -> Slow:
    return Slow(name, "bot", 1, nodes=NODES, clock=False)


def play(name: str, seats: list[Seat | None], table: TableRules, *, fast: bool = False) -> Watch:
    """Play a game that the human leaves; return its log."""
    watch = Watch()
    known = games.load(name)
    rules = fast_rules(name) if fast else None
    names = ["player"] * len(seats)
    with (
        Match(known, seats, names, table, Start(3, {}), rules=rules, watchers=[watch]) as match,
        pytest.raises(KeyboardInterrupt),
    ):
        match.play_out()
    log = jsonl.read_log(bytes(watch.data))
    assert list(map(jsonl.line, log.turns)) == list(map(jsonl.line, match.turns))
    assert log.result is None
    return watch


@pytest.mark.parametrize("fast", [False, True], ids=["reference", "fast"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_takeback_returns_to_the_last_turn_of_the_human(
    whole_game: GameUnderTest, number: int, *, fast: bool
) -> None:
    """Check that the same play leads to the same position again."""
    person = Script({3}, leave_at=5)
    seats: list[Seat | None] = [rival(whole_game.name) for _ in range(whole_game.info.players)]
    seats[number] = PersonSeat(person)
    # The clocks of the others run down to their last millisecond.
    table = table_rules(whole_game.info, ms=[2 * SLOW_MS - 1] * whole_game.info.players)
    watch = play(whole_game.name, seats, table, fast=fast)
    assert watch.count == 1
    states = person.states
    assert states[3] == states[1]
    assert [turn.move for turn in states[4].turns] == [turn.move for turn in states[2].turns]
    assert (states[4].position, states[4].clocks) == (states[2].position, states[2].clocks)
    if not table.per_move:
        assert states[2].clocks[1 - number] == 1
        assert states[2].clocks[number] == 2 * SLOW_MS - 1, "no clock of a person runs"


def test_two_takebacks_return_two_turns(whole_game: GameUnderTest) -> None:
    person = Script({3, 4}, leave_at=6)
    count = whole_game.info.players
    seats: list[Seat | None] = [PersonSeat(person)]
    seats += [rival(whole_game.name) for _ in range(count - 1)]
    watch = play(whole_game.name, seats, table_rules(whole_game.info))
    assert watch.count == 2
    assert [len(state.turns) for state in person.states] == [0, count, 2 * count, count, 0, count]
    assert person.states[4] == person.states[0]


def test_a_takeback_stops_at_the_start(whole_game: GameUnderTest) -> None:
    person = Script({1}, leave_at=2)
    count = whole_game.info.players
    seats: list[Seat | None] = [PersonSeat(person)]
    seats += [rival(whole_game.name) for _ in range(count - 1)]
    watch = play(whole_game.name, seats, table_rules(whole_game.info))
    assert watch.count == 0
    assert person.states[1] == person.states[0]


def test_humans_take_back_each_others_turns(whole_game: GameUnderTest) -> None:
    """Check that it is one turn, after the first one, too."""
    one, other = Script({3}, leave_at=4), Script({1}, leave_at=0)
    count = whole_game.info.players
    seats: list[Seat | None] = [PersonSeat(one), PersonSeat(other)]
    seats += [rival(whole_game.name) for _ in range(count - 2)]
    watch = play(whole_game.name, seats, table_rules(whole_game.info))
    assert watch.count == 2
    assert [len(state.turns) for state in other.states] == [1, 1, 1]
    assert [len(state.turns) for state in one.states] == [0, 0, count, count]
    assert other.states[2] == other.states[1]


def test_takebacks_are_rejected_with_a_program(whole_game: GameUnderTest) -> None:
    known, count = games.load(whole_game.name), whole_game.info.players
    person = Script({3}, leave_at=4)
    other = SeatSetup(PlayerSpec.parse(whole_game.name, "random"))
    programs = seats_of(known, [other], Start(3, {}))
    seats: list[Seat | None] = [PersonSeat(person), *programs]
    seats += [rival(whole_game.name) for _ in range(count - 2)]
    table = table_rules(whole_game.info, ms=[60_000] * count)
    watch = play(whole_game.name, seats, table)
    assert watch.count == 0
    assert person.states[3] == person.states[2]


@pytest.mark.parametrize("penalty", [Penalty.TURN, Penalty.OUT])
def test_forfeited_turns_are_restored(game: GameUnderTest, penalty: Penalty) -> None:
    if not has_forfeits(game.reference.start()):
        return

    def clumsy(match: Match) -> Move:
        return ILLEGAL if len(match.turns) > count else sensible(match)

    count = game.info.players
    person = Script({3}, leave_at=4)
    seats: list[Seat | None] = [PersonSeat(person), Scripted(clumsy)]
    seats += [rival(game.name) for _ in range(count - 2)]
    table = replace(table_rules(game.info), penalty=penalty)
    watch = play(game.name, seats, table)
    assert watch.count == 1
    lost = person.states[2]
    assert [turn.verdict for turn in lost.turns if turn.seat == 1] == [Verdict.OK, Verdict.ILLEGAL]
    assert lost.lost[1] == 1
    assert lost.disqualified == ({1} if penalty is Penalty.OUT else set())
    assert person.states[3] == person.states[1]
    assert person.states[3].lost == [0] * count
    assert person.states[3].disqualified == set()


class Stuck(fakegame.Position):
    """The first player can only pass on its second turn."""

    def legal(self) -> list[Move]:
        return [fakegame.PASS] if self.ply == 2 else super().legal()


def test_automatic_passes_are_skipped() -> None:
    """Check that it is skipped: taking back to it would lead to the same position."""
    person, other = Script({2}, leave_at=3), Script(set(), leave_at=0)
    known = replace(fakegame.GAME, position=Stuck)
    table = TableRules(clocks=(1000, 1000), per_move=False, penalty=Penalty.GAME)
    seats = [PersonSeat(person), Scripted(other)]
    with (
        Match(known, seats, ["one", "two"], table, Start(0, {})) as match,
        pytest.raises(KeyboardInterrupt),
    ):
        match.play_out()
    verdicts = [turn.verdict for turn in person.states[1].turns]
    assert verdicts == [Verdict.OK, Verdict.OK, Verdict.PASS, Verdict.OK]
    assert person.states[2] == person.states[0]
