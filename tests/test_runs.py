"""`quartet runs`: records of runs as they are looked at, and nothing of them changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from core.errors import QuartetError
from quartet.arena import outcome, records
from quartet.arena.records import hold
from quartet.cli import running
from quartet.cli.main import cli
from quartet.cli.train import keep_loss

if TYPE_CHECKING:
    from pathlib import Path

plots = pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra `plot`")


def run(*arguments: object, fails: bool = False) -> str:
    """What a command prints."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if fails:
        assert isinstance(done.exception, QuartetError)
        return str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of the apple game, finished."""
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
        *["--games", "6", "--in-process", "--crowded", "--jobs", "1", "--json", "--out"],
        folder,
    )
    return folder


@pytest.fixture(scope="module")
def test_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sequential test of Ataxx that was decided."""
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
            "--crowded",
        ],
        *["--jobs", "1", "--json", "--out"],
        folder,
    )
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_table_is_the_commands(folder: Path) -> None:
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
        *["--games", "6", "--in-process", "--crowded", "--jobs", "1", "--json", "--out"],
        folder,
    )
    whole = json.loads(told)
    assert {name: shown[name] for name in whole} == whole
    assert shown["state"] == "finished"
    text = run("runs", folder)
    assert "applegame, roundrobin: 18 games" in text
    assert "finished; 18 of 18 games on record" in text
    after = content(folder)
    index = {name for name in after if name.endswith(".sqlite")}
    assert {n: d for n, d in after.items() if n not in index} == {
        n: d for n, d in before.items() if n not in index
    }


def test_a_run_that_goes_on_and_one_that_was_cut_off(folder: Path, tmp_path: Path) -> None:
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
        assert "goes on; 7 of 18 games on record, 1 going on" in run("runs", part)
        listed = json.loads(run("runs", tmp_path, "--json"))
        assert [(line["games"], line["of"], line["state"]) for line in listed] == [
            (7, 18, "goes on")
        ]
    finally:
        held.communicate(b"\n")
        assert held.stdout is not None
    hold(part).close()
    run("runs", part, "--watch")  # nobody plays it, so it ends at once


HOLDER = """
import sys
from pathlib import Path
from quartet.arena.records import hold
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


def test_small_numbers_are_no_certainty(test_folder: Path) -> None:
    found = outcome.of_records(*records.read(test_folder))
    sweep = [game for game in found.results if game.block < 5]
    ratings, _ = outcome.rate(sweep, found.casting, [])
    assert ratings is not None
    if all(share == 1 for game in sweep for share in [game.shares[game.seats.index(0)]]):
        assert ratings[0].high == float("inf") > ratings[0].low


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no folder"),
        (["--result", "win"], "name one with --player"),
        (["--player", "nobody"], "nobody is called"),
        (["--plies", "x"], "--plies wants"),
    ],
)
def test_bad_input_is_one_line(folder: Path, arguments: list[str], words: str) -> None:
    where: list[Any] = [] if arguments == ["nowhere"] else [folder]
    assert words in run("runs", *where, *arguments, fails=True)


def test_damaged_records_are_listed_all_the_same(folder: Path, tmp_path: Path) -> None:
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
    review = states["review"]
    assert (review["games"], review["of"], review["state"]) == (2, 2, "finished")


def test_lines_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "SAY_EVERY", 0.0)
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
        *["--in-process", "--crowded", "--jobs", "1", "--json", "--out"],
        tmp_path / "cup",
    )
    assert running.duration(7300) == "2 h"
    assert running.duration(59.6) == "60 s"


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
    assert "no file of losses" in run("runs", folder / "run.json", "--plot", "x.svg", fails=True)
    assert os.environ.get("MPLBACKEND", "") in {"", "agg"}
