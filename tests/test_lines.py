"""Agents of the line judges play whole games and survive every error: they play a legal move or
exit with status 0."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Self

import pytest

import core.agent.lines
import core.native.clock
from core.agent.cli import equip, parse_arguments
from core.agent.files import GOOD
from core.agent.lines import PANIC_MS, Agent, converse
from core.engine import MOVES_TO_GO
from core.errors import QuartetError, TextError
from core.limits import Limits, SearchInfo
from core.messages import Finish, Init, Ready, YourTurn
from core.players import Greedy, Uniform
from core.timeman import SHARE
from quartet.judge import game as games
from quartet.judge.logs.check import check
from tests.linegames import NAMES, LineGame, judge, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from core.rules import Position

ROOT = Path(__file__).resolve().parents[1]
CALLS = ("READY", "TURN", "TIME")
"""First words of the lines that are answered."""


@pytest.fixture(params=NAMES)
def line_game(request: pytest.FixtureRequest) -> LineGame:
    return load(request.param)


class Disturbed:
    """A channel between judge and agent that replaces one line, given by number, with other lines.
    The judge reads answers from a queue."""

    def __init__(
        self, game: LineGame, number: int, change: Callable[[str], list[str]], name: str = "random"
    ) -> None:
        self.agent = game.agent(name, 7)
        self.number = number
        self.change = change
        self.count = 0
        self.answers: list[str] = []

    def hear(self, line: str) -> str | None:
        for delivered in self.change(line) if self.count == self.number else [line]:
            if not self.agent.done:
                answer = self.agent.hear(delivered)
                self.answers += [answer] if answer is not None else []
        self.count += 1
        if line.split(maxsplit=1)[0] not in {"READY", "TURN", "TIME"}:
            return None
        return self.answers.pop(0) if self.answers else None


def disturbed_game(game: LineGame, seat: int, disturbed: Disturbed, plies: int) -> bool:
    """Return True if the game ended. An illegal answer, or silence of a running agent, fails the
    test."""
    other = game.agent("random", 8)
    try:
        judge(game, (disturbed, other) if seat == 0 else (other, disturbed), plies=plies)
    except TextError:  # no answer
        assert disturbed.agent.done
        return False
    return True


class CrashingPlayer:
    """A player that raises."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        raise ZeroDivisionError("a bug\nof ours")


class Cheat:
    """A player whose moves are not legal."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo((99, 99, 99, 99))


class Asleep:
    """A player that must not be asked."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        raise AssertionError("no search is expected here")


class Clocked:
    """A player that keeps the limits it was given."""

    def __init__(self) -> None:
        self.limits: list[Limits] = []

    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        self.limits.append(limits)
        return SearchInfo(position.legal()[-1])


@pytest.mark.parametrize("seed", range(3))
def test_agents_play_whole_games_whose_logs_agree(line_game: LineGame, seed: int) -> None:
    for names in (("random", "random"), ("greedy", "random")):
        agents = line_game.agent(names[0], seed), line_game.agent(names[1], seed + 10)
        log = judge(line_game, agents, seed)
        assert agents[0].done
        assert agents[1].done
        checked = check(games.load(line_game.name), ("\n".join(log) + "\n").encode())
        assert checked.agrees, checked.complaint
        assert checked.notes == []


def test_a_second_game_in_the_same_process(line_game: LineGame) -> None:
    agents = line_game.agent("random", 1), line_game.agent("random", 2)
    assert judge(line_game, agents, 1) != judge(line_game, agents, 2)


