"""Connexion's protocol is word for word that of the official tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from connexion import protocol
from connexion.geometry import CELL, TILE
from connexion.reference import Position
from core.errors import TextError
from core.messages import (
    Abort,
    Debug,
    Drew,
    Entry,
    Finish,
    Init,
    Message,
    Opponent,
    Ply,
    Ready,
    Score,
    Tag,
    Winner,
    YourTurn,
)

EXAMPLE = (Path(__file__).parent / "data" / "connexion" / "example_input.txt").read_text(
    encoding="ascii"
)
PLACE, R1, B3 = CELL["a6+"], TILE["R1"], TILE["B3"]
TO_FIRST, TO_SECOND = "INIT R1 Y3 B1 G4 Y1 G3 Y3 R1 Y2 R3", "INIT G3 Y3 R1 Y2 R3 R1 Y3 B1 G4 Y1"

MESSAGES: list[tuple[Message, str]] = [
    (Ready(0), "READY FIRST"),
    (Ready(1), "READY SECOND"),
    (YourTurn(10000, 9950), "TIME 10000 9950"),
    (Drew(R1), "GET R1"),
    (Drew(None), "GET X0"),
    (Opponent((PLACE, R1), B3, 3), "OPP a6+ R1 B3 3"),
    (Opponent((PLACE, R1), None, 3), "OPP a6+ R1 X0 3"),
    (Finish(), "FINISH"),
]
ENTRIES: list[tuple[Entry, str]] = [
    (Tag("FIRST", "COMMAND: python a.py P1"), '[FIRST "COMMAND: python a.py P1"]'),
    (Tag("SECOND", ""), '[SECOND ""]'),
    (Winner(0), '[RESULT "1-0"]'),
    (Winner(1), '[RESULT "0-1"]'),
    (Winner(None), '[RESULT "1/2-1/2"]'),
    (Ply(0, (PLACE, R1), B3, 2), "FIRST a6+ R1 B3 2"),
    (Ply(1, (PLACE, R1), None, 2), "SECOND a6+ R1 X0 2"),
    (Finish(), "FINISH"),
    (Score(0, 314), "SCOREFIRST 314"),
    (Score(1, 270), "SCORESECOND 270"),
    (Abort(0, "NO TILE"), "ABORT FIRST NO TILE"),
    (Abort(1, "TLE"), "ABORT SECOND TLE"),
    (Debug(0, "depth 4: a6+"), "# Debug FIRST: depth 4: a6+"),
    (Debug(1, ""), "# Debug SECOND: "),
]


@pytest.mark.parametrize(("message", "line"), MESSAGES)
def test_lines_of_the_judge(message: Message, line: str) -> None:
    for seat in (0, 1):
        assert protocol.format_message(message, seat) == line
        assert protocol.parse_message(line, seat) == message
        assert protocol.parse_message(f" {line}\r", seat) == message


@pytest.mark.parametrize(("entry", "line"), ENTRIES)
def test_lines_of_the_log(entry: Entry, line: str) -> None:
    assert protocol.format_entry(entry) == line
    assert protocol.parse_entry(line) == entry


def test_init_starts_with_the_own_hand() -> None:
    position = Position.parse(EXAMPLE)
    for seat, line in enumerate((TO_FIRST, TO_SECOND)):
        assert protocol.format_message(Init(position.text()), seat) == line
        message = protocol.parse_message(line, seat)
        assert isinstance(message, Init)
        assert Position.parse(message.text).hands == position.hands
        assert protocol.format_message(message, seat) == line
    assert protocol.format_entry(Init(position.text())) == TO_FIRST
    entry = protocol.parse_entry(TO_FIRST)
    assert isinstance(entry, Init)
    assert Position.parse(entry.text).hands == position.hands


def test_answers() -> None:
    assert protocol.format_answer((PLACE, R1), 0) == "PUT a6+ R1"
    assert protocol.parse_answer(" PUT\ta6+  R1 \r", 1) == (PLACE, R1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "PUT PARSE FAILED"),
        ("OK", "PUT PARSE FAILED"),
        ("PUT a6+", "PUT PARSE FAILED"),
        ("PUT a6+ R1 R2", "PUT PARSE FAILED"),
        ("put a6+ R1", "PUT PARSE FAILED"),
        ("PUT a1- R9", "CELL PARSE FAILED"),
        ("PUT A6+ R1", "CELL PARSE FAILED"),
        ("PUT a6+ X0", "TILE PARSE FAILED"),
        ("PUT a6+ r1", "TILE PARSE FAILED"),
    ],
)
def test_bad_answers_have_the_official_codes(text: str, code: str) -> None:
    with pytest.raises(TextError) as refused:
        protocol.parse_answer(text, 0)
    assert refused.value.code == code
    assert len(str(refused.value).splitlines()) == 1


def test_ready_is_stripped() -> None:
    for text in ("OK", " OK", "OK \r"):
        protocol.check_ready(text)
    for text in ("", "ok", "OK OK", "PUT a6+ R1"):
        with pytest.raises(TextError) as refused:
            protocol.check_ready(text)
        assert refused.value.code == "INVALID READY MESSAGE"


@pytest.mark.parametrize(
    "line",
    [
        "", "READY", "TIME", "TIME 1", "TURN 1 2", "GET", "GET R5", "GET R1 R2", "OPP a6+ R1 3",
        "OPP a1- R1 B3 3", "OPP a6+ R1 X1 3", "FINISH 1", "FIN",
        TO_FIRST[:-1], TO_FIRST[:-3], TO_FIRST + " R1", "INIT R1 R1 R1 G4 Y1 G3 Y3 R1 Y2 R3",
        "INIT X0 Y3 B1 G4 Y1 G3 Y3 R1 Y2 R3",
    ],
)  # fmt: skip
def test_bad_lines_of_a_judge(line: str) -> None:
    with pytest.raises(TextError) as refused:
        protocol.parse_message(line, 0)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "",
        "FIRST",
        "FIRST a6+ R1 2",
        '[RESULT "2-0"]',
        "[RESULT 1-0]",
        "[FIRST",
        '[FIRST "]',
        "[]",
        "SCOREFIRST",
        "ABORT",
        "ABORT 2 TLE",
    ],
)
def test_bad_lines_of_a_log(line: str) -> None:
    with pytest.raises(TextError):
        protocol.parse_entry(line)


def test_other_comments_belong_to_no_player() -> None:
    assert protocol.parse_entry("# anything") == Debug(None, "anything")
    assert protocol.parse_entry("# Debug") == Debug(None, "Debug")
