"""A new game is a package, a registry line, a perft table and a golden playthrough: `quartet
new-game` makes one, and the toolkit works with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import checkout

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
GAME = checkout.FIFTH


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", GAME)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (GAME, f"there is already a module called {GAME}; choose another name"),
        ("json", "there is already a module called json; choose another name"),
        ("data", "tests/data"),
        ("Go", "'Go' cannot name a package: use small letters and digits"),
        ("../up", "'../up' cannot name a package: use small letters and digits"),
        ("class", "'class' cannot name a package: use small letters and digits"),
    ],
)
def test_bad_names_are_rejected(project: Path, name: str, complaint: str) -> None:
    before = sorted(project.glob("*"))
    (project / "tests" / "data" / "data").mkdir(exist_ok=True)
    done = checkout.python(project, "-m", "quartet", "new-game", name)
    assert done.returncode == 2
    assert done.stderr.startswith("quartet: ")
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr
    assert sorted(project.glob("*")) == before


def test_bad_titles_are_rejected(project: Path) -> None:
    for title in ('the "best" game', "{game}", "two\nlines", "\\"):
        done = checkout.python(project, "-m", "quartet", "new-game", "other", "--title", title)
        assert done.returncode == 2
        assert "cannot be a title: use letters, digits, spaces" in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (project / "other").exists()


def passes(project: Path, *arguments: str) -> None:
    """Run pytest in the project: the arguments choose tests."""
    done = checkout.python(project, "-m", "pytest", "-q", *arguments, QUARTET_RANDOM_CASES="200")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_it_passes_all_fast_tests_of_a_game(project: Path) -> None:
    passes(project, "-k", GAME)


def test_it_passes_the_slow_tests_of_server_and_packages(project: Path) -> None:
    files = (f"tests/test_{name}.py" for name in ("web_play", "web_review", "web_runs", "pack_exe"))
    passes(project, "-m", "slow", "-k", GAME, *files)


def test_the_page_has_everything_for_it(project: Path) -> None:
    """Names, rematch, guests, animation, score, editor and position search.

    tests/test_page_games.py plays it and shows its rules, and tests/test_page_review.py reviews it.
    """
    files = (f"tests/test_page_{name}.py" for name in ("board", "people", "rules"))
    passes(project, "-m", "slow", "-k", GAME, *files)


def test_lists_of_games_have_it_or_do_without(project: Path) -> None:
    passes(
        project,
        "tests/test_words.py",
        "tests/test_imports.py::test_every_import_is_allowed",
        "tests/test_imports.py::test_only_the_registry_names_games",
        "tests/test_trials.py::test_the_table_of_the_document_is_the_one_of_the_records",
    )
    assert f'"Fifthgame": {GAME}/RULES.md' in (project / "mkdocs.yml").read_text(encoding="utf-8")


def test_linters_accept_it(project: Path) -> None:
    for words in (("check",), ("format", "--check")):
        done = checkout.python(project, "-m", "ruff", *words, GAME, "quartet/registry.py")
        assert done.returncode == 0, done.stdout


def test_without_its_data_files_it_fails(project: Path) -> None:
    data = project / "tests" / "data" / GAME
    data.rename(data.with_name("hidden"))
    try:
        done = checkout.python(
            project,
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


def test_the_command_line_lists_it(project: Path) -> None:
    games = checkout.python(project, "-m", "quartet", "games")
    assert (games.returncode, games.stderr) == (0, "")
    assert GAME in games.stdout
    perft = checkout.python(project, "-m", "quartet", "perft", GAME, "5")
    assert perft.stdout.splitlines()[-1:] == ["15120"], perft.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        (
            f"{GAME}/reference.py",
            f'name="{GAME}"',
            'name="five"',
            f"{GAME}.reference: INFO.name is 'five', but GAMES calls the game '{GAME}'",
        ),
        (
            f"{GAME}/reference.py",
            "    exchange=",
            "    # exchange=",
            f"{GAME}.reference: INFO needs either `lines` or `exchange`",
        ),
        (
            "quartet/registry.py",
            f'"{GAME}": "{GAME}"',
            f'"{GAME}": "ghost"',
            "GAMES names the package ghost, which does not exist",
        ),
    ],
)
def test_a_mistake_is_explained(
    project: Path, file: str, old: str, new: str, complaint: str
) -> None:
    text = (project / file).read_text(encoding="utf-8")
    (project / file).write_text(text.replace(old, new), encoding="utf-8")
    try:
        done = checkout.python(project, "-m", "quartet", "match", GAME, "bot", "bot")
    finally:
        (project / file).write_text(text, encoding="utf-8")
    assert (done.returncode, done.stderr) == (2, f"quartet: {complaint}\n")


def test_training_names_the_missing_module(project: Path) -> None:
    for command in (("train", GAME, "tests"), ("selfplay", GAME, "--games", "1")):
        done = checkout.python(project, "-m", "quartet", *command, "--out", "nowhere")
        assert done.returncode == 2
        assert f"write {GAME}/train/selfplay.py (contract: core/nn/contract.py)" in done.stderr


def test_it_is_played_judged_and_replayed(project: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    match = checkout.python(
        project,
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
    replay = checkout.python(project, "-m", "quartet", "replay", GAME, str(log))
    assert replay.returncode == 0, replay.stderr


def test_tournaments_and_tests_play_it(project: Path) -> None:
    done = checkout.python(project, "-m", "quartet.bench", GAME)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{GAME} ")


def test_two_versions_are_compared(project: Path, tmp_path: Path) -> None:
    """Play pairs, Swiss and the pentanomial test in a game of two seats, with programs and in
    process."""

    def quartet(*arguments: str, code: int = 0) -> dict[str, Any]:
        done = checkout.python(
            project,
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
    robin = quartet("tournament", GAME, *players, "--in-process", "--games", "9")
    assert robin["games"] == 3 * 10
    assert robin["ranking"][0] == "good"
    two = quartet("tournament", GAME, *players[2:], "--games", "2", "--clock", "60000")
    assert [player["games"] for player in two["players"]] == [2, 2]
    assert [player["score"] for player in two["players"]] == [0, 2]
    test = quartet("sprt", GAME, "bot", "random", "--in-process", "--elo1", "200")
    assert test["decision"] == "H1"
    assert sum(test["counts"].values()) == test["blocks"] == test["games"] / 2
