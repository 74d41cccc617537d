"""The agents follow the games that the official tools published: from both seats they hear all that
the judge sent, with the recorded times, and search before every recorded move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from core.limits import Limits, SearchInfo
from core.messages import READY_ANSWER, Drew, Finish, Init, Message, Opponent, Ply, Ready, YourTurn
from quartet import registry
from tests import linegames

if TYPE_CHECKING:
    from core.engine import Searcher
    from core.rules import Move

LOGS = sorted((Path(__file__).parent / "data").glob("*/logs/*.txt"))
CLOCK_MS = 10_000
SEARCH = Limits(nodes=50)


class Repeating:
    """A bot that searches, and then plays the recorded move instead of its own."""

    def __init__(self, bot: Searcher[Any], moves: list[Move]) -> None:
        self.bot = bot
        self.moves = moves

    def choose(self, position: Any, limits: Limits) -> SearchInfo:  # noqa: ARG002
        assert self.bot.choose(position, SEARCH).move in position.legal()
        return SearchInfo(self.moves[position.ply])


def conversation(
    game: linegames.LineGame, lines: list[str], seat: int
) -> list[tuple[Message, str | None]]:
    """Return what the judge told a seat, each message with the answer that it received."""
    clocks = [CLOCK_MS, CLOCK_MS]
    told: list[tuple[Message, str | None]] = [(Ready(seat), READY_ANSWER)]
    for entry in map(game.protocol.parse_entry, lines):
        match entry:
            case Ply() if entry.seat == seat:
                answer = game.protocol.format_answer(entry.move, seat)
                told.append((YourTurn(clocks[seat], clocks[1 - seat]), answer))
                if game.info.chance:
                    told.append((Drew(entry.drawn), None))
            case Ply():
                told.append((Opponent(entry.move, entry.drawn, max(1, entry.ms)), None))
            case Init() | Finish():
                told.append((entry, None))
        if isinstance(entry, Ply):
            clocks[entry.seat] -= entry.ms
    return told


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_an_agent_follows_a_published_game(
    path: Path, seat: int, capsys: pytest.CaptureFixture[str]
) -> None:
    name, lines = path.parts[-3], path.read_text(encoding="ascii").splitlines()
    game = replace(linegames.load(name), rules=registry.load(name, "rules").Position)
    entries = map(game.protocol.parse_entry, lines)
    moves = [entry.move for entry in entries if isinstance(entry, Ply)]
    agent = game.agent(player=Repeating(game.player("bot", 1), moves))
    for message, answer in conversation(game, lines, seat):
        line = game.protocol.format_message(message, seat)
        assert agent.hear(line) == answer, line
    assert agent.done
    assert capsys.readouterr().err == ""
