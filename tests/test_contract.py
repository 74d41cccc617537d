"""What every game promises. One suite over every game of the registry; a game that lacks its data
files fails it."""

from __future__ import annotations

import json
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.background import Thinking
from core.errors import IllegalMoveError, RuleError, TextError, UnknownNameError
from core.limits import Limits, SearchInfo
from core.rules import Engine, Move, Position, places
from quartet import registry
from tests.games import RANDOM_CASES, FastPosition, Game, is_whole, knows_lost_turns, random_games
from tests.playthrough import SEED, playthrough

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOM = [
    "__init__.py",
    "__main__.py",
    "RULES.md",
    "players.py",
    "protocol.py",
    "reference.py",
    "scene.py",
]
WHOLE_ROOM = ["engine.pyi", "engine.pyx", "rules.pxd", "rules.pyi", "rules.pyx"]


def state(position: Position) -> list[object]:
    """All that a position shows."""
    return [
        position.text(), position.ply, position.to_move, position.over, position.legal(), position.pseudolegal(), position.scores(),
    ]  # fmt: skip


def sample(game: Game, count: int) -> Iterator[tuple[Position, FastPosition]]:
    """So many positions, some plies apart, from random games."""
    step = 7
    return islice(random_games(game, count * step, seed=1), 0, count * step, step)


def test_the_folder_has_the_shape_of_the_house(game: Game) -> None:
    assert [name for name in ROOM if not (game.folder / name).is_file()] == []
    missing = [name for name in WHOLE_ROOM if not (game.folder / name).is_file()]
    assert missing in ([], WHOLE_ROOM), "fast rules and engine come together"
    assert game.data.is_dir(), (
        f"a game needs its perft table and its golden playthrough in {game.data}"
    )


def test_the_data_sheet_fits(game: Game) -> None:
    assert game.info.name == game.name
    start = game.reference.start()
    assert len(start.scores()) == game.info.players
    assert 0 <= start.to_move < game.info.players
    defaults = {name: option.default for name, option in game.info.options.items()}
    for rules in (game.reference, game.fast):
        assert state(rules.start(**defaults)) == state(start)
        assert state(rules.start(seed=3)) == state(game.reference.start(seed=3))


def test_unknown_names_are_told_with_those_there_are(game: Game) -> None:
    with pytest.raises(UnknownNameError, match=game.name):
        registry.load("nowhere", "reference")
    with pytest.raises(UnknownNameError, match=game.player_names[0]):
        game.player("nobody", 1)


def perft_table(game: Game) -> list[dict[str, Any]]:
    table = json.loads((game.data / "perft.json").read_text(encoding="utf-8"))
    assert isinstance(table, list)
    assert any(line["reference"] for line in table)
    return table


def line_position(rules: type[Position], line: dict[str, Any]) -> Position:
    return (
        rules.start(**line["options"])
        if line["position"] is None
        else rules.parse(line["position"], **line["options"])
    )


def test_perft_of_the_fast_rules(whole_game: Game) -> None:
    for line in perft_table(whole_game):
        assert line_position(whole_game.fast, line).perft(line["depth"]) == line["nodes"], line


def test_perft_of_the_reference_rules(game: Game) -> None:
    for line in perft_table(game):
        if line["reference"]:
            assert line_position(game.reference, line).perft(line["depth"]) == line["nodes"], line


def test_perft_of_nothing_and_of_a_finished_game(game: Game) -> None:
    *_, (slow, fast) = random_games(game, 1)
    for position in (slow, fast):
        assert position.over
        assert [position.perft(depth) for depth in (0, 1, 2)] == [1, 0, 0]


def test_both_rules_play_the_golden_playthrough(game: Game) -> None:
    golden = (game.data / "playthrough.txt").read_text(encoding="utf-8")
    assert playthrough(game, game.reference.start(SEED)) == golden
    assert playthrough(game, game.fast.start(SEED)) == golden


def test_fast_rules_are_the_reference_rules(whole_game: Game) -> None:
    count = 0
    for slow, fast in random_games(whole_game, RANDOM_CASES):
        assert state(fast) == state(slow)
        # where it is kept up from move to move
        assert fast.key == getattr(fast, "recomputed_key", lambda key=fast.key: key)()
        count += 1
    assert count >= RANDOM_CASES


def test_legal_knows_the_end_and_the_pass(game: Game) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 10):
        for position in (slow, fast):
            expected = [] if position.over else position.pseudolegal() or [game.pass_move]
            assert position.legal() == expected == sorted(set(expected))
    *_, (slow, fast) = random_games(game, 1)
    for position in (slow, fast):
        assert position.over
        assert position.legal() == []


def test_texts_give_positions_back(game: Game) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 10):
        text = slow.text()
        assert game.reference.parse(text).text() == text
        assert game.fast.parse(text).text() == text
        assert fast.text() == text


