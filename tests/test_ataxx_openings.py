"""The book of balanced openings is correct and reproducible, and games start from its positions."""

from __future__ import annotations

import json
import shlex
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ataxx import make_openings
from ataxx.fen import START as USUAL
from ataxx.openings import BOOK, start_fen
from ataxx.reference import Position as Reference
from ataxx.rules import Position
from core.agent.cli import start_from_environment
from core.errors import QuartetError, UnknownNameError
from quartet.arena.fingerprints import fingerprint
from quartet.cli import seats
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.seats.lines import LineSeat
from quartet.judge.seats.person import PersonSeat
from quartet.judge.seats.players import PERSON, PlayerSpec
from quartet.judge.seats.seating import START, start_environment
from tests.commands import quartet, refusal

ROOT = Path(__file__).parent.parent
DOUBLE = ROOT / "tests" / "programs_lines" / "uai_engine.py"
ENGINE = f"uai:{shlex.join([sys.executable, str(DOUBLE)])}"
FOREIGN = shlex.join([sys.executable, "-m", "ataxx", "--player", "greedy"])
OTHER = "x5o/6o/7/7/7/7/o5x x 1 2"


# The book


def test_the_book_matches_its_header() -> None:
    lines = BOOK.read_text(encoding="ascii").splitlines()
    assert lines[0].startswith("# python -m ataxx.make_openings --plies 4 ")
    openings = [Position.parse(line) for line in lines if not line.startswith("#")]
    assert len(openings) >= 200
    assert {opening.ply for opening in openings} == {4}
    assert not any(opening.over for opening in openings)
    assert len({make_openings.canonical(opening) for opening in openings}) == len(openings)


def reachable(plies: int) -> set[tuple[int, ...]]:
    """Return the boards after `plies` plies, one per symmetry class."""
    found = [Position.start()]
    for _ in range(plies):
        found = [position.play(move) for position in found for move in position.legal()]
        found = list({position.text(): position for position in found}.values())
    return {make_openings.canonical(position) for position in found}


def test_a_book_is_reproducible(tmp_path: Path) -> None:
    books = [tmp_path / "1", tmp_path / "2"]
    for book in books:
        options = "--plies 2 --count 10 --nodes 300 --most 200 --out"
        make_openings.command.main([*options.split(), str(book)], standalone_mode=False)
    lines = books[0].read_text().splitlines()
    assert lines == books[1].read_text().splitlines()
    openings = [Position.parse(line) for line in lines[1:]]
    assert len(openings) == 10
    boards = {make_openings.canonical(opening) for opening in openings}
    assert len(boards) == 10
    assert boards <= reachable(2)
    # The scores are within the bound.
    scores = [score for _, score in islice(make_openings.openings(2, 300, 60, 1, "bot"), 20)]
    assert scores
    assert all(abs(score) <= 60 for score in scores)


