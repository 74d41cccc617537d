"""A person in a seat: the keys of the terminal, what they select, and a game at a real terminal."""

from __future__ import annotations

import os
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
from quartet.judge.record import read_log

from quartet import registry
from quartet.cli.keys import split
from quartet.cli.person import Selection
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
    """Feed keys until something comes of one."""
    for key in keys:
        outcome = selection.feed(key)
        if outcome is not None:
            return outcome
    return None


def test_a_piece_and_a_destination() -> None:
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


def test_the_far_side_follows_the_last_one() -> None:
    chosen = selection()
    feed(chosen, "left")
    assert chosen.cursor == chosen.options[-1] == "1 3"
    feed(chosen, "right", "right", "down")
    assert chosen.cursor == "2 2"
    feed(chosen, "down", "down")
    assert chosen.cursor == "1 1"


def test_rules_say_why_not() -> None:
    chosen = selection()
    assert feed(chosen, *"3159", "enter") is None
    assert "four integers" in chosen.complaint
    feed(chosen, "escape", *"3 1 5 9", "enter")
    assert chosen.complaint == "the piece on (3, 1) cannot reach (5, 9)"


KEYS = st.sampled_from(
    ["up", "down", "left", "right", "enter", "escape", "tab", "x", "", "space", "backspace", "1"]
)


@given(st.lists(KEYS, max_size=60), st.integers(0, 3))
def test_whatever_is_pressed_only_legal_moves_come_out(keys: list[str], seat: int) -> None:
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
    """The real command at a terminal of its own."""

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

    def wait_for(self, words: str) -> None:
        """Read until the terminal has shown `words`, from now on."""
        self.press("", words)

    def press(self, keys: str, words: str) -> None:
        """Press keys until the terminal answers with `words`; again now and then, for keys are lost
        while nobody reads them."""
        start = len(self.seen)
        give_up = time.monotonic() + ENOUGH
        again = 0.0
        while words not in self.seen[start:]:
            assert time.monotonic() < give_up, self.seen[-2000:]
            if time.monotonic() > again:
                os.write(self._end, keys.encode())
                again = time.monotonic() + 2
            if select.select([self._end], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._end, 65536).decode("utf-8", "replace")
                except OSError as error:  # how Linux says that the other end is closed
                    raise AssertionError(self.seen[-2000:]) from error

    def close(self) -> int:
        """Wait for the end; gives the exit status."""
        try:
            return self.process.wait(ENOUGH)
        finally:
            self.process.kill()
            os.close(self._end)


@at_a_terminal
def test_a_person_plays_at_a_terminal(tmp_path: Path) -> None:
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
    terminal.press("q", "the game was left after 4 plies; the log is kept in")
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
    terminal.wait_for("run on")
    terminal.press("i", "run on")
    terminal.press("p", "the game ended after 8 plies")
    assert terminal.close() == 0


@at_a_terminal
def test_the_person_can_be_interrupted(tmp_path: Path) -> None:
    terminal = Terminal("match", "ugolki", "human", "none", "none", "none")
    terminal.wait_for("take it")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 130
