"""Every game of the registry fulfils the contract of games. A game without its data files fails."""

from __future__ import annotations

import inspect
import json
import math
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.background import BackgroundSearch
from core.engine import (
    CANDIDATES,
    CAPABILITIES,
    EXPECTATION,
    MOVES_TO_GO,
    MULTIPV,
    NEW_GAME,
    NO_UNIT,
    OBSERVE,
    SOLVE,
    STOP,
    VISITS,
    Option,
    can,
    options_of,
    parse_player,
    score_unit,
    settled,
    write_player,
)
from core.errors import IllegalMoveError, RuleError, TextError, UnknownNameError
from core.limits import Limits, SearchInfo
from core.native.clock import now
from core.rules import Move, Position, places
from quartet import registry
from tests.games import (
    RANDOM_CASES,
    SANITIZED,
    FastPosition,
    GameUnderTest,
    has_forfeits,
    is_whole,
    random_games,
)
from tests.playthrough import SEED, playthrough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.rules import AliasedPosition, ChancePosition, EmptySeatsPosition

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
    """Return all public properties of a position."""
    return [
        position.text(), position.ply, position.to_move, position.over, position.legal(),
        position.pseudolegal(), position.scores(),
    ]  # fmt: skip


def sample(game: GameUnderTest, count: int) -> Iterator[tuple[Position, FastPosition]]:
    """Return `count` positions, some plies apart, from random games."""
    step = 7
    return islice(random_games(game, count * step, seed=1), 0, count * step, step)


def test_a_package_has_the_files_of_a_game(game: GameUnderTest) -> None:
    assert [name for name in ROOM if not (game.folder / name).is_file()] == []
    missing = [name for name in WHOLE_ROOM if not (game.folder / name).is_file()]
    assert missing in ([], WHOLE_ROOM), "fast rules and engine come together"
    assert game.data.is_dir(), (
        f"a game needs its perft table and its golden playthrough in {game.data}"
    )


def test_data_files_match_the_game(game: GameUnderTest) -> None:
    assert game.info.name == game.name
    start = game.reference.start()
    assert len(start.scores()) == game.info.players
    assert 0 <= start.to_move < game.info.players
    defaults = {name: option.default for name, option in game.info.options.items()}
    for rules in (game.reference, game.fast):
        assert state(rules.start(**defaults)) == state(start)
        assert state(rules.start(seed=3)) == state(game.reference.start(seed=3))


def test_unknown_names_are_rejected_with_the_known_ones(game: GameUnderTest) -> None:
    with pytest.raises(UnknownNameError, match=game.name):
        registry.load("nowhere", "reference")
    with pytest.raises(UnknownNameError, match=game.player_names[0]):
        game.player("unknown", 1)


def perft_table(game: GameUnderTest) -> list[dict[str, Any]]:
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


def test_perft_of_the_fast_rules(whole_game: GameUnderTest) -> None:
    for line in perft_table(whole_game):
        assert line_position(whole_game.fast, line).perft(line["depth"]) == line["nodes"], line


def test_perft_of_the_reference_rules(game: GameUnderTest) -> None:
    for line in perft_table(game):
        if line["reference"]:
            assert line_position(game.reference, line).perft(line["depth"]) == line["nodes"], line


def test_perft_at_depth_zero_and_of_a_finished_game(game: GameUnderTest) -> None:
    *_, (slow, fast) = random_games(game, 1)
    for position in (slow, fast):
        assert position.over
        assert [position.perft(depth) for depth in (0, 1, 2)] == [1, 0, 0]


def test_both_rules_play_the_golden_playthrough(game: GameUnderTest) -> None:
    golden = (game.data / "playthrough.txt").read_text(encoding="utf-8")
    assert playthrough(game, game.reference.start(SEED)) == golden
    assert playthrough(game, game.fast.start(SEED)) == golden


def test_fast_rules_equal_the_reference_rules(whole_game: GameUnderTest) -> None:
    count = 0
    for slow, fast in random_games(whole_game, RANDOM_CASES):
        assert state(fast) == state(slow)
        assert fast.key == fast.recomputed_key()
        count += 1
    assert count >= RANDOM_CASES


