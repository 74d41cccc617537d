"""A game more is its folder, one line in the registry, a perft table and a golden playthrough:
`quartet new-game` makes one, and the house takes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import checkout

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
GAME = "tictac"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", GAME)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (GAME, f"there is a module called {GAME} already; choose another name"),
        ("json", "there is a module called json already; choose another name"),
        ("data", "tests/data"),
        ("Go", "'Go' is no name of a package: use small letters and digits"),
        ("../up", "'../up' is no name of a package: use small letters and digits"),
        ("class", "'class' is no name of a package: use small letters and digits"),
    ],
)
def test_a_name_that_will_not_do_is_refused(house: Path, name: str, complaint: str) -> None:
    before = sorted(house.glob("*"))
    (house / "tests" / "data" / "data").mkdir(exist_ok=True)
    done = checkout.python(house, "-m", "quartet", "new-game", name)
    assert done.returncode == 2
    assert done.stderr.startswith("quartet: ")
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr
    assert sorted(house.glob("*")) == before


def test_it_keeps_every_promise_of_a_game(house: Path) -> None:
    done = checkout.python(
        house,
        "-m",
        "pytest",
        "-q",
        "-k",
        GAME,
        "-m",
        "",
        "tests/test_contract.py",
        "tests/test_imports.py",
        "tests/test_scenes.py",
        "tests/test_engine_seat.py",
        "tests/test_take_back.py",
        "tests/test_web_play.py",
        "tests/test_web_review.py",
        "tests/test_web_runs.py",
        QUARTET_RANDOM_CASES="500",
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_house_keeps_its_rules(house: Path) -> None:
    rules = (
        "tests/test_imports.py::test_nobody_imports_what_he_must_not",
        "tests/test_imports.py::test_only_the_registry_lists_the_games",
    )
    done = checkout.python(house, "-m", "pytest", "-q", "-m", "", *rules)
    assert done.returncode == 0, done.stdout


def test_without_its_data_files_it_fails(house: Path) -> None:
    data = house / "tests" / "data" / GAME
    data.rename(data.with_name("hidden"))
    try:
        done = checkout.python(
            house,
            "-m",
            "pytest",
            "-q",
            "-k",
            f"{GAME} and (perft or golden)",
            "-m",
            "",
            "tests/test_contract.py",
        )
    finally:
        data.with_name("hidden").rename(data)
    assert done.returncode == 1, done.stdout


def test_the_command_line_knows_it(house: Path) -> None:
    games = checkout.python(house, "-m", "quartet", "games")
    assert (games.returncode, games.stderr) == (0, "")
    assert GAME in games.stdout
    perft = checkout.python(house, "-m", "quartet", "perft", GAME, "5")
    assert perft.stdout.splitlines()[-1:] == ["15120"], perft.stderr


def test_it_is_played_judged_and_replayed(house: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    match = checkout.python(
        house,
        "-m",
        "quartet",
        "match",
        GAME,
        "bot",
        "bot",
        "--seconds",
        "60",
        "--json",
        "--log",
        str(log),
    )
    assert (match.returncode, match.stderr) == (0, "")
    result = json.loads(match.stdout)
    assert result["plies"] == 9
    assert [seat["share"] for seat in result["seats"]] == [0.5, 0.5], "perfect play draws"
    assert [seat["lost"] for seat in result["seats"]] == [[], []]
    replay = checkout.python(house, "-m", "quartet", "replay", GAME, str(log))
    assert replay.returncode == 0, replay.stderr


def test_it_is_measured(house: Path) -> None:
    done = checkout.python(house, "-m", "quartet.bench", GAME)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{GAME} ")


def test_its_versions_are_compared(house: Path, tmp_path: Path) -> None:
    """Pairs, Swiss, Elo and the pentanomial test on a game of two seats, by programs and in
    process."""

    def quartet(*arguments: str, code: int = 0) -> dict[str, Any]:
        done = checkout.python(
            house,
            "-m",
            "quartet",
            *arguments,
            "--json",
            "--out",
            str(tmp_path / str(len(list(tmp_path.iterdir())))),
        )
        assert (done.returncode, done.stderr) == (code, "")
        outcome: dict[str, Any] = json.loads(done.stdout)
        return outcome

    players = ("--player", "luck=random", "--player", "chance=random", "--player", "good=bot")
    swiss = quartet(
        "tournament",
        GAME,
        *players,
        "--in-process",
        "--games",
        "6",
        "--pairing",
        "swiss",
        "--rounds",
        "4",
    )
    assert swiss["games"] == 4 * 6
    assert sum(player["games"] for player in swiss["players"]) == 2 * 24
    everybody = quartet("tournament", GAME, *players, "--in-process", "--games", "9")
    assert everybody["games"] == 3 * 10
    assert everybody["ranking"][0] == "good"
    two = quartet("tournament", GAME, *players[2:], "--games", "2", "--clock", "60000")
    assert [player["games"] for player in two["players"]] == [2, 2]
    assert [player["score"] for player in two["players"]] == [0, 2]
    test = quartet("sprt", GAME, "bot", "random", "--in-process", "--elo1", "200")
    assert test["decision"] == "H1"
    assert sum(test["counts"].values()) == test["blocks"] == test["games"] / 2
