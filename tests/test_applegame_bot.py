"""The bot of the apple game uses its engine, and exploits an opponent whose replies it can
predict."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

import quartet
from applegame.bot import QUICK, Bot, OpponentPolicy
from applegame.engine import Engine
from applegame.players import player
from applegame.rules import Position
from core.agent.lines import Agent
from core.engine import OBSERVE
from core.errors import RuleError
from core.limits import Limits, SearchInfo
from core.players import lead
from tests.linegames import load

if TYPE_CHECKING:
    from core.engine import Searcher

SECOND = 1


def play(
    position: Position,
    bot: Bot | Engine,
    opponent: Searcher[Position],
    nodes: int,
    plies: int = 999,
) -> Position:
    """Return the position `plies` plies later, or the end of the game, with the bot as second."""
    for _ in range(plies):
        if position.over:
            break
        if position.to_move == SECOND:
            move = bot.choose(position, Limits(nodes=nodes)).move
        else:
            move = opponent.choose(position, Limits()).move
            if isinstance(bot, Bot):
                bot.observe(position, move)
        position = position.play(move)
    return position


def score(position: Position) -> float:
    """Return the score of the second player: 1 for a win, 1/2 for a tie, 0 for a loss."""
    ahead = lead(position, SECOND)
    return (ahead > 0) + (ahead == 0) / 2


@pytest.mark.parametrize("name", ["sample:4", "sample:6"])
def test_moves_identify_the_policy(name: str) -> None:
    policies = {f"sample:{plies + 2}": OpponentPolicy(plies) for plies in (2, 3, 4)}
    opponent, random, position = player(name), Random(3), Position.start(3)
    for _ in range(8):
        move = opponent.choose(position, Limits()).move
        for policy in policies.values():
            policy.learn(position, move)
        position = position.play(move)
        position = position.play(random.choice(position.legal()[1:]))
    assert {other: policy.confidence for other, policy in policies.items()} == {
        other: 9 / 10 if other == name else 0 for other in policies
    }


@pytest.mark.slow
def test_it_wins_games_that_the_engine_alone_loses() -> None:
    alone = predicting = 0.0
    for board in range(14, 28):
        bot, opponent, nodes = Bot(), player("sample:6"), 30_000
        behind = play(Position.start(board), bot, opponent, 3_000, 15)
        if Engine().choose(behind, Limits(nodes=nodes)).score < 0:
            alone += score(play(behind, Engine(), opponent, nodes))
            predicting += score(play(behind, bot, opponent, nodes))
    assert predicting >= alone + 1


def test_it_plays_as_the_engine_if_no_player_is_predicted() -> None:
    bot, engine, random = Bot(), Engine(), Random(5)
    position, limits = Position.start(5), Limits(nodes=3_000)
    while not position.over:
        if position.to_move == SECOND:
            found, expected = bot.choose(position, limits), engine.choose(position, limits)
            assert (found.move, found.score, found.nodes) == (
                expected.move,
                expected.score,
                expected.nodes,
            )
            position = position.play(found.move)
        else:
            move = random.choice(position.legal())
            bot.observe(position, move)
            position = position.play(move)


def predicted(seed: int) -> tuple[Bot, Position]:
    """Return a bot that has seen some moves of sample:5, and a position in which it is to move."""
    bot, opponent, random, position = Bot(), player("sample:5"), Random(seed), Position.start(seed)
    for _ in range(4):
        move = opponent.choose(position, Limits()).move
        bot.observe(position, move)
        position = position.play(move)
        position = position.play(random.choice(position.legal()[1:]))
    move = opponent.choose(position, Limits()).move
    bot.observe(position, move)
    return bot, position.play(move)


def test_its_search_respects_its_limits() -> None:
    bot, position = predicted(1)
    found = bot.choose(position, Limits(nodes=20_000))
    assert found.move in position.legal()
    assert 20_000 * 0.6 < found.nodes < 20_000 + QUICK * len(position.legal()) + 2_000
    reports: list[SearchInfo] = []

    def stop(info: SearchInfo) -> None:
        reports.append(info)
        bot.stop()

    stopped = bot.choose(position, Limits(nodes=1_000_000), stop)
    assert len(reports) == 1
    assert stopped.move == reports[0].move
    assert stopped.nodes < 20_000


def test_a_new_game_resets_the_prediction() -> None:
    bot, _ = predicted(1)
    limits = Limits(nodes=3_000)
    assert (
        bot.choose(Position.start(3), limits).nodes
        == Engine().choose(Position.start(3), limits).nodes
    )
    bot, _ = predicted(1)
    random, start = Random(1), Position.start(2)
    move = random.choice(start.legal()[1:])
    bot.observe(start, move)
    position = start.play(move)
    assert bot.choose(position, limits).nodes == Engine().choose(position, limits).nodes


def test_a_finished_game_has_no_move() -> None:
    position = Position.start(1).play((-1,) * 4).play((-1,) * 4)
    with pytest.raises(RuleError):
        Bot().choose(position, Limits(nodes=100))


class Watching:
    """A player that stores its arguments."""

    CAPABILITIES = frozenset({OBSERVE})

    def __init__(self) -> None:
        self.shown: list[tuple[str, tuple[int, ...]]] = []

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(position.legal()[-1])

    def observe(self, position: Position, move: tuple[int, ...]) -> None:
        self.shown.append((position.text(), move))


def test_an_agent_reports_opponents_moves_to_its_player() -> None:
    game, watching = load("applegame"), Watching()
    agent = Agent(game.protocol, game.rules, watching)
    start = game.rules.start(4)
    move = start.legal()[3]
    agent.hear("READY SECOND")
    agent.hear("INIT " + " ".join(start.text().split()[:10]))
    agent.hear("OPP " + " ".join(map(str, move)) + " 12")
    assert watching.shown == [(start.text(), move)]
    assert agent.hear("TIME 5000 5000") is not None
    assert len(watching.shown) == 1


def test_players_in_one_process_observe_each_others_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching: list[Watching] = []

    def seat(name: str, seed: int) -> Watching:
        watching.append(Watching())
        return watching[-1]

    monkeypatch.setattr("applegame.players.player", seat)
    match = quartet.game("applegame").play(["a", "b"], seed=1, nodes=1)
    played = list(zip(match.turns, match.positions, strict=True))
    for number, player_ in enumerate(watching):
        assert player_.shown == [
            (before.text(), turn.move)
            for turn, before in played
            if turn.seat != number and turn.move is not None
        ]
