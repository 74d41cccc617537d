"""The apple game's protocol is word for word that of the official tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from applegame import protocol
from applegame.reference import Position
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
    YourTurn,
)

ROWS = (
    (Path(__file__).parent / "data" / "applegame" / "example_input.txt")
    .read_text(encoding="ascii")
    .split()
)
INIT = "INIT " + " ".join(ROWS)
START = Init("\n".join(ROWS))

MESSAGES: list[tuple[Message, str]] = [
    (Ready(0), "READY FIRST"),
    (Ready(1), "READY SECOND"),
    (START, INIT),
    (YourTurn(10000, 9950), "TIME 10000 9950"),
    (Opponent((0, 11, 0, 14), None, 70), "OPP 0 11 0 14 70"),
    (Opponent(protocol.PASS, None, 1), "OPP -1 -1 -1 -1 1"),
    (Finish(), "FINISH"),
]
ENTRIES: list[tuple[Entry, str]] = [
    (START, INIT),
    (Ply(0, (0, 11, 0, 14), None, 70), "FIRST 0 11 0 14 70"),
    (Ply(1, protocol.PASS, None, 0), "SECOND -1 -1 -1 -1 0"),
    (Finish(), "FINISH"),
    (Score(0, 4), "SCOREFIRST 4"),
    (Score(1, 5), "SCORESECOND 5"),
    (Abort(0, "Sum not equals to 10"), "ABORT 0 Sum not equals to 10"),
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


def test_init_comes_from_a_position_and_gives_one() -> None:
    position = Position.parse("\n".join(ROWS))
    assert protocol.format_message(Init(position.text()), 1) == INIT
    message = protocol.parse_message(INIT, 0)
    assert isinstance(message, Init)
    assert Position.parse(message.text) == position


def test_messages_that_this_judge_does_not_send() -> None:
    with pytest.raises(ValueError, match="does not say"):
        protocol.format_message(Drew(None), 0)
    assert protocol.format_entry(Debug(0, "hello")) is None


def test_answers() -> None:
    for move in ((0, 11, 0, 14), protocol.PASS):
        assert protocol.parse_answer(protocol.format_answer(move, 1), 1) == move
    assert protocol.format_answer((0, 11, 0, 14), 0) == "0 11 0 14"
    assert protocol.parse_answer(" 0\t11  0 140 \r", 0) == (0, 11, 0, 140)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "OK",
        "1 1 2",
        "1 1 2 2 2",
        "MOVE 1 1 2 2",
        "1 1 2 x",
        "1 1 2 2.0",
        "1 1 2 ²",
        "1 1 2 1234567890",
    ],
)
def test_bad_answers(text: str) -> None:
    with pytest.raises(TextError) as refused:
        protocol.parse_answer(text, 0)
    assert refused.value.code == "Parse failed"
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("text", ["", "OK ", "ok", " OK", "OK\r", "OK OK", "1 1 2 2"])
def test_ready_takes_ok_and_nothing_else(text: str) -> None:
    protocol.check_ready("OK")
    with pytest.raises(TextError):
        protocol.check_ready(text)


@pytest.mark.parametrize(
    "line",
    [
        "", "READY", "READY first", "TIME", "TIME 1", "TIME 1 x", "TURN 1 2", "OPP 1 1 2 2",
        "FINISH 1", "FIN", INIT[:-1], INIT + " 1", INIT[:-1] + "x", INIT[:-1] + "²", "INIT"
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
        "ABORT",
        "ABORT 2 TLE",
        INIT[:-1],
    ],
)
def test_bad_lines_of_a_log(line: str) -> None:
    with pytest.raises(TextError):
        protocol.parse_entry(line)