def test_games_have_exactly_the_declared_abilities(game: GameUnderTest) -> None:
    reference, fast = game.reference.start(SEED), game.fast.start(SEED)
    for position in (reference, fast):
        for method in ("bags", "drawn", "reveal"):
            assert hasattr(position, method) == game.info.chance
        assert hasattr(position, "canonical") == game.info.move_aliases
    assert hasattr(reference, "without") == game.info.empty_seats
    scene = registry.load(game.name, "scene")
    assert hasattr(scene, "lenses") == bool(game.info.lenses)
    if registry.has(game.name, "train.selfplay"):
        training = registry.load(game.name, "train.selfplay")
        assert hasattr(training, "play_games") is training.OWN_SAMPLES
        assert hasattr(training, "POSITION_BYTES") is not training.OWN_SAMPLES
    if is_whole(game.name):
        assert isinstance(game.bench_limits, Limits)


def test_both_rules_know_the_same_bags(game: GameUnderTest) -> None:
    if game.info.chance:
        for slow, fast in sample(game, 10):
            known = cast("ChancePosition", slow).bags
            assert cast("ChancePosition", fast).bags == known
            assert all(list(bag) == sorted(bag) for bag in known)
            seat = 1 - slow.to_move
            drawn, bag = cast("ChancePosition", slow).drawn, known[seat]
            assert drawn is None or all(
                cast("ChancePosition", slow).reveal(other).ply == slow.ply for other in bag
            )


def test_canonical_moves_are_legal_ones(game: GameUnderTest) -> None:
    if game.info.move_aliases:
        for positions in sample(game, 10):
            for position in cast("tuple[AliasedPosition, AliasedPosition]", positions):
                assert [position.canonical(move) for move in position.legal()] == position.legal()


def test_empty_seats_stay_empty(game: GameUnderTest) -> None:
    if game.info.empty_seats:
        position = cast("EmptySeatsPosition", game.reference.start(SEED)).without(1)
        assert [score is None for score in position.scores()] == [
            seat == 1 for seat in range(game.info.players)
        ]


def test_legal_moves_at_the_end_and_passes(game: GameUnderTest) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 10):
        for position in (slow, fast):
            expected = [] if position.over else position.pseudolegal() or [game.pass_move]
            assert position.legal() == expected == sorted(set(expected))
    *_, (slow, fast) = random_games(game, 1)
    for position in (slow, fast):
        assert position.over
        assert position.legal() == []


def test_texts_are_parsed_back_into_positions(game: GameUnderTest) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 10):
        text = slow.text()
        assert game.reference.parse(text).text() == text
        assert game.fast.parse(text).text() == text
        assert fast.text() == text


def test_the_key_depends_on_the_position_alone(whole_game: GameUnderTest) -> None:
    for _, fast in sample(whole_game, RANDOM_CASES // 10):
        copy = whole_game.fast.parse(fast.text())
        assert copy.key == whole_game.fast.parse(fast.text()).key
        for move in copy.legal():
            assert copy.play(move).key not in {
                copy.key,
                copy.lose_turn().key if has_forfeits(copy) else None,
            }


def illegal_moves(position: Position, random: Random) -> Iterator[Move]:
    """Yield moves close to legal ones, and some that are not moves at all."""
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


def test_illegal_moves_are_rejected_and_change_nothing(game: GameUnderTest) -> None:
    """Allow a move that is not listed if it is an alias of a legal one: it gives the same
    position."""
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


def test_positions_are_immutable_values(game: GameUnderTest) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 50):
        for position in (slow, fast):
            before = state(position)
            successors = [position.play(move) for move in position.legal()]
            if has_forfeits(position):
                successors.append(position.lose_turn())
            assert state(position) == before
            assert all(successor.ply == position.ply + 1 for successor in successors)


