"""All published logs of line judges agree with the rules, known deviations are noted, and every
error is found."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.messages import SIDES
from quartet import registry
from quartet.arena.config import PlayerConfig, RunConfig
from quartet.arena.unit import play
from quartet.judge import game as games
from quartet.judge.logs import check as checking
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.logs.replays import DOUBLED, NO_FINISH, NO_SCORES, OMITTED, TORN
from quartet.judge.turn import Termination, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parent / "data"
LOGS = sorted(DATA.glob("*/logs/*.txt"))

PASSES = """INIT 52466443835422223 13254826938785712 87598398564241564 72722154162442227 43968227685821641 \
27727492381231148 56138649164249527 36281415328768234 62682694189422313 62269566965435457
FIRST 0 11 0 14 70
SECOND -1 -1 -1 -1 3
FIRST 7 2 7 3 10
SECOND 1 13 5 13 40
FIRST -1 -1 -1 -1 5
SECOND -1 -1 -1 -1 6
FINISH
SCOREFIRST 6
SCORESECOND 5
"""
STUCK = """INIT x--4/---4/---4/7/7/7/oooooo1 x 0 1
FIRST -1 -1 -1 -1 1
SECOND 7 6 7 7 5
FIRST -1 -1 -1 -1 1
SECOND 7 1 6 1 5
"""


NAMES = [name for name in registry.GAMES if games.load(name).info.lines is not None]


def check(game: str, text: str) -> CheckedLog:
    return checking.check(games.load(game), text.encode())


def without(text: str, *words: str) -> str:
    return "".join(
        line for line in text.splitlines(keepends=True) if not any(word in line for word in words)
    )


def test_published_logs_exist() -> None:
    assert len(LOGS) == 90


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_published_logs_agree(path: Path) -> None:
    log = check(path.parts[-3], path.read_text(encoding="ascii"))
    assert log.agrees, log.complaint
    assert log.notes == []
    assert log.positions[-1].over
    assert len(log.positions) == len(log.turns) + 1


@pytest.mark.parametrize("game", sorted({path.parts[-3] for path in LOGS}))
def test_the_first_lines_tell_the_game(game: str) -> None:
    path = next(path for path in LOGS if path.parts[-3] == game)
    assert checking.origin(path.read_bytes()) == game
    assert checking.origin(path.read_bytes(), game) is None


def test_the_header_of_a_record_tells_the_game() -> None:
    record = (DATA / "old" / "ugolki.jsonl").read_bytes()
    assert checking.origin(record) == "ugolki"
    assert checking.origin(record, "ugolki") is None
    assert checking.origin(b"nonsense") is None


def test_published_logs_match_their_index() -> None:
    index: list[dict[str, Any]] = json.loads(
        (DATA / "applegame" / "logs" / "index.json").read_text(encoding="utf-8")
    )
    assert len(index) == 39
    for entry in index:
        log = check(
            "applegame", (DATA / "applegame" / "logs" / entry["file"]).read_text(encoding="ascii")
        )
        assert list(log.positions[-1].scores()) == entry["score"]
        assert len(log.turns) == entry["plies"]


def test_published_logs_are_written_back_unchanged() -> None:
    for path in LOGS:
        protocol = games.load(path.parts[-3]).protocol
        for line in path.read_text(encoding="ascii").splitlines():
            assert protocol.format_entry(protocol.parse_entry(line)) == line


def doubled(text: str) -> str:
    return "".join(
        line * 2 if "-1 -1 -1 -1" in line else line for line in text.splitlines(keepends=True)
    )


@pytest.mark.parametrize(
    ("change", "notes"),
    [
        (lambda text: text, []),
        (lambda text: text.replace("\n", "\r\n"), []),
        (lambda text: text.rstrip("\n"), []),
        (lambda text: text.replace("FINISH", "\n\nFINISH"), []),
        (doubled, [DOUBLED]),
        (lambda text: without(text, "-1 -1"), [OMITTED]),
        (lambda text: without(text, "SECOND -1"), [OMITTED]),
        (lambda text: without(text, "FIRST -1"), [OMITTED]),
        (lambda text: without(text, "FINISH"), [NO_FINISH]),
        (lambda text: without(text, "FINISH", "-1 -1"), [OMITTED, NO_FINISH]),
        (lambda text: without(doubled(text), "FINISH"), [DOUBLED, NO_FINISH]),
        (lambda text: without(text, "SCORE"), [NO_SCORES]),
        (lambda text: without(text, "SCOREFIRST"), [NO_SCORES]),
        (
            lambda text: text[: text.index("FIRST 7")],
            [NO_FINISH, "the game was aborted after 2 plies"],
        ),
        (
            lambda text: text[: text.index("FIRST 7") + 9],
            [TORN, NO_FINISH, "the game was aborted after 2 plies"],
        ),
        (
            lambda text: text[: text.index("FIRST 7")] + "ABORT 0 Not fit\n",
            ["FIRST forfeited the game: Not fit"],
        ),
    ],
)
def test_deviations_of_real_logs_are_noted(change: Callable[[str], str], notes: list[str]) -> None:
    log = check("applegame", change(PASSES))
    assert log.complaint is None
    assert log.notes == notes
    assert log.agrees
    if not any("FIRST" in note or "aborted" in note for note in notes):
        assert log.positions[-1].scores() == (6, 5)
        assert len(log.turns) == 6
        assert log.sentence() == "ok, 6 plies, cells 6 5" + "".join(f"; {note}" for note in notes)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("SCOREFIRST 6", "SCOREFIRST 7", "line 9: FIRST has 7 cells, by the rules 6"),
        ("SCORESECOND 5", "SCORESECOND 4", "line 10: SECOND has 4 cells, by the rules 5"),
        ("SCORESECOND 5", "SCOREFIRST 6", "line 10: a second score"),
        ("FIRST 0 11 0 14", "FIRST 0 11 0 13", "line 2: the digits in .* sum to"),
        ("FIRST 0 11 0 14", "FIRST 0 11 10 14", "line 2: .* is not a rectangle"),
        ("FIRST 0 11 0 14 70", "FIRST 0 11 0 14", "line 2: a move is four integers"),
        # it could be a pass that is not printed, but then it ends too early
        ("SECOND 1 13", "FIRST 1 13", "line 7: the game is over"),
        ("INIT", "INTI", "line 1: a log has no line"),
        ("INIT 5", "INIT ", "line 1: row 0"),
        ("FINISH", "FINISH\nFINISH", "line 9: a second FINISH"),
        ("FINISH", "FINISH\nFIRST 9 9 9 9 1", "line 9: a move after the end"),
        ("FIRST 7", "INIT 1\nFIRST 7", "line 4: INIT has 1 rows"),
        ("SECOND -1 -1 -1 -1 6\nFINISH", "ABORT 1 TLE\nFINISH", None),
        ("FINISH", "ABORT 1 TLE\nFINISH", "line 8: a forfeit after the end"),
        ("FIRST 7", "ABORT 0 TLE\nFIRST 7", "line 5: a move after the end"),
        ("FIRST 7", "what\nFIRST 7", "line 4: a log has no line 'what'"),
    ],
)
def test_disagreements_are_found(old: str, new: str, complaint: str | None) -> None:
    log = check("applegame", PASSES.replace(old, new, 1))
    if complaint is None:
        assert log.agrees, log.complaint
        return
    assert not log.agrees
    assert log.complaint is not None
    assert re.match(complaint, log.complaint)
    assert log.sentence() == log.complaint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "FINISH\n",
        "SCOREFIRST 3",
        "FIRST 1 1 2 2 5\n",
        "ABORT 0 TLE",
        "\0",
        "#",
        '[A "b"]',
    ],
)
def test_a_log_begins_with_init(text: str) -> None:
    for name in NAMES:
        assert not check(name, text).agrees


def test_forced_passes_of_ataxx() -> None:
    for text in (STUCK, doubled(STUCK), without(STUCK, "-1 -1")):
        log = check("ataxx", text)
        assert log.complaint is None
        assert len(log.turns) == 4
        assert OMITTED in log.notes or DOUBLED in log.notes or text == STUCK
    assert (
        check("ataxx", STUCK.replace("FIRST -1 -1 -1 -1", "FIRST 1 1 1 2", 1)).complaint
        == "line 2: (1, 2) is not empty"
    )


CONNEXION = (DATA / "connexion" / "logs" / "0000.txt").read_text(encoding="ascii")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('RESULT "0-1"', 'RESULT "1-0"', "line 2: the winner is FIRST, by the rules SECOND"),
        (
            'RESULT "0-1"',
            'RESULT "1/2-1/2"',
            "line 2: the winner is no player, by the rules SECOND",
        ),
        # another draw is possible, but then the one that was drawn later is missing
        ("a6+ Y1 B3", "a6+ Y1 B1", None),
        ("a6+ Y1 B3", "a6+ Y1 X0", "line 4: the seat that moved draws a tile here"),
        ("a6+ Y1 B3", "a6+ R2 B3", "line 4: there is no R2 in the mover's hand"),
        ("SECOND a6-", "FIRST a6-", "line 5: FIRST moves, but it is the other's turn"),
        ("SECOND a6-", "SECOND a6+", "line 5: a6+ is not empty"),
        ("SECOND c4- G4 X0", "SECOND c4- G4 R1", "line 67: the seat that moved draws nothing here"),
        ("FINISH", "SECOND c4- G4 X0 9\nFINISH", "line 68: "),
        ("SECOND c4- G4 X0 9\n", "", "line 67: the log ends the game, but it is not over"),
        ("FINISH", "# Debug FIRST: hello\n# Debug SECOND: SCOREFIRST 3\nFINISH", None),
    ],
)
def test_connexion_logs_are_checked(old: str, new: str, complaint: str | None) -> None:
    assert check("connexion", CONNEXION).agrees
    log = check("connexion", CONNEXION.replace(old, new, 1))
    if complaint is None and "B1" not in new:
        assert log.agrees, log.complaint
    else:
        assert log.complaint is not None
        assert log.complaint.startswith(complaint or "line ")


def test_an_aborted_game_of_connexion() -> None:
    head = "".join(CONNEXION.splitlines(keepends=True)[:9])
    assert check("connexion", head.replace("0-1", "1-0") + "ABORT SECOND NO TILE\n").notes == [
        "SECOND forfeited the game: NO TILE"
    ]
    assert check("connexion", head + "ABORT FIRST TLE\n").agrees
    assert (
        check("connexion", head + "ABORT SECOND TLE\n").complaint
        == "line 2: the winner is SECOND, by the rules FIRST"
    )
    assert check("connexion", head).notes == [NO_FINISH, "the game was aborted after 6 plies"]
    assert check("connexion", head).tags == {"SECOND": "COMMAND: python sample-code.py P2"}


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("TLE", Verdict.LATE),
        ("MLE", Verdict.MEMORY),
        ("Not legal", Verdict.ILLEGAL),
        ("Sum not equals to 10", Verdict.ILLEGAL),
        ("NOT EMPTY", Verdict.ILLEGAL),
        ("Parse failed", Verdict.MALFORMED),
        ("CELL PARSE FAILED", Verdict.MALFORMED),
        ("INVALID READY MESSAGE", Verdict.CRASHED),
        ("RE", Verdict.CRASHED),
        ("", Verdict.CRASHED),
        ("resigned", Verdict.RESIGNED),
    ],
)
def test_the_code_of_an_abort_gives_the_verdict(code: str, verdict: Verdict) -> None:
    for name, text in (("connexion", CONNEXION), ("applegame", PASSES)):
        head = without(text, "FIRST", "SECOND", "RESULT", "FINISH", "SCORE")
        log = check(name, f"{head}ABORT 0 {code}\n")
        assert log.agrees
        turn = log.turns[-1]
        assert (turn.verdict, turn.code) == (verdict, code)
        assert log.match is not None
        assert log.match.result is not None
        assert log.match.result.termination is Termination.of(verdict)


def test_a_seat_that_is_not_to_move_can_forfeit_the_game() -> None:
    lines = CONNEXION.splitlines(keepends=True)[:9]
    for seat, side in enumerate(SIDES):
        log = check("connexion", without("".join(lines), "RESULT") + f"ABORT {side} TLE\n")
        assert log.agrees
        assert log.match is not None
        assert log.match.result is not None
        assert log.match.result.winner == 1 - seat
        assert (log.match.result.offender, log.match.result.plies) == (seat, 6)
        assert len(log.turns) == (7 if seat == log.positions[6].to_move else 6)


@settings(max_examples=150, deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_any_log_is_checked_without_an_exception(data: st.DataObject) -> None:
    game, text = data.draw(
        st.sampled_from([("applegame", PASSES), ("ataxx", STUCK), ("connexion", CONNEXION)])
    )
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 8)))
        text = (
            text[:begin]
            + data.draw(st.text(st.sampled_from('0123456789 -\r\nFIRSTx²+[]#"'), max_size=6))
            + text[end:]
        )
    complaint = check(game, text).complaint
    assert complaint is None or (complaint.startswith("line ") and len(complaint.splitlines()) == 1)


@pytest.mark.parametrize("name", NAMES)
def test_truncated_logs_are_accepted(name: str) -> None:
    players = PlayerConfig("a", "random"), PlayerConfig("b", "random")
    unit = RunConfig(game=name, players=players, seed=1, in_process=True).unit(0, 0, (0, 1), 0)
    lines = play(unit).log.decode().splitlines()
    begun = 1 + next(i for i, line in enumerate(lines) if line.startswith("INIT"))
    for count in range(begun, len(lines), 7):
        assert check(name, "\n".join(lines[:count])).agrees