def test_the_key_depends_on_the_position_alone(whole_game: Game) -> None:
    for _, fast in sample(whole_game, RANDOM_CASES // 10):
        copy = whole_game.fast.parse(fast.text())
        assert copy.key == whole_game.fast.parse(fast.text()).key
        for move in copy.legal():
            assert copy.play(move).key not in {
                copy.key,
                copy.lose_turn().key if knows_lost_turns(copy) else None,
            }


def illegal_moves(position: Position, random: Random) -> Iterator[Move]:
    """Moves close to legal ones, and some that are no moves at all."""
    legal = set(position.legal())
    candidates: set[Move] = {
        (),
        (0,),
        (-1, -1, -1, -1),
        (1 << 40,) * 4,
        (0,) * 5,
        *position.pseudolegal(),
    }
    for move in random.sample(sorted(legal), min(5, len(legal))):
        for index in range(len(move)):
            candidates |= {
                (*move[:index], move[index] + change, *move[index + 1 :])
                for change in (-100, -10, -2, -1, 1, 2, 10, 1 << 32)
            }
    yield from sorted(candidates - legal)


def test_illegal_moves_are_refused_and_change_nothing(game: Game) -> None:
    """A move that is not among the legal ones may be another name of one: then the same comes of
    it."""
    random = Random(0)
    for slow, fast in sample(game, RANDOM_CASES // 50):
        for position in (slow, fast):
            before = state(position)
            for move in illegal_moves(position, random):
                try:
                    after = position.play(move).text()
                except IllegalMoveError:
                    continue
                assert any(position.play(legal).text() == after for legal in position.legal()), (
                    f"{move} is played, but not legal"
                )
            assert state(position) == before


def test_positions_are_values(game: Game) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 50):
        for position in (slow, fast):
            before = state(position)
            successors = [position.play(move) for move in position.legal()]
            if knows_lost_turns(position):
                successors.append(position.lose_turn())
            assert state(position) == before
            assert all(successor.ply == position.ply + 1 for successor in successors)


def test_a_lost_turn_moves_nothing(game: Game) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 10):
        if slow.over:
            continue
        if not knows_lost_turns(slow):
            with pytest.raises(RuleError):
                fast.lose_turn()
            continue
        after_slow, after_fast = slow.lose_turn(), fast.lose_turn()
        assert state(after_fast) == state(after_slow)
        if is_whole(game.name):
            assert after_fast.key == after_fast.recomputed_key()
        assert after_fast.scores() == fast.scores()
        assert after_fast.ply == fast.ply + 1


def test_built_in_players_play_by_the_rules_and_repeat_themselves(game: Game) -> None:
    limits = Limits(nodes=300)
    assert game.player_names[0] == "bot" or not is_whole(game.name)
    for name in game.player_names:
        first, second = game.player(name, 5), game.player(name, 5)
        for slow, fast in sample(game, max(10, RANDOM_CASES // 200)):
            if slow.legal() in ([], [game.pass_move]):
                continue
            move = first.choose(fast, limits).move
            assert move in slow.legal()
            assert second.choose(fast, limits).move == move, (
                f"{name} chose another move with the same seed"
            )


def test_the_engine_reports_what_can_be_played(whole_game: Game) -> None:
    engine = whole_game.engine()
    for slow, fast in sample(whole_game, max(10, RANDOM_CASES // 200)):
        if slow.legal() in ([], [whole_game.pass_move]):
            continue
        info = engine.choose(fast, whole_game.bench_limits)
        assert info.move in slow.legal()
        assert info.pv[0] == info.move
        assert info.depth > 0
        assert info.nodes > 0
        line: Position = slow
        for move in info.pv:
            line = line.play(move)


def test_the_engine_says_what_it_finds_and_can_be_stopped(whole_game: Game) -> None:
    engine = whole_game.engine()
    assert isinstance(engine, Engine)
    slow, fast = next(iter(sample(whole_game, 1)))
    told: list[SearchInfo] = []
    found = engine.choose(fast, whole_game.bench_limits, told.append)
    assert told
    assert all(info.move in slow.legal() and info.pv[0] == info.move for info in told)
    assert told[-1].move == found.move
    thinking = Thinking(engine, fast, Limits(nodes=1 << 40, depth=200))
    thinking.stop()
    assert thinking.over
    assert thinking.outcome().move in slow.legal()


def test_an_engine_that_has_forgotten_is_as_good_as_new(whole_game: Game) -> None:
    """Those that keep nothing from choice to choice have no `forget`."""
    used = whole_game.engine()
    for slow, fast in sample(whole_game, 10):
        if not slow.over:
            fresh = whole_game.engine().choose(fast, whole_game.bench_limits)
            getattr(used, "forget", lambda: None)()
            again = used.choose(fast, whole_game.bench_limits)
            assert (again.move, again.score, again.nodes) == (fresh.move, fresh.score, fresh.nodes)


def test_places_of_a_finished_game(game: Game) -> None:
    *_, (slow, _) = random_games(game, 1)
    place = places(slow.scores(), lower_wins=game.info.lower_wins)
    best = (min if game.info.lower_wins else max)(
        score for score in slow.scores() if score is not None
    )
    assert [p == 1 for p in place] == [score == best for score in slow.scores()]


def reading(rules: type[Position], text: str) -> list[object] | str:
    """What rules make of a text: a position, or a complaint. Any exception but TextError fails the
    test."""
    try:
        return state(rules.parse(text))
    except TextError as error:
        return str(error)


@given(text=st.text())
def test_any_text_is_read_or_refused(game: Game, text: str) -> None:
    assert reading(game.fast, text) == reading(game.reference, text)


@given(data=st.data())
def test_texts_with_faults_are_read_or_refused(game: Game, data: st.DataObject) -> None:
    """A few characters of a good text are replaced, inserted or removed."""
    seed, games = data.draw(st.integers(0, 20)), data.draw(st.integers(0, 40))
    slow, _ = next(islice(random_games(game, games + 1, seed), games, None))
    text = slow.text()
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 3)))
        text = (
            text[:begin]
            + data.draw(st.text(st.sampled_from("0123456789 -\r\n\tx\ufeff²"), max_size=3))
            + text[end:]
        )
    assert reading(game.fast, text) == reading(game.reference, text)
