"""Ataxx's protocol is word for word that of the official tool."""

from __future__ import annotations

import pytest

from ataxx import protocol
from ataxx.fen import START
from core.errors import TextError
from core.messages import (
    Abort,
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

MESSAGES: list[tuple[Message, str]] = [
    (Ready(0), "READY FIRST"),
    (Ready(1), "READY SECOND"),
    (YourTurn(10000, 9950), "TURN 10000 9950"),
    (Opponent((1, 1, 2, 2), None, 50), "OPP 1 1 2 2 50"),
    (Opponent(protocol.PASS, None, 1), "OPP -1 -1 -1 -1 1"),
    (Finish(), "FINISH"),
]
ENTRIES: list[tuple[Entry, str]] = [
    (Init(START), "INIT x5o/7/7/7/7/7/o5x x 0 1"),
    (Ply(0, (1, 1, 2, 2), None, 50), "FIRST 1 1 2 2 50"),
    (Ply(1, protocol.PASS, None, 0), "SECOND -1 -1 -1 -1 0"),
    (Finish(), "FINISH"),
    (Score(0, 30), "SCOREFIRST 30"),
    (Score(1, 19), "SCORESECOND 19"),
    (Abort(1, "Not legal"), "ABORT 1 Not legal"),
    (Abort(0, "TLE"), "ABORT 0 TLE"),
]


@pytest.mark.parametrize(("message", "line"), MESSAGES)
def test_lines_of_the_judge(message: Message, line: str) -> None:
    assert protocol.format_message(message, 0) == line
    for seat in (0, 1):
        assert protocol.parse_message(line, seat) == message
        assert protocol.parse_message(f" {line}\r", seat) == message


@pytest.mark.parametrize(("entry", "line"), ENTRIES)
def test_lines_of_the_log(entry: Entry, line: str) -> None:
    assert protocol.format_entry(entry) == line
    assert protocol.parse_entry(line) == entry


def test_messages_that_this_judge_does_not_send() -> None:
    for message in (Init(START), Drew(None)):
        with pytest.raises(ValueError, match="does not say"):
            protocol.format_message(message, 0)
    assert protocol.format_entry(Tag("FIRST", "COMMAND: x")) is None
    assert protocol.format_entry(Winner(0)) is None


def test_answers() -> None:
    for seat in (0, 1):
        for move in ((1, 2, 3, 4), protocol.PASS):
            assert protocol.parse_answer(protocol.format_answer(move, seat), seat) == move
    assert protocol.format_answer((1, 1, 2, 2), 0) == "MOVE 1 1 2 2"
    assert protocol.parse_answer("MOVE\t7  7 9 -12345\r", 0) == (7, 7, 9, -12345)


@pytest.mark.parametrize(
    "text", [
        "", " ", "OK", "MOVE", "MOVE 1 1 2", "MOVE 1 1 2 2 2", "1 1 2 2", "move 1 1 2 2",
        "MOVE 1 1 2 x", "MOVE 1 1 2 2.0", "MOVE 1 1 2 ²", "MOVE 1 1 2 --2", "MOVE 1 1 2 1234567890"
    ]
)  # fmt: skip
def test_bad_answers(text: str) -> None:
    with pytest.raises(TextError) as refused:
        protocol.parse_answer(text, 0)
    assert refused.value.code == "Parse failed"
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("text", ["", "OK ", "ok", " OK", "OK\r", "OK OK", "MOVE 1 1 2 2"])
def test_ready_takes_ok_and_nothing_else(text: str) -> None:
    protocol.check_ready("OK")
    with pytest.raises(TextError) as refused:
        protocol.check_ready(text)
    assert refused.value.code == "Parse failed"


@pytest.mark.parametrize(
    "line",
    [
        "", "READY", "READY THIRD", "READY FIRST SECOND", "TURN", "TURN 1", "TURN 1 x",
        "TURN 1 2 3", "TIME 1 2", "OPP", "OPP 1", "OPP 1 1 2 50", "OPP 1 1 2 2", "OPP 1 1 2 2 3 4",
        "FINISH 1", "FIN", "GET R1", "INIT"
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
        "FIRST 1 1 2 2",
        "THIRD 1 1 2 2 3",
        "SCOREFIRST",
        "SCOREFIRST x",
        "SCORETHIRD 1",
        "ABORT",
        "ABORT 2 TLE",
        "FINISH 1",
        "[x]",
    ],
)
def test_bad_lines_of_a_log(line: str) -> None:
    with pytest.raises(TextError):
        protocol.parse_entry(line)
