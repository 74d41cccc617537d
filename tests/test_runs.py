"""`quartet runs` lists, prints and exports runs without changing their records."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console

from core.errors import QuartetError, TextError
from quartet.arena import catalogue, outcome, records, store
from quartet.arena.catalogue import RESULTS
from quartet.arena.files import locked
from quartet.arena.standings import standings
from quartet.arena.store import hold
from quartet.cli import outcomes, progress
from quartet.cli.main import cli
from quartet.cli.train import keep_loss
from tests.commands import ONE_JOB

if TYPE_CHECKING:
    from pathlib import Path

plots = pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra `plot`")


def run(*arguments: object, fails: bool = False) -> str:
    """Return the output of a command."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if fails:
        assert isinstance(done.exception, QuartetError)
        return str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished tournament of the apple game."""
    folder = tmp_path_factory.mktemp("runs") / "cup"
    run(
        *[
            "tournament",
            "applegame",
            "--player",
            "g=greedy",
            "--player",
            "s=sample:2",
            "--player",
            "r=random",
        ],
        *["--games", "6", "--in-process", *ONE_JOB, "--json", "--out"],
        folder,
    )
    return folder


@pytest.fixture(scope="module")
def test_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a decided sequential test of Ataxx."""
    folder = tmp_path_factory.mktemp("runs") / "sprt"
    run(
        *[
            "sprt",
            "ataxx",
            "greedy",
            "random",
            "--option",
            "opening=4",
            "--elo1",
            "200",
            "--in-process",
        ],
        *[*ONE_JOB, "--json", "--out"],
        folder,
    )
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_table_equals_the_commands_output(folder: Path) -> None:
    before = content(folder)
    shown = json.loads(run("runs", folder, "--json"))
    told = run(
        *[
            "tournament",
            "applegame",
            "--player",
            "g=greedy",
            "--player",
            "s=sample:2",
            "--player",
            "r=random",
        ],
        *["--games", "6", "--in-process", *ONE_JOB, "--json", "--out"],
        folder,
    )
    whole = json.loads(told)
    assert {name: shown[name] for name in whole} == whole
    assert shown["state"] == "finished"
    text = run("runs", folder)
    assert "applegame, roundrobin: 18 games" in text
    assert "finished; 18 of 18 games on record" in text
    assert content(folder) == before


def test_a_swiss_run_is_shown_as_it_ended(tmp_path: Path) -> None:
    players = [word for name in "abc" for word in ("--player", f"{name}=random")]
    swiss = ["--pairing", "swiss", "--rounds", "2", "--games", "2"]
    quick = ["--in-process", *ONE_JOB, "--json"]
    printed = json.loads(
        run("tournament", "applegame", *players, *swiss, *quick, "--out", tmp_path / "cup")
    )
    shown = json.loads(run("runs", tmp_path / "cup", "--json"))
    assert {name: shown[name] for name in printed} == printed
    assert [player["games"] for player in printed["players"]].count(2) == 2  # with a bye