def test_a_forfeited_turn_moves_nothing(game: GameUnderTest) -> None:
    for slow, fast in sample(game, RANDOM_CASES // 10):
        if slow.over:
            continue
        if not has_forfeits(slow):
            with pytest.raises(RuleError):
                fast.lose_turn()
            continue
        after_slow, after_fast = slow.lose_turn(), fast.lose_turn()
        assert state(after_fast) == state(after_slow)
        if is_whole(game.name):
            assert after_fast.key == after_fast.recomputed_key()
        assert after_fast.scores() == fast.scores()
        assert after_fast.ply == fast.ply + 1


def test_built_in_players_are_legal_and_deterministic(game: GameUnderTest) -> None:
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


def test_reported_lines_can_be_played(whole_game: GameUnderTest) -> None:
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


def test_the_engine_reports_and_can_be_stopped(whole_game: GameUnderTest) -> None:
    engine = whole_game.engine()
    assert can(engine, STOP)
    slow, fast = next(iter(sample(whole_game, 1)))
    told: list[SearchInfo] = []
    found = engine.choose(fast, whole_game.bench_limits, told.append)
    assert told
    assert all(info.move in slow.legal() and info.pv[0] == info.move for info in told)
    assert told[-1].move == found.move
    thinking = BackgroundSearch(engine, fast, Limits(nodes=1 << 40, depth=200))
    thinking.stop()
    assert thinking.over
    assert thinking.outcome().move in slow.legal()


def test_an_engine_after_new_game_equals_a_new_one(whole_game: GameUnderTest) -> None:
    used = whole_game.engine()
    for slow, fast in sample(whole_game, 10):
        if not slow.over:
            fresh = whole_game.engine().choose(fast, whole_game.bench_limits)
            assert can(used, NEW_GAME)
            used.new_game()
            again = used.choose(fast, whole_game.bench_limits)
            assert (again.move, again.score, again.nodes) == (fresh.move, fresh.score, fresh.nodes)


def players_that(game: GameUnderTest, capability: str) -> Iterator[Any]:
    """Yield new built-in players that declare a capability, among them the engine."""
    for name in game.player_names:
        if can(game.player(name, 5), capability):
            yield game.player(name, 5)
    if is_whole(game.name) and can(game.engine(), capability):
        yield game.engine()


def open_positions(game: GameUnderTest, count: int) -> Iterator[tuple[Position, FastPosition]]:
    """Yield some positions with a choice."""
    for slow, fast in sample(game, count):
        if len(slow.legal()) > 1:
            yield slow, fast


def test_players_have_exactly_the_declared_abilities(game: GameUnderTest) -> None:
    for name in game.player_names:
        player = game.player(name, 5)
        declared = {capability for capability in CAPABILITIES if can(player, capability)}
        assert declared == {*getattr(player, "CAPABILITIES", ())}, "no capability of another name"
        methods = {capability for capability in CAPABILITIES if hasattr(player, capability)}
        assert methods == declared - {MULTIPV}, name
        assert ("report" in inspect.signature(player.choose).parameters) == can(player, STOP)
    if is_whole(game.name):
        engine = game.engine()
        assert can(engine, STOP)
        assert can(engine, NEW_GAME)
        assert score_unit(engine) != NO_UNIT
        assert isinstance(engine.OPTIONS, tuple)


def test_players_that_can_be_stopped_report_and_stop(game: GameUnderTest) -> None:
    slow, fast = next(open_positions(game, 3))
    for player in players_that(game, STOP):
        told: list[SearchInfo] = []
        found = player.choose(fast, Limits(nodes=2000), told.append)
        assert told
        assert told[-1].move == found.move
        assert {info.rank for info in told} == {1}
        thinking = BackgroundSearch(player, fast, Limits(nodes=1 << 40, depth=200))
        thinking.stop()
        assert thinking.outcome().move in slow.legal()


def test_players_after_new_game_equal_new_ones(game: GameUnderTest) -> None:
    for used, new in zip(players_that(game, NEW_GAME), players_that(game, NEW_GAME), strict=True):
        positions = list(open_positions(game, 4))
        for slow, fast in positions:
            if can(used, OBSERVE):
                used.observe(fast, slow.legal()[0])
            used.choose(fast, Limits(nodes=1000))
        used.new_game()
        again, first = (one.choose(positions[1][1], Limits(nodes=1000)) for one in (used, new))
        assert (again.move, again.score, again.nodes) == (first.move, first.score, first.nodes)


def test_players_with_moves_to_go_divide_a_clock(game: GameUnderTest) -> None:
    for player in players_that(game, MOVES_TO_GO):
        assert all(1 <= player.moves_to_go(fast) < 1000 for _, fast in open_positions(game, 20))


def test_players_that_observe_do_it_quickly_and_play_on(game: GameUnderTest) -> None:
    for player in players_that(game, OBSERVE):
        quickest = math.inf
        for slow, fast in random_games(game, 30, seed=2):
            if len(slow.legal()) > 1:
                started = now()
                player.observe(fast, slow.legal()[-1])
                quickest = min(quickest, now() - started)
        assert quickest < (0.01 if SANITIZED else 0.001)
        slow, fast = next(open_positions(game, 3))
        assert player.choose(fast, Limits(nodes=300)).move in slow.legal()


def test_candidates_are_those_of_the_last_search(game: GameUnderTest) -> None:
    slow, fast = next(open_positions(game, 3))
    for player in players_that(game, CANDIDATES):
        assert player.candidates() == []
        found = player.choose(fast, Limits(nodes=1000))
        rows = player.candidates()
        assert rows[0]["move"] == found.move
        assert {row["move"] for row in rows} <= {*slow.legal()}
        assert len({row["move"] for row in rows}) == len(rows)
    for player in players_that(game, VISITS):
        assert player.visits() == []
        found = player.choose(fast, Limits(nodes=1000))
        counts = [count for _, count in player.visits()]
        assert player.visits()[0][0] == found.move
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] > 0
        assert sum(counts) == found.nodes


