"""A human selects moves with the keys of the terminal, and plays games at a real terminal."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quartet import registry
from quartet.cli.terminal.keys import split
from quartet.cli.terminal.selection import Action, Selection
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.logs.jsonl import read_log
from quartet.judge.logs.replays import ABORTED
from quartet.judge.turn import Verdict
from ugolki.reference import Position

if TYPE_CHECKING:
    from core.scene import SceneModule

SCENE = cast("SceneModule", registry.load("ugolki", "scene"))
ROOT = Path(__file__).parent.parent
ENOUGH = 60.0

at_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        ("\x1bOA\x1bOD", ["up", "left"]),
        ("\xe0H\xe0P\x00K\x00M", ["up", "down", "left", "right"]),
        ("\x7f\x08", ["backspace", "backspace"]),
        ("\r\n\t ", ["enter", "enter", "tab", "space"]),
        ("\x1b", ["escape"]),
        ("\x1b\x1b[A", ["escape", "up"]),
        ("\x1b[5~Q\x1b[1;5A", ["\x1b[5~", "q", "\x1b[1;5a"]),
        ("", []),
    ],
)
def test_keys(text: str, keys: list[str]) -> None:
    assert split(text) == keys


def selection() -> Selection:
    return Selection(SCENE, Position.start())


def feed(selection: Selection, *keys: str) -> object:
    """Feed keys; return the first outcome, None if there is none."""
    for key in keys:
        outcome = selection.feed(key)
        if outcome is not None:
            return outcome
    return None


def test_a_move_is_a_piece_and_a_destination() -> None:
    chosen = selection()
    assert chosen.cursor == "1 1"
    assert feed(chosen, "right", "right", "enter") is None
    assert chosen.taken == ("3 1",)
    move = feed(chosen, "right", "right", "enter")
    assert move in [legal for legal in Position.start().legal() if legal[:2] == (3, 1)]


def test_escape_puts_the_piece_back() -> None:
    chosen = selection()
    feed(chosen, "right", "enter", "down", "escape")
    assert (chosen.taken, chosen.cursor) == ((), "2 1")
    feed(chosen, "escape")
    assert (chosen.taken, chosen.cursor) == ((), "2 1")


def test_arrows_wrap_around() -> None:
    chosen = selection()
    feed(chosen, "left")
    assert chosen.cursor == chosen.options[-1] == "1 3"
    feed(chosen, "right", "right", "down")
    assert chosen.cursor == "2 2"
    feed(chosen, "down", "down")
    assert chosen.cursor == "1 1"


def test_illegal_moves_show_the_reason() -> None:
    chosen = selection()
    assert feed(chosen, *"3159", "enter") is None
    assert "four integers" in chosen.complaint
    feed(chosen, "escape", *"3 1 5 9", "enter")
    assert chosen.complaint == "the piece on (3, 1) cannot reach (5, 9)"


KEYS = st.sampled_from(
    ["up", "down", "left", "right", "enter", "escape", "tab", "x", "", "space", "backspace", "1"]
)


@given(st.lists(KEYS, max_size=60), st.integers(0, 3))
def test_any_keys_give_legal_moves_only(keys: list[str], seat: int) -> None:
    position = Position.start()
    for _ in range(seat):
        position = position.lose_turn()
    chosen = Selection(SCENE, position)
    for key in keys:
        move = chosen.feed(key)
        assert chosen.cursor in chosen.options
        if move is not None:
            assert move in position.legal()
            break


class Terminal:
    """A `quartet` command at a private terminal."""

    def __init__(self, *arguments: str) -> None:
        import pty  # noqa: PLC0415  (Windows has none)

        self._end, other = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "50"}
        command = [sys.executable, "-m", "quartet", *arguments]
        self.process = subprocess.Popen(
            command,
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment,
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""
        self._answered = 0

    def wait_for(self, words: str) -> None:
        """Read until the terminal has shown `words` since the last answer, or together with it."""
        self._read_for(words, "", self._answered)

    def press(self, keys: str, words: str) -> None:
        """Press keys until the terminal shows `words`. Repeat them now and then: keys are lost
        while no program reads them."""
        self._read_for(words, keys, len(self.seen))

    def _read_for(self, words: str, keys: str, start: int) -> None:
        """Press keys, if any, until `words` are among what was shown since `start`."""
        give_up = time.monotonic() + ENOUGH
        again = 0.0
        while words not in self.seen[start:]:
            assert time.monotonic() < give_up, self.seen[-2000:]
            if time.monotonic() > again:
                time.sleep(0.05 if keys else 0)
                os.write(self._end, keys.encode())
                again = time.monotonic() + 1
            assert self.read(0.1) or words in self.seen[start:], self.seen[-2000:]
        self._answered = self.seen.index(words, start) + len(words)

    def type(self, text: str, words: str) -> None:
        """Type a move, and play it; the terminal answers with `words`."""
        self.press(f"\x1b{text}", f"{text.lower()}_")
        self.press("\r", words)

    def play_on(self, words: str) -> None:
        """Press Enter whenever it is asked for, until the terminal has shown `words`."""
        asked = re.compile(rf"Enter: |{re.escape(words)}")
        seen, again = len(self.seen), 0.0
        give_up = time.monotonic() + ENOUGH
        while words not in self.seen[seen:]:
            assert time.monotonic() < give_up, self.seen[-2000:]
            if asked.search(self.seen, seen) or time.monotonic() > again:
                time.sleep(0.02)  # keys are lost while no program reads them
                seen, again = len(self.seen), time.monotonic() + 0.5
                os.write(self._end, b"\r")
            assert self.read(0.1) or words in self.seen[seen:], self.seen[-2000:]

    def read(self, seconds: float) -> bool:
        """Read what the terminal shows within `seconds`, if anything. Return False at the end."""
        if not select.select([self._end], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._end, 65536)
        except OSError:  # on Linux: the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def close(self) -> int:
        """Read to the end; return the exit status."""
        give_up = time.monotonic() + ENOUGH
        try:
            while time.monotonic() < give_up and self.read(0.1):
                pass
            return self.process.wait(ENOUGH)
        finally:
            self.process.kill()
            os.close(self._end)


@at_a_terminal
def test_a_human_plays_at_a_terminal(tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    terminal = Terminal(
        "match", "ugolki", "human", "none", "none", "none", "--moves", "2", "--log", str(log)
    )
    terminal.wait_for("take it")
    terminal.press("\x1b[C", "2 1")
    terminal.press("\x1b[C", "3 1")
    terminal.press("\r", "put it back")
    terminal.press("\r", "3 1 → ")
    terminal.wait_for("take it")
    terminal.press("q", "the game was aborted after 4 plies; the log is in")
    assert terminal.close() == 130
    kept = read_log(log.read_bytes())
    assert len(kept.turns) == 1
    assert kept.turns[0].move is not None
    assert kept.turns[0].move[:2] == (3, 1)
    assert "Traceback" not in terminal.seen


@at_a_terminal
def test_a_match_is_stepped(tmp_path: Path) -> None:
    program = f"{sys.executable} {ROOT / 'tests' / 'programs' / 'honest.py'}"
    terminal = Terminal(
        "match",
        "ugolki",
        program,
        program,
        "none",
        "none",
        "--moves",
        "2",
        "--seconds",
        "60",
        "--step",
    )
    terminal.wait_for("play on")
    terminal.press("i", "play on")
    terminal.press("p", ", after 8 plies")
    assert terminal.close() == 0


@at_a_terminal
def test_a_human_can_be_interrupted(tmp_path: Path) -> None:
    terminal = Terminal("match", "ugolki", "human", "none", "none", "none")
    terminal.wait_for("take it")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 130


# Every game of the registry


TABLES = {"ugolki": ("human", "greedy", "none", "none", "--moves", "3")}
"""Players of tables other than a human with one opponent."""


def table_of(name: str) -> tuple[str, ...]:
    """Return a human on the first seat, and a quick opponent."""
    return TABLES.get(name, ("human", "greedy"))


def written(name: str, number: int) -> str:
    """Return a legal move at the start, as typed."""
    start = games.load(name).position.start()
    scene = cast("SceneModule", registry.load(name, "scene"))
    return scene.write(start.legal()[number], start)


def key_of(name: str, action: Action) -> str:
    """Return the keys for a command at the start."""
    scene = cast("SceneModule", registry.load(name, "scene"))
    return Selection(scene, games.load(name).position.start()).key_of(action)


def checked(name: str, log: Path) -> CheckedLog:
    """Check a log by the library and by the command line."""
    found = check(games.load(name), log.read_bytes())
    assert found.complaint is None
    command = [sys.executable, "-m", "quartet", "replay", name, str(log), "--quiet"]
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    assert said == f"{log}: {found.sentence()}\n"
    return found


@at_a_terminal
@pytest.mark.parametrize(
    "name",
    [
        name if name == "ugolki" else pytest.param(name, marks=pytest.mark.slow)
        for name in registry.GAMES
    ],
)
def test_a_human_plays_a_whole_game(name: str, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    terminal = Terminal("match", name, *table_of(name), "--seconds", "5", "--log", str(log))
    terminal.wait_for("or type the move")
    terminal.press(key_of(name, Action.LIST), "no move has been made yet")
    terminal.press(key_of(name, Action.HINT), "hint: ")
    terminal.press("nonsense\r", "nonsense_")
    terminal.type(written(name, -1), f": {written(name, -1)}")
    terminal.wait_for("or type the move")
    terminal.press(key_of(name, Action.UNDO), "taken back to ply 0")
    terminal.wait_for("or type the move")
    assert "lost turns" not in terminal.seen
    terminal.type(written(name, 0), f": {written(name, 0)}")
    terminal.wait_for("or type the move")
    label = games.load(name).label(0)
    terminal.press(key_of(name, Action.LIST), f"0. {label} human: {written(name, 0)}")
    terminal.play_on("lost turns")
    assert terminal.close() == 0
    found = checked(name, log)
    assert found.notes == []
    assert found.positions[-1].over
    assert found.turns[0].move == games.load(name).position.start().legal()[0]
    assert found.match is not None
    assert found.match.lost == [0] * games.load(name).info.players
    if found.match.names[1]:  # some judges write no names
        assert found.match.names[:2] == ("human", "greedy")
    assert f", after {found.positions[-1].ply} plies" in terminal.seen
    assert "Traceback" not in terminal.seen


@at_a_terminal
@pytest.mark.parametrize("name", registry.GAMES)
def test_a_human_leaves_with_ctrl_c(name: str, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    terminal = Terminal("match", name, *table_of(name), "--log", str(log))
    terminal.wait_for("or type the move")
    terminal.type(written(name, 0), f": {written(name, 0)}")
    terminal.wait_for("or type the move")
    plies = 4 if name == "ugolki" else 2
    terminal.press("\x03", f"the game was aborted after {plies} plies; the log is in {log}")
    assert terminal.close() == 130
    assert "Traceback" not in terminal.seen
    found = checked(name, log)
    assert f"{ABORTED} after " in found.notes[-1]
    assert len(found.turns) == 2


@at_a_terminal
def test_takebacks_need_players_that_allow_them(tmp_path: Path) -> None:
    program = f"{sys.executable} -m applegame --player greedy"
    terminal = Terminal("match", "applegame", "human", program, "--seconds", "60")
    terminal.wait_for("or type the move")
    assert "undo" not in terminal.seen
    terminal.type(written("applegame", 0), f": {written('applegame', 0)}")
    terminal.wait_for("or type the move")
    terminal.press("u", "no move can be taken back here")
    terminal.press("\x03", "the game was aborted after 2 plies")
    assert terminal.close() == 130


@at_a_terminal
@pytest.mark.parametrize("name", registry.GAMES)
def test_the_clock_of_a_human_is_optional(name: str, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    clock = "--seconds", "0.1", "--human-clock", "--log", str(log)
    terminal = Terminal("match", name, *table_of(name), *clock)
    terminal.wait_for("or type the move")
    time.sleep(0.2)
    terminal.press(f"\x1b{written(name, 0)}", f"{written(name, 0).lower()}_")
    terminal.press("\r", "gave no answer at ply 0 within 100 ms")
    info = games.load(name).info
    if info.lines is None:
        terminal.wait_for("or type the move")
        terminal.press("\x03", f"the game was aborted after {info.players} plies")
        assert terminal.close() == 130
        assert [turn.verdict for turn in checked(name, log).turns] == [Verdict.LATE, Verdict.OK]
        return
    assert terminal.close() == 0
    assert "FIRST gave no answer at ply 0 within 100 ms, after 0 plies" in terminal.seen
    assert log.read_text().splitlines()[-1].startswith("ABORT ")
    assert checked(name, log).notes == ["FIRST forfeited the game: TLE"]