@pytest.mark.parametrize("player", [CrashingPlayer(), Cheat()])
def test_a_failing_player_loses_no_game(
    line_game: LineGame, player: CrashingPlayer | Cheat, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(line_game, (line_game.agent(player=player), line_game.agent("random")))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert all(line.startswith("internal error: ") for line in captured.err.splitlines())
    assert captured.err


def first_turn(game: LineGame, agent: Agent, mine: int) -> tuple[Position, str | None]:
    """Call the agent as FIRST with a clock in milliseconds; return the start position and the
    answer."""
    start = game.rules.start(3)
    assert agent.hear(game.protocol.format_message(Ready(0), 0)) == "OK"
    if game.init:
        assert agent.hear(game.protocol.format_message(Init(start.text()), 0)) is None
    return start, agent.hear(game.protocol.format_message(YourTurn(mine, 10000), 0))


def is_legal(game: LineGame, position: Position, answer: str | None) -> bool:
    assert answer is not None
    try:
        position.play(game.protocol.parse_answer(answer, position.to_move))
    except QuartetError:
        return False
    return True


def test_an_agent_moves_while_the_judge_continues_a_finished_game() -> None:
    game = load("applegame")
    agent = game.agent()
    over = game.rules.start(3).play(game.pass_move).play(game.pass_move)
    assert agent.hear(game.protocol.format_message(Ready(0), 0)) == "OK"
    agent.hear(game.protocol.format_message(Init(over.text()), 0))
    agent._position = over
    answer = agent.hear(game.protocol.format_message(YourTurn(PANIC_MS - 1, 10000), 0))
    assert answer is not None
    assert game.protocol.parse_answer(answer, 0) == over.pseudolegal()[-1]


@pytest.mark.parametrize("mine", [PANIC_MS - 1, 1, 0, -5])
def test_a_short_clock_gives_an_immediate_answer(line_game: LineGame, mine: int) -> None:
    start, answer = first_turn(line_game, line_game.agent(player=Asleep()), mine)
    assert is_legal(line_game, start, answer)


def test_the_deadline_follows_the_clock(line_game: LineGame) -> None:
    player = Clocked()
    agent = line_game.agent(player=player)
    first_turn(line_game, agent, 10000)
    first_turn(line_game, agent, 1000)
    deadlines = [limits.deadline for limits in player.limits]
    assert deadlines[0] is not None
    assert deadlines[1] is not None
    assert 0.1 < deadlines[0] - deadlines[1] < 0.5


def test_deadlines_are_on_the_clock_of_compiled_searches(line_game: LineGame) -> None:
    player = Clocked()
    before = core.native.clock.now()
    first_turn(line_game, line_game.agent(player=player), 10000)
    deadline = player.limits[0].deadline
    assert deadline is not None
    assert 0 < deadline - before - 10 / SHARE < 60
    assert core.agent.lines.CLOCK is core.native.clock.now


class Paced(Clocked):
    """A player that wants a clock to last for 20 moves."""

    CAPABILITIES = frozenset({MOVES_TO_GO})

    def moves_to_go(self, position: Position) -> float:  # noqa: ARG002
        return 20.0


def test_time_lost_outside_searches_is_not_planned(line_game: LineGame) -> None:
    """Let 8 ms pass between two requests, none of it in a search."""
    player = Paced()
    agent = line_game.agent(player=player, clock=lambda: 100.0)
    judge(line_game, (agent, line_game.agent("random", 8)), plies=6, lost=4)
    soft = [limits.soft for limits in player.limits]
    usable = [9.85, 9.842 - 0.32, 9.834 - 0.32]  # 40 moves of 8 ms
    assert soft == pytest.approx([100 + seconds / 20 for seconds in usable])


def test_agents_have_a_clock_without_compiled_modules(line_game: LineGame) -> None:
    """Check the fallback of a contest: plain Python alone."""
    code = f"""
import importlib.abc, sys, time
class NothingCompiled(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "core.native.clock":
            raise ModuleNotFoundError("not compiled", name=name)
sys.meta_path.insert(0, NothingCompiled())
from core.agent import lines
from tests.linegames import load
assert lines.CLOCK is time.monotonic
game = load({line_game.name!r})
assert game.agent().hear("READY FIRST") == "OK"
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("noise", ["hello", "TUR", "\x00\x01", "é", "[RESULT]", "-1 -1 -1 -1", ""])
def test_an_unknown_line_is_ignored(
    line_game: LineGame, seat: int, noise: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Insert it at every place: each request gets one answer, a legal move."""
    for number in range(14):
        disturbed = Disturbed(line_game, number, lambda line: [noise, line])
        assert disturbed_game(line_game, seat, disturbed, plies=16)
        assert disturbed.answers == []
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") <= 14


def test_an_unknown_line_after_the_last_move_is_ignored(line_game: LineGame) -> None:
    for seat in (0, 1):
        whole = Disturbed(line_game, -1, lambda line: [line])
        assert disturbed_game(line_game, seat, whole, plies=1000)
        disturbed = Disturbed(line_game, whole.count - 1, lambda line: ["noise", line])
        assert disturbed_game(line_game, seat, disturbed, plies=1000)
        assert disturbed.answers == []


@pytest.mark.parametrize("seat", [0, 1])
def test_truncated_lines_give_legal_moves_or_a_clean_exit(line_game: LineGame, seat: int) -> None:
    """Cut each of the first lines at every place; the game continues after it."""
    ends = set()
    for number in range(7):
        for cut in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 25, 60, 150):
            disturbed = Disturbed(line_game, number, lambda line, cut=cut: [line[:cut]])  # type: ignore[misc]
            ends.add(disturbed_game(line_game, seat, disturbed, plies=6))
    assert True in ends