def test_expected_win_shares_add_up_to_one(game: GameUnderTest) -> None:
    _, fast = next(open_positions(game, 3))
    for player in players_that(game, EXPECTATION):
        assert player.expectation() is None
        player.choose(fast, Limits(nodes=1000))
        found = player.expectation()
        assert len(found) == game.info.players
        assert sum(found) == pytest.approx(1)
        assert min(found) >= 0


def test_players_that_solve_know_the_result(game: GameUnderTest) -> None:
    """Solve a ply before the end; with too few nodes the answer is None."""
    for player in players_that(game, SOLVE):
        solved = 0
        for number, (slow, fast) in enumerate(random_games(game, 400, seed=3)):
            ends = [slow.play(move) for move in slow.legal()]
            if ends and all(end.over for end in ends) and number:
                score = player.solve(fast, 100_000)
                leads = [
                    (mine or 0) - (theirs or 0)
                    for mine, theirs in (
                        (end.scores()[slow.to_move], end.scores()[1 - slow.to_move]) for end in ends
                    )
                ]
                assert score in (max(leads), (max(leads) > 0) - (max(leads) < 0))
                solved += 1
        assert solved
        assert player.solve(game.fast.start(), 100) is None


def test_several_lines_are_ranked(game: GameUnderTest) -> None:
    for player in players_that(game, MULTIPV):
        for slow, fast in open_positions(game, 6):
            told: list[SearchInfo] = []
            found = player.choose(fast, Limits(nodes=5000, multipv=3), told.append)
            latest = {info.rank: info for info in told}
            assert [*latest] == [*range(1, min(3, len(slow.legal())) + 1)]
            assert latest[1].nodes <= found.nodes
            for info in told:
                position: Position = slow
                for move in info.pv:
                    position = position.play(move)
                assert info.pv[0] == info.move
            ranks = [info.rank for info in told]
            for at in range(len(told)):
                if ranks[at] > 1:
                    assert ranks[at] == ranks[at - 1] + 1, "the best first"
                    block = told[at - ranks[at] + 1 : at + 1]
                    assert len({info.move for info in block}) == len(block)
            again = player.choose(fast, Limits(nodes=5000))
            assert again.rank == 1