def test_a_book_is_limited_by_the_positions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Use the positions after one ply: up to symmetry, there are few."""
    options = "--plies 1 --count 50 --most 30000 --player greedy --out"
    make_openings.command.main([*options.split(), str(tmp_path / "book")], standalone_mode=False)
    lines = (tmp_path / "book").read_text().splitlines()
    assert len(lines) - 1 == len(reachable(1))
    assert f"only {len(lines) - 1} openings" in capsys.readouterr().err


def test_symmetries() -> None:
    assert len({tuple(order) for order in make_openings.SYMMETRIES}) == 8
    corner = ["x6/7/7/7/7/7/o5x", "6x/7/7/7/7/7/x5o", "x5o/7/7/7/7/7/6x", "o5x/7/7/7/7/7/x6"]
    assert len({make_openings.canonical(Position.parse(f"{board} x 0 1")) for board in corner}) == 1
    assert make_openings.canonical(Position.parse(f"{corner[0]} x 0 1")) != make_openings.canonical(
        Position.parse("x6/7/7/7/7/7/x5o x 0 1")
    )


# Starts


def test_a_seed_chooses_the_opening() -> None:
    starts = [Position.start(seed, opening=4).text() for seed in range(50)]
    assert len(set(starts)) == 50
    assert starts == [Reference.start(seed, opening=4).text() for seed in range(50)]
    assert Position.start(7, opening=4, halfmove_limit=3).halfmove_limit == 3
    assert Position.start(7).text() == Position.start(7, opening=0).text() == USUAL
    with pytest.raises(UnknownNameError, match="openings of 4 plies, not of 5"):
        start_fen(5, 0)


def test_players_that_are_notified_of_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    ataxx, connexion = games.load("ataxx"), games.load("connexion")
    bot, engine, foreign = (
        PlayerSpec.parse("ataxx", text) for text in ("bot", "uai:./engine", "./foreign")
    )
    other = Start(0, {}, OTHER)
    assert start_environment(ataxx, Start(0, {}), [foreign]) == {}
    assert start_environment(ataxx, other, [bot, engine]) == {START: OTHER}
    with pytest.raises(
        QuartetError,
        match=r"'\./foreign' cannot know where the game starts.*built-in players, uai:COMMAND",
    ):
        start_environment(ataxx, other, [bot, foreign])
    told = start_environment(connexion, Start(3, {}), [foreign])
    assert told == {}, "its judge has words for it"
    monkeypatch.setenv(START, OTHER)
    found = start_from_environment(Position)
    assert found is not None
    assert found.text() == OTHER


def test_an_engine_at_the_table_of_a_human_is_notified_of_the_start() -> None:
    ataxx = games.load("ataxx")
    setups = seats.setups(ataxx, [PERSON, ENGINE], [], 0)
    start = Start(0, {}, OTHER)
    person, engine = seats.make(ataxx, setups, start, Console(), human_clock=False)
    assert isinstance(person, PersonSeat)
    assert isinstance(engine, LineSeat)
    assert engine._command.env[START] == OTHER


def test_an_unreadable_start_falls_back_to_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(START, "rubbish")
    assert start_from_environment(Position) is None
    assert capsys.readouterr().err.startswith("QUARTET_POSITION: a position has four parts")


def test_a_prefix_seats_an_engine(tmp_path: Path) -> None:
    file = tmp_path / "my engine"
    file.write_text("1")
    command, env = PlayerSpec.parse("ataxx", f"uai:{file}").launch()
    assert command == [sys.executable, "-P", "-m", "ataxx.uai_adapter", str(file)]
    assert env["PYTHONPATH"].startswith(str(ROOT))
    other = PlayerSpec.parse("applegame", f"uai:{file}").launch()
    assert other == (f"uai:{file}", {}), "a game without such programs"
    before = fingerprint(PlayerSpec.parse("ataxx", f"uai:{file}"))
    file.write_text("2")
    assert fingerprint(PlayerSpec.parse("ataxx", f"uai:{file}")) != before


# Games


@pytest.mark.parametrize("programs", [("greedy", ENGINE), (ENGINE, "random"), ("greedy", "random")])
def test_a_match_from_an_opening(programs: tuple[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    data = json.loads(
        quartet(
            "match",
            "ataxx",
            *programs,
            "--option",
            "opening=4",
            "--seed",
            "9",
            "--seconds",
            "60",
            "-l",
            str(log),
            "--json",
        ).stdout
    )
    assert data["termination"] in ("score", "draw"), data["reason"]
    assert f"INIT {start_fen(4, 9)}" in log.read_text().splitlines()
    assert ": ok, " in quartet("replay", "ataxx", str(log), "--quiet").stdout
    said = quartet("replay", "ataxx", str(log), "--at", "6", "--ask", "greedy").stdout
    assert "6 FIRST: MOVE" in said
    said = refusal("replay", "ataxx", str(log), "--at", "3", "--ask", "greedy")
    assert "no player is asked at ply 3, but at plies 4 to " in said


def test_an_engine_is_asked_in_a_game_from_an_opening(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    quartet(
        "match",
        "ataxx",
        ENGINE,
        "greedy",
        "--position",
        OTHER,
        "--seconds",
        "60",
        "-l",
        str(log),
        "-s",
    )
    said = quartet("replay", "ataxx", str(log), "--at", "8", "--ask", ENGINE).stdout.splitlines()
    assert said[-1].startswith("8 FIRST: MOVE ")
    assert said[-1].split("; the log has ")[1] == said[-1].split(": ")[1].split("  ")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ("match", "ataxx", "greedy", FOREIGN, "--option", "opening=4"),
        ("match", "ataxx", "greedy", FOREIGN, "--position", OTHER),
        ("sprt", "ataxx", "greedy", FOREIGN, "--option", "opening=4"),
        (
            "tournament",
            "ataxx",
            "--player",
            f"a={FOREIGN}",
            "--player",
            "b=greedy",
            "--option",
            "opening=4",
        ),
    ],
)
def test_foreign_programs_cannot_start_from_an_opening(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    assert "cannot know where the game starts" in refusal(*arguments, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--option", "opening=5"), "ataxx has openings of 4 plies, not of 5"),
        (
            ("--player", "c=uai:/no/such/engine"),
            "'/no/such/engine' is neither a program nor a built-in player",
        ),
        (("--player", f"c={ENGINE}", "--in-process"), "--in-process is for built-in players"),
        (("--player", f"c={ENGINE}", "--nodes", "c=100"), "--nodes is for built-in players"),
    ],
)
def test_bad_input_gets_one_line(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    players = ("--player", "a=greedy", "--player", "b=random")
    assert words in refusal("tournament", "ataxx", *players, *arguments, cwd=tmp_path)


def run(tmp_path: Path, *arguments: str) -> tuple[dict[str, Any], list[str]]:
    """Run a tournament; return its result, and the starts of its games in order."""
    done = quartet(
        "tournament",
        "ataxx",
        *arguments,
        "--option",
        "opening=4",
        "--seed",
        "5",
        "--json",
        "--out",
        str(tmp_path),
    )
    logs = sorted((tmp_path / "games").iterdir())
    quartet("replay", "ataxx", *map(str, logs))
    starts = [
        next(line for line in log.read_text().splitlines() if line.startswith("INIT"))
        for log in logs
    ]
    return json.loads(done.stdout), starts


def test_a_tournament_has_all_kinds_of_players(tmp_path: Path) -> None:
    players = ["--player", f"engine={ENGINE}", "--player", "greedy=greedy"]
    outcome, starts = run(tmp_path / "lines", *players, "--games", "4", "--clock", "60000")
    assert outcome["games"] == 4
    assert [player["lost"] for player in outcome["players"]] == [{}, {}]
    # Both sides of an opening are played, then another one.
    assert starts == [f"INIT {start_fen(4, seed)}" for seed in (5, 5, 6, 6)]
    _, again = run(
        tmp_path / "process",
        "--player",
        "a=greedy",
        "--player",
        "b=random",
        "--games",
        "4",
        "--in-process",
    )
    assert again == starts


def test_a_sequential_test_from_openings(tmp_path: Path) -> None:
    arguments = [
        "--option",
        "opening=4",
        "--in-process",
        "--elo1",
        "100",
        "--json",
        "--out",
        str(tmp_path),
    ]
    outcome = json.loads(quartet("sprt", "ataxx", "greedy", "random", *arguments).stdout)
    assert outcome["decision"] == "H1"