@pytest.mark.parametrize("seat", [0, 1])
def test_repeated_lines_give_legal_moves_or_a_clean_exit(line_game: LineGame, seat: int) -> None:
    for number in range(2, 12):
        disturbed_game(
            line_game, seat, Disturbed(line_game, number, lambda line: [line, line]), plies=8
        )


@pytest.mark.parametrize("seat", [0, 1])
def test_missing_lines_give_legal_moves_or_a_clean_exit(line_game: LineGame, seat: int) -> None:
    for number in range(12):
        # A program cannot answer a call that does not come.
        disturbed = Disturbed(
            line_game, number, lambda line: [line] if line.split()[0] in CALLS else []
        )
        disturbed_game(line_game, seat, disturbed, plies=8)


def test_garbage_raises_no_exception_in_an_agent(line_game: LineGame) -> None:
    random = Random(5)

    def change(line: str) -> list[str]:
        place = random.randrange(len(line) + 1)
        return [
            line[:place]
            + "".join(random.choices("019 -xXR\x7f\0é", k=3))
            + line[place + random.randint(0, 3) :]
        ]

    for _ in range(100):
        disturbed = Disturbed(line_game, random.randrange(16), change)
        other = line_game.agent("random", 8)
        # garbage may look like another line, and then a good answer to it is illegal
        with contextlib.suppress(QuartetError):
            judge(
                line_game,
                (disturbed, other) if random.random() < 0.5 else (other, disturbed),
                plies=10,
            )


class Closed(io.RawIOBase):
    """A sink without a reader."""

    def write(self, data: object) -> int:  # noqa: ARG002
        raise BrokenPipeError


def test_end_of_input_and_closed_output_exit_cleanly(line_game: LineGame) -> None:
    for text in (
        "",
        "READY FIRST",
        "READY FIRST\n",
        "READY FIRST\n\n\n",
        "\n",
        "READY FIRST\nFINISH\nREADY FIRST\n",
    ):
        sink = io.BytesIO()
        assert converse(line_game.agent(), io.BytesIO(text.encode()), sink) == GOOD
        assert sink.getvalue() == (b"OK\n" if "READY" in text else b"")
    assert converse(line_game.agent(), io.BytesIO(b"READY FIRST\n"), Closed()) == GOOD  # type: ignore[arg-type]


def test_an_endless_line_is_bounded(
    line_game: LineGame, capsys: pytest.CaptureFixture[str]
) -> None:
    sink = io.BytesIO()
    assert (
        converse(
            line_game.agent(), io.BytesIO(b"READY FIRST\n" + b"x" * (1 << 20) + b"\nFINISH\n"), sink
        )
        == GOOD
    )
    assert sink.getvalue().startswith(b"OK\n")
    assert len(capsys.readouterr().err) < 10_000