def test_options_are_read_checked_and_used(game: GameUnderTest) -> None:
    with pytest.raises(UnknownNameError, match="has no option 'x'"):
        game.player(f"{game.player_names[-1]}:x=1", 1)
    for name in game.player_names:
        make: Any = type(game.player(name, 1))
        for option in options_of(make):
            assert option.help
            assert parse_player(f"{name}:{option.name}=v") == (name, {option.name: "v"})
            if option.kind is str:
                with pytest.raises(TextError, match=r"nowhere\.bin"):
                    game.player(f"{name}:{option.name}=nowhere.bin", 1)
                continue
            assert option.check(option.default) == option.default
            assert option.read(option.text(option.default)) == option.default
            for value in (option.default, option.minimum, option.maximum)[
                : 1 if option.kind is bool else 3
            ]:
                if option.name != "hash" or value != option.maximum:
                    game.player(f"{name}:{option.name}={option.text(option.kind(value))}", 1)
            for text in ("", "x", "1e99", "nan", "-1"):
                with pytest.raises(TextError, match=f"^{option.name} takes "):
                    game.player(f"{name}:{option.name}={text}", 1)
            with pytest.raises(TextError, match=f"^{option.name} takes "):
                make(**{option.name: "1"})
            with pytest.raises(UnknownNameError, match=option.name):
                make(nonsense=1)
            with pytest.raises(TextError, match="is given twice"):
                game.player(f"{name}:{option.name}=1,{option.name}=1", 1)


def test_explicit_defaults_change_nothing(whole_game: GameUnderTest) -> None:
    options = {
        option.name: option.text(option.default)
        for option in options_of(whole_game.player("bot", 1))
        if option.kind is not str
    }
    told: Any = whole_game.player(write_player("bot", options), 1)
    for _, fast in open_positions(whole_game, 4):
        told.new_game()
        found, usual = (
            player.choose(fast, whole_game.bench_limits)
            for player in (told, whole_game.player("bot", 1))
        )
        assert (found.move, found.score) == (usual.move, usual.score)


def test_names_of_players_are_parsed() -> None:
    assert parse_player("beam:5:12:6") == ("beam:5:12:6", {})
    assert parse_player("beam:5:x=1,y=a:b=c") == ("beam:5", {"x": "1", "y": "a:b=c"})
    assert parse_player("FOO=1 ./prog") == ("FOO=1 ./prog", {})
    assert parse_player("bot") == ("bot", {})
    for text in ("bot:x=1,", "bot:x=1,y", "bot:x=1,=2", "bot:=1"):
        with pytest.raises(TextError, match="is not of the form OPTION=VALUE"):
            parse_player(text)
    options = (Option("a", int, 3, "help", 1, 5), Option("b", bool, False, "help"))
    assert settled(options, {"a": 4}) == {"a": 4, "b": False}
    assert options[1].read("ON") is True
    with pytest.raises(TextError, match="b takes on or off, not 'maybe'"):
        options[1].read("maybe")
    with pytest.raises(TextError, match="a takes an integer from 1 to 5, not '9'"):
        settled(options, {"a": 9})
    with pytest.raises(UnknownNameError, match="there is no option 'c'; there are: a, b"):
        settled(options, {"c": 9})


def test_places_after_a_finished_game(game: GameUnderTest) -> None:
    *_, (slow, _) = random_games(game, 1)
    place = places(slow.scores(), lower_wins=game.info.lower_wins)
    best = (min if game.info.lower_wins else max)(
        score for score in slow.scores() if score is not None
    )
    assert [p == 1 for p in place] == [score == best for score in slow.scores()]


def reading(rules: type[Position], text: str) -> list[object] | str:
    """Return the position of a text, or the complaint. Any exception but TextError fails the
    test."""
    try:
        return state(rules.parse(text))
    except TextError as error:
        return str(error)


@given(text=st.text())
def test_any_text_is_parsed_or_rejected(game: GameUnderTest, text: str) -> None:
    assert reading(game.fast, text) == reading(game.reference, text)


@given(data=st.data())
def test_texts_with_errors_are_parsed_or_rejected(game: GameUnderTest, data: st.DataObject) -> None:
    """Replace, insert or remove a few characters of a valid text."""
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
