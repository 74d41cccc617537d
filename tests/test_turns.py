"""Turns and results in lines of quartet's logs are read as they were written."""

from __future__ import annotations

import pytest

from core.errors import TextError
from core.limits import SearchInfo
from quartet.judge.logs.jsonl import VERSION, Header, Record, line, read_log
from quartet.judge.turn import ExitReport, Result, Termination, Turn, Verdict

HEADER = Header("game", VERSION, ("a", None), 3, {"moves": 5}, False, 0.5, 256.0, "2026-01-01")
INFO = SearchInfo((1, 2, 3, 4), -35, 7, 12_345, 0.25, ((1, 2, 3, 4), (-1, -1, -1, -1)))
TURNS = [
    Turn(0, 1),
    Turn(
        ply=2,
        seat=1,
        input="a\nb\n",
        output="\xff1 2",
        output_size=9000,
        verdict=Verdict.LATE,
        reason="not ended",
        move=(1, 2),
        seconds=0.25,
        megabytes=12.5,
        exit=-9,
        stderr="info\x00",
        stderr_size=70_000,
        left_behind=2,
        drawn=0,
        ms=250,
        code="TLE",
        overloaded=True,
        said=((0, "one"), (1, "two")),
        info=INFO,
    ),
    Turn(3, 0, move=(), info=SearchInfo(())),
]
RESULTS = [
    Result(4, (1, 2), (2, 1), (0.0, 1.0), (0, 0), ()),
    Result(
        plies=4,
        scores=(None, 2),
        places=(None, 1),
        shares=(0.0, 1.0),
        lost=(0, 1),
        disqualified=(1,),
        termination=Termination.TLE,
        reason="SECOND gave no answer",
        offender=1,
        code="TLE",
        overloaded=True,
        notes=("FIRST left 1 process running",),
        exits=(None, ExitReport(None, True, 1, 0.5, 12.5)),
        said=((0, "bye"),),
    ),
]


def written(*records: Record) -> bytes:
    return b"".join(map(line, records))


def fields(info: SearchInfo | None) -> tuple[object, ...] | None:
    """Return what can be compared: SearchInfo has no equality."""
    if info is None:
        return None
    return info.move, info.score, info.depth, info.nodes, info.seconds, info.pv


def without_info(turn: Turn) -> tuple[object, ...]:
    return tuple(getattr(turn, name) for name in Turn.__struct_fields__ if name != "info")


@pytest.mark.parametrize("result", RESULTS)
def test_written_values_are_read_back(result: Result) -> None:
    data = written(HEADER, *TURNS, result)
    log = read_log(data)
    assert (log.header, log.result, log.cut) == (HEADER, result, False)
    assert list(map(without_info, log.turns)) == list(map(without_info, TURNS))
    assert [fields(turn.info) for turn in log.turns] == [fields(turn.info) for turn in TURNS]
    assert written(log.header, *log.turns, result) == data


def test_defaults_are_not_written() -> None:
    assert line(Turn(4, 1)) == b'{"type":"turn","ply":4,"seat":1}\n'
    assert b'"info":[[1,2,3,4],-35,7,12345,0.25,[[1,2,3,4],[-1,-1,-1,-1]]]' in line(TURNS[1])


@pytest.mark.parametrize(
    "info",
    [
        "7",
        "[]",
        "[[1],2,3]",
        '["x",0,0,0,0.0,[]]',
        "[[1],null,0,0,0.0,[]]",
        "[[1],0,0,0,0.0,[1]]",
        "[[1],0,0,0,0.0,[],1]",
        "{}",
        '"abcdef"',
        "[1,1e400,0,0,0,[]]",
    ],
)
def test_an_unreadable_search_names_its_line(info: str) -> None:
    turn = b'{"type":"turn","ply":4,"seat":1,"info":' + info.encode() + b"}\n"
    with pytest.raises(TextError, match=r"^line 2: "):
        read_log(line(HEADER) + turn)


@pytest.mark.parametrize(
    ("verdict", "termination"),
    [
        (Verdict.LATE, Termination.TLE),
        (Verdict.ILLEGAL, Termination.ILLEGAL),
        (Verdict.MEMORY, Termination.MEMORY),
        (Verdict.CRASHED, Termination.RE),
        (Verdict.MALFORMED, Termination.RE),
    ],
)
def test_a_forfeit_determines_the_termination(verdict: Verdict, termination: Termination) -> None:
    assert Termination.of(verdict) is termination