class AgentProcess:
    """`python -m GAME` as a child process."""

    def __init__(self, name: str, *arguments: str) -> None:
        command = [sys.executable, "-m", name, *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        self.rest = b""

    def hear(self, line: str) -> str | None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        if line.split(maxsplit=1)[0] not in {"READY", "TURN", "TIME"}:
            return None
        return self.process.stdout.readline().decode("ascii").removesuffix("\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.process.kill()
        self.rest, self.errors = self.process.communicate(timeout=20)


def test_programs_play_a_game(line_game: LineGame) -> None:
    """Run two processes, a greedy and a random one, with the word that some judges add."""
    with (
        AgentProcess(line_game.name, "--player", "greedy", "NYPC") as first,
        AgentProcess(line_game.name, "--player", "random", "--seed", "4") as second,
    ):
        log = judge(line_game, (first, second))
    for program in (first, second):
        assert (program.process.returncode, program.rest, program.errors) == (0, b"", b"")
    assert check(games.load(line_game.name), "\n".join(log).encode()).agrees


def test_a_program_ends_quietly_if_its_judge_dies(line_game: LineGame) -> None:
    with AgentProcess(line_game.name) as program:
        assert program.hear("READY FIRST") == "OK"
    assert (program.process.returncode, program.rest, program.errors) == (0, b"", b"")


def test_unknown_options_are_reported_before_the_game(
    line_game: LineGame, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parse_arguments(line_game.name, ["--players", "greedy"], ["greedy", "random"])
    assert left.value.code == 2
    assert "--player NAME" in capsys.readouterr().err


def test_unknown_players_are_reported_before_the_game(
    line_game: LineGame, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = parse_arguments(line_game.name, ["--player", "unknown"], ["greedy", "random"])
    with pytest.raises(SystemExit) as left:
        equip(choice, line_game.player, lambda: line_game.rules, lambda: line_game.rules)
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'unknown'" in line
    assert "greedy" in line


def test_options_and_environment(
    line_game: LineGame, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def chosen(*words: str) -> tuple[str, bool, int | None, int | None]:
        choice = parse_arguments(line_game.name, words, ["greedy", "random"])
        return choice.player, choice.asked, choice.seed, choice.nodes

    assert chosen("NYPC") == ("greedy", False, None, None)
    assert chosen("NYPC", "--seed", "3") == ("greedy", False, 3, None)
    assert chosen("--player", "greedy", "--nodes", "20") == ("greedy", True, None, 20)
    monkeypatch.setenv("QUARTET_SEED", "5")
    monkeypatch.setenv("QUARTET_NODES", "many")
    assert chosen() == ("greedy", False, 5, None)
    assert chosen("--seed", "6") == ("greedy", False, 6, None)
    bad = "QUARTET_NODES is 'many', not a number from 1 on"
    assert capsys.readouterr().err.splitlines() == [bad] * 2
    with pytest.raises(SystemExit):
        chosen("--nodes", "0")


def test_nodes_instead_of_the_clock(line_game: LineGame) -> None:
    limits: list[Limits] = []

    class Asked(Uniform):
        def choose(self, position: Position, limit: Limits) -> SearchInfo:
            limits.append(limit)
            return super().choose(position, limit)

    for nodes in (None, 50):
        rules, protocol = line_game.rules, line_game.protocol
        agent = Agent(protocol, rules, Asked(Random(1)), init=line_game.init, nodes=nodes)
        agent.hear(protocol.format_message(Ready(0), 0))
        if line_game.init:
            agent.hear(protocol.format_message(Init(rules.start().text()), 0))
        assert agent.hear(protocol.format_message(YourTurn(10000, 10000), 0)) is not None
    assert [limit.nodes for limit in limits] == [None, 50]
    assert limits[0].deadline is not None
    assert limits[1].deadline is None


def test_an_agent_without_engine_plays_greedy(
    line_game: LineGame, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing() -> type[Position]:
        raise ModuleNotFoundError("No module named 'rules'", name="rules")

    choice = parse_arguments(line_game.name, [], ["bot", "greedy"])
    rules, player = equip(choice, line_game.player, nothing, lambda: line_game.rules)
    assert rules is line_game.rules
    assert isinstance(player, Greedy)
    said = capsys.readouterr().err
    assert said.startswith("rules is missing: falling back to greedy; ")
    assert len(said.splitlines()) == 1
    # A program plays the requested player or none.
    asked = parse_arguments(line_game.name, ["--player", "bot"], ["bot", "greedy"])
    with pytest.raises(SystemExit) as left:
        equip(asked, line_game.player, nothing, lambda: line_game.rules)
    assert left.value.code == 1
    assert "to compile the modules" in capsys.readouterr().err


def test_finish_ends_the_conversation(line_game: LineGame) -> None:
    agent = line_game.agent()
    assert agent.hear(line_game.protocol.format_message(Finish(), 0)) is None
    assert agent.done