@pytest.mark.parametrize(
    ("command", "more", "units"),
    [
        (["sprt", "ataxx", "random", "random", "--in-process"], ["2", "4"], 2),
        (["selfplay", "ataxx", "--nodes", "1", "--off-path", "0"], ["1", "33"], 32),
    ],
)
def test_a_run_with_all_games_asked_for_is_finished(
    command: list[str], more: list[str], units: int, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    for games, recorded in zip(more, (units, 2 * units), strict=True):
        run(*command, *ONE_JOB, "--games", games, "--out", out)
        (line,) = json.loads(run("runs", tmp_path, "--json"))
        assert [line[name] for name in ("games", "of", "state")] == [recorded, recorded, "finished"]
    (out / store.GOAL).write_text("99")
    assert "stopped" in run("runs", out)
    (out / store.GOAL).unlink()
    (line,) = json.loads(run("runs", tmp_path, "--json"))
    assert (line["of"], line["state"]) == ("", "stopped")
    (out / store.GOAL).write_text("x")
    assert "goal.json cannot be read" in run("runs", out, fails=True)


def test_an_active_run_and_an_interrupted_one(folder: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    (part / "run.json").write_bytes((folder / "run.json").read_bytes())
    lines = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    (part / "games.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:20])
    assert "stopped; 7 of 18 games on record" in run("runs", part)
    assert (part / "games.jsonl").read_bytes().endswith(lines[7][:20]), "nothing is repaired"
    (part / "live").mkdir()
    (part / "live" / "000007.jsonl").write_bytes(b"{}\n{}\n")
    held = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(part)], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )
    try:
        assert held.stdout is not None
        held.stdout.readline()
        assert "running; 7 of 18 games on record, 1 running" in run("runs", part)
        listed = json.loads(run("runs", tmp_path, "--json"))
        assert [(line["games"], line["of"], line["state"]) for line in listed] == [
            (7, 18, "goes on")
        ]
    finally:
        held.communicate(b"\n")
        assert held.stdout is not None
    hold(part).close()
    run("runs", part, "--watch")  # no process plays it, so it ends at once


def test_a_look_at_a_run_does_not_stop_its_start(tmp_path: Path) -> None:
    """Who looks holds the lock for a moment."""
    look = locked(tmp_path / "lock")
    assert look is not None
    release = threading.Timer(0.2, look.close)
    release.start()
    hold(tmp_path).close()
    release.join()


HOLDER = """
import sys
from pathlib import Path
from quartet.arena.catalogue import RESULTS
from quartet.arena.store import hold
file = hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


def test_lists_and_filters(folder: Path) -> None:
    _, results = records.read(folder)
    everything = json.loads(run("runs", folder, "--games", "--json"))["list"]
    assert [line["game"] for line in everything] == list(range(18))
    won = json.loads(run("runs", folder, "--games", "--json", "--player", "g", "--result", "win"))[
        "list"
    ]
    expected = [
        game.number
        for game in sorted(results, key=lambda game: game.number)
        if any(p == 0 and game.shares[s] == 1 for s, p in enumerate(game.seats))
    ]
    assert [line["game"] for line in won] == expected
    seed = results[0].seed
    same = json.loads(run("runs", folder, "--games", "--json", "--opening", seed))["list"]
    assert {line["opening"] for line in same} == {seed}
    short = json.loads(run("runs", folder, "--games", "--json", "--plies", "..30"))["list"]
    assert all(line["plies"] <= 30 for line in short)
    assert json.loads(run("runs", folder, "--games", "--json", "--plies", "..0"))["list"] == []
    assert json.loads(run("runs", folder, "--games", "--json", "--forfeit"))["list"] == []
    worst = json.loads(run("runs", folder, "--worst", "2", "--player", "r", "--json"))["worst"]
    assert len(worst) == 2
    assert worst[0]["share"] <= worst[1]["share"]
    cross = json.loads(run("runs", folder, "--crosstable", "--json"))["crosstable"]
    assert [line["player"] for line in cross] == ["g", "s", "r"]
    assert cross[0]["g"] == "-"
    assert cross[0]["s"].endswith("of 6")
    openings = json.loads(run("runs", folder, "--openings", "--json"))["openings"]
    assert len(openings) == 3


def test_exports(folder: Path) -> None:
    whole = json.loads(run("runs", folder, "--export", "json"))
    assert len(whole) == 18
    assert whole[0]["players"] == ["g", "s"]
    rows = run("runs", folder, "--export", "csv").splitlines()
    assert len(rows) == 1 + 2 * 18
    assert rows[0].startswith("game,block,opening,seat,player")
    text = run("runs", folder, "--export", "text", "--player", "r")
    assert text.count('[Game "applegame"]') == 12
    assert text.count("INIT ") == 12


def test_names_stay_in_their_tag(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(folder, bad)
    plan = json.loads((bad / "run.json").read_text())
    plan["players"][0]["name"] = 'a "b" \\\n[c "d"]'
    (bad / "run.json").write_text(json.dumps(plan))
    text = run("runs", bad, "--export", "text")
    assert '[Player1 "a \\"b\\" \\\\ [c \\"d\\"]"]' in text
    assert "\n[c " not in text


def test_a_narrow_terminal_cuts_nothing(folder: Path) -> None:
    found = outcome.of_records(*records.read(folder))
    found.config = replace(
        found.config,
        players=tuple(replace(player, name=player.name * 40) for player in found.config.players),
    )
    printed = io.StringIO()
    console = Console(width=60, force_terminal=True, file=printed, color_system=None)
    console.print(outcomes.table(found))
    text = printed.getvalue()
    assert "\u2026" not in text
    for line in standings(found.results, 3):
        assert f" {line.wins}-{line.draws}-{line.losses} " in text


def test_a_sequential_test_keeps_its_hypotheses(test_folder: Path) -> None:
    shown = json.loads(run("runs", test_folder, "--json"))
    assert shown["decision"] == "H1"
    test = outcome.read_test(test_folder, 2)
    assert test is not None
    assert shown["scores"] == [test.s0, test.s1] != [0.5, 0.5]
    assert "H1 accepted" in run("runs", test_folder)
    (test_folder / "test.json").rename(test_folder / "kept")
    try:
        assert "LLR" in run("runs", test_folder), "an older run has the usual hypotheses"
    finally:
        (test_folder / "kept").rename(test_folder / "test.json")


def test_a_sweep_of_few_games_has_an_open_interval(test_folder: Path) -> None:
    found = outcome.of_records(*records.read(test_folder))
    found.results = sweep = [game for game in found.results if game.block < 5]
    ratings, _ = found.rate([])
    assert ratings is not None
    if all(share == 1 for game in sweep for share in [game.shares[game.seats.index(0)]]):
        assert ratings[0].high == float("inf") > ratings[0].low


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no folder"),
        (["--games", "--result", "win"], "name one with --player"),
        (["--games", "--player", "unknown"], "no player is called"),
        (["--games", "--plies", "x"], "--plies wants"),
        (["--forfeit"], "--forfeit selects games for --games, --worst, "),
        (["--opening", "0"], "--opening selects games for "),
        (["--export", "csv", "--json"], "--export and --json exclude each other"),
        (["--watch", "--json"], "--watch and --json exclude each other"),
        (["--plot", "x.svg", "--games"], "--plot shows the whole run: omit --games"),
        (["--games", "--plies", "9..8"], "--plies wants LEAST..MOST, and 9 is more than 8"),
    ],
)
def test_bad_input_is_one_line(folder: Path, arguments: list[str], words: str) -> None:
    where: list[Any] = [] if arguments == ["nowhere"] else [folder]
    assert words in run("runs", *where, *arguments, fails=True)


@pytest.mark.parametrize("option", [["--export", "csv"], ["--games"], ["--plot", "x.svg"]])
def test_options_of_games_need_a_run(folder: Path, option: list[str]) -> None:
    words = f"{option[0]} is for the folder of a run with players; {folder.parent} holds no run"
    assert words in run("runs", folder.parent, *option, fails=True)


def test_damaged_records_are_listed_with_their_error(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "run.json").write_text("{")
    (bad / "games.jsonl").write_text("")
    other = tmp_path / "other"
    other.mkdir()
    (other / "plan.json").write_text('{"kind": "selfplay", "game": "ataxx"}')
    third = tmp_path / "third"
    third.mkdir()
    (third / "plan.json").write_text('{"kind": "review", "logs": ["a", "b"]}')
    (third / "done.jsonl").write_text("{}\n{}\n")
    states = {line["kind"]: line for line in json.loads(run("runs", tmp_path, "--json"))}
    assert "cannot be read" in states["?"]["state"]
    assert states["selfplay"]["games"] == 0
    lines = run("runs", tmp_path).splitlines()
    assert [len(line.split()) for line in lines[1:-1] if "unreadable" in line] == [3]
    assert lines[-1] == states["?"]["state"], "below the table, of whatever width"
    review = states["review"]
    assert (review["games"], review["of"], review["state"]) == (2, 2, "finished")


def test_edited_records_are_named(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "games.jsonl").read_text().splitlines()
    game = json.loads(lines[0])
    lists = ("seats", "scores", "places", "shares", "use")
    one_more = {**game, "number": 99, **{name: [*game[name], game[name][0]] for name in lists}}
    forfeit = {"ply": 1, "seat": 7, "verdict": "illegal", "reason": ""}
    for name, extra, complaint in (
        ("twice", lines[0], f"game {game['number']} is recorded twice"),
        (
            "player",
            json.dumps({**game, "number": 99, "seats": [5, 6]}),
            "game 99 has a player that",
        ),
        ("seats", json.dumps(one_more), "game 99 has 3 seats, not 2"),
        ("share", json.dumps({**game, "number": 99, "shares": [5, -4]}), "a share is from 0 to 1"),
        ("number", json.dumps({**game, "number": 10**9}), "not one of the plan's"),
        ("forfeit", json.dumps({**game, "number": 99, "fouls": [forfeit]}), "a seat that does not"),
    ):
        bad = tmp_path / name
        shutil.copytree(folder, bad)
        (bad / "games.jsonl").write_text("\n".join([*lines, extra, ""]))
        assert complaint in run("runs", bad, fails=True)
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    states = [line["state"] for line in json.loads(run("runs", tmp_path, "--json"))]
    assert len(states) == 6
    assert all(f"{tmp_path}" in state for state in states)


def test_progress_lines_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PRINT_SECONDS", 0.0)
    run(
        *[
            "tournament",
            "applegame",
            "--player",
            "g=greedy",
            "--player",
            "r=random",
            "--games",
            "2",
        ],
        *["--in-process", *ONE_JOB, "--json", "--out"],
        tmp_path / "cup",
    )
    assert progress.duration(7300) == "2 h"
    assert progress.duration(59.6) == "60 s"


@plots
def test_a_plot_needs_a_suffix_and_losses(folder: Path, tmp_path: Path) -> None:
    assert "add .svg" in run("runs", folder, "--plot", tmp_path / "chart", fails=True)
    losses = tmp_path / "losses.jsonl"
    losses.touch()
    assert "no losses yet" in run("runs", losses, "--plot", tmp_path / "x.svg", fails=True)
    assert list(tmp_path.iterdir()) == [losses]


@plots
def test_plots(folder: Path, test_folder: Path, tmp_path: Path) -> None:
    for number, source in enumerate((folder, test_folder)):
        file = tmp_path / f"{number}.svg"
        run("runs", source, "--plot", file)
        assert b"<svg" in file.read_bytes()
    curve = tmp_path / "weights.bin.losses.jsonl"
    for epoch, loss in ((1, 0.5), (2, 0.4), (2, 0.39)):
        keep_loss(curve, epoch, loss, loss + 0.01)
    assert [json.loads(line)["loss"] for line in curve.read_text().splitlines()] == [0.5, 0.39]
    run("runs", curve, "--plot", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000
    assert "is not the folder of a run" in run("runs", folder / "run.json", fails=True)
    assert "not a file of losses" in run("runs", folder / "run.json", "--plot", "x.svg", fails=True)
    assert os.environ.get("MPLBACKEND", "") in {"", "agg"}


def test_the_figures_of_a_run_name_every_player(folder: Path) -> None:
    found = outcome.of_records(*records.read(folder))
    figures = catalogue.figures(found.results, found.names, None)
    assert {player["name"] for player in figures} == {"g", "s", "r"}
    assert sum(player["score"] for player in figures) == len(found.results)
    assert all(player["elo"] is None for player in figures)


def test_a_plan_without_players_is_not_shown(folder: Path) -> None:
    plan, _ = records.read(folder)
    for broken in ({**plan, "players": 3}, {**plan, "games": "many"}):
        with pytest.raises(TextError, match="no plan of a run that can be shown"):
            outcome.of_records(broken, [])


def test_a_tuning_has_no_table_of_players(tmp_path: Path) -> None:
    run = catalogue.RecordedRun(tmp_path, {"kind": "tune", "game": "ataxx"}, [])
    assert (run.live, run.samples, run.active) == (0, 0, False)
    with pytest.raises(TextError, match="is a run of tune, which has no table of players"):
        run.outcome()


def test_the_win_share_determines_the_result() -> None:
    found = {name: [is_it(share) for share in (0, 0.5, 1)] for name, is_it in RESULTS.items()}
    assert found == {
        "win": [False, False, True],
        "draw": [False, True, False],
        "loss": [True, False, False],
    }
