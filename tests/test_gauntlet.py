"""`quartet gauntlet` rates a player against fixed opponents, keeps the rating, and shows the
curve."""

from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec
import pytest

from core.errors import TextError
from quartet.arena import gauntlet
from quartet.arena.gauntlet import OpponentScore, RatingRecord, elo_of, rate_score
from quartet.arena.sprt import expected_score
from quartet.arena.store import read_lines
from quartet.cli.gauntlet import standing
from quartet.judge.seats import versions
from quartet.registry import GAMES, is_held_out, is_player
from tests.commands import ONE_JOB, quartet, refusal

KEPT = RatingRecord(
    day="2026-11-23", commit="0" * 40, player="bot", opponents=["greedy"], conditions={"nodes": "9"},
    seed=1, games=8, share=0.75, error=0.1, elo=190.8, low=20.0, high=None, records="runs/a",
)  # fmt: skip


def test_elo_of_a_win_share() -> None:
    assert elo_of(0.5, 2) == 0
    assert elo_of(0.25, 4) == 0
    assert elo_of(expected_score(120), 2) == pytest.approx(120)
    assert elo_of(0.5, 4) == pytest.approx(400 * math.log10(3))  # as strong as the three together
    assert elo_of(0, 4) == -math.inf
    assert elo_of(1, 2) == math.inf


def test_the_interval_is_over_blocks() -> None:
    line = OpponentScore(
        {0: [1.0, 0.0, 0.0, 0.0], 1: [1.0, 1.0, 0.0, 0.0], 2: [1.0, 1.0, 1.0, 0.0]}, []
    )
    found = rate_score(line, 4)
    assert found.share == 0.5
    assert found.error == pytest.approx(0.25 / math.sqrt(3))
    assert found.rating.low < found.rating.elo == elo_of(0.5, 4) < found.rating.high
    assert found.rating.low == pytest.approx(elo_of(0.5 - 1.959964 * found.error, 4))
    alike = rate_score(OpponentScore({0: [0.5, 0.5], 1: [0.5, 0.5]}, []), 4).rating
    assert (alike.low, alike.high) == (-math.inf, math.inf)
    assert math.isnan(OpponentScore({0: [0.5, 0.5], 1: [1.0, 0.0]}, []).error)
    pairs = rate_score(OpponentScore({0: [1.0, 0.0], 1: [1.0, 1.0]}, []), 2).rating
    assert pairs.elo == pytest.approx(elo_of(0.75, 2))
    assert pairs.low < pairs.elo


def test_a_kept_rating_is_read_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "ratings" / "x.jsonl"
    assert read_lines(file, RatingRecord) == []
    other = msgspec.structs.replace(KEPT, records="runs/b", conditions={"nodes": "10"})
    gauntlet.keep(file, KEPT)
    gauntlet.keep(file, other)
    more = msgspec.structs.replace(KEPT, games=16)
    gauntlet.keep(file, more)
    assert read_lines(file, RatingRecord) == [other, more]
    stranger = msgspec.structs.replace(more, player="another")  # its run has the same folder
    gauntlet.keep(file, stranger)
    assert read_lines(file, RatingRecord) == [other, more, stranger]
    assert list(gauntlet.comparable([KEPT, other, more]).values()) == [[other], [KEPT, more]]
    file.write_text("{}\n")
    with pytest.raises(TextError, match="line 1: "):
        read_lines(file, RatingRecord)


@pytest.mark.parametrize("game", GAMES)
def test_standing_opponents_never_change(game: str) -> None:
    names = standing(game, "bot")
    assert names
    for name in names:
        version = versions.parse(name)
        if version is not None:
            assert versions.is_whole(version.ref), "a branch would move"
        else:
            assert is_player(game, name)
            assert name != "bot"
        assert not is_held_out(game, name)


def test_a_rating_is_played_kept_and_shown(tmp_path: Path) -> None:
    short = ("--nodes", "50", "--in-process", *ONE_JOB, "--against", "random")
    rated = ("gauntlet", "ataxx", "greedy", "--games", "6", "--against", "greedy", *short)
    found = json.loads(quartet(*rated, "--json", cwd=tmp_path).stdout)
    assert found["games"] == 6
    assert found["opponents"] == ["greedy", "random"]
    assert found["elo"] is not None or found["share"] == 1
    quartet(*rated, cwd=tmp_path)  # it is done already
    quartet("gauntlet", "ataxx", "random", "--games", "2", *short, cwd=tmp_path)
    lines = (tmp_path / "docs/ratings/ataxx.jsonl").read_text().splitlines()
    assert len(lines) == 2
    shown = quartet("gauntlet", "ataxx", "--curve", cwd=tmp_path).stdout
    assert ", in process, cores 1; against" in shown
    assert shown.count("against") == 2  # they cannot be compared
    assert "greedy, random" in shown
    quartet("gauntlet", "ataxx", "--plot", "curve.svg", cwd=tmp_path)
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    listed = json.loads(quartet("runs", "--json", cwd=tmp_path).stdout)
    assert {(line["kind"], line["state"]) for line in listed} == {("gauntlet", "finished")}
    assert "finished; " in quartet("runs", listed[0]["folder"], cwd=tmp_path).stdout
    both = {line["players"]: line["folder"] for line in listed}
    own = json.loads(
        quartet("runs", both["rated greedy, greedy, random"], "--json", cwd=tmp_path).stdout
    )
    assert own["players"][0]["elo"] == pytest.approx(found["elo"]), "the same as when it was played"
    assert own["players"][1]["elo"] is None
    with (tmp_path / "docs/ratings/ataxx.jsonl").open("a") as file:
        file.write("{\n")
    said = refusal(
        "gauntlet", "ataxx", "greedy", "--games", "2", *short, "--out", "new", cwd=tmp_path
    )
    assert said.startswith("docs/ratings/ataxx.jsonl, line 3: ")
    assert not (tmp_path / "new").exists(), "no game was played"
    said = refusal("gauntlet", "connexion", "--curve", cwd=tmp_path)
    assert said == "no rating of connexion is kept below docs/ratings yet"


def test_a_table_of_four_plays_every_move_order(tmp_path: Path) -> None:
    names = ("greedy", "random", "beam:100")
    against = [word for name in names for word in ("--against", name)]
    short = ("--nodes", "10", "--in-process", *ONE_JOB, "--option", "moves=2")
    found = json.loads(
        quartet(
            "gauntlet", "ugolki", "random", *against, *short, "--games", "1", "--json", cwd=tmp_path
        ).stdout
    )
    assert found["games"] == 24
    games = (tmp_path / found["records"] / "games.jsonl").read_text().splitlines()
    seats = [tuple(json.loads(line)["seats"]) for line in games]
    assert len(set(seats)) == 24
    few = refusal("gauntlet", "ugolki", "random", *against[:4], *short, cwd=tmp_path)
    assert "takes 3 opponents at least" in few


def test_ratings_under_other_conditions_are_not_compared(tmp_path: Path) -> None:
    tables = ("greedy,random,random", "random,greedy,random", "greedy,greedy,random")
    short = ("--in-process", "--nodes", "10", "--option", "moves=1", *ONE_JOB)
    for table in tables:
        quartet("gauntlet", "ugolki", *short, "--games", "1", "--table", table, cwd=tmp_path)
    for more in ((), ("--megabytes", "300"), ("--replay-overloaded", "2")):
        against = ("--against", "random", "--games", "2", *ONE_JOB)
        quartet("gauntlet", "applegame", "greedy", *against, *more, cwd=tmp_path)
    groups = []
    for game in ("ugolki", "applegame"):
        lines = quartet("gauntlet", game, "--curve", "--json", cwd=tmp_path).stdout
        groups += [line["group"] for line in json.loads(lines)]
    assert groups[0] == groups[1], "the order at a table does not matter"
    assert len(set(groups)) == 5


def test_commits_are_rejected_in_process() -> None:
    said = refusal("gauntlet", "ataxx", "--in-process")
    assert "--in-process is for this checkout's players" in said


def test_against_the_pool_it_is_the_former_exam_with_a_rating(tmp_path: Path) -> None:
    """Check that `exam --half odd` equals `gauntlet --pool train`."""
    quick = ("--in-process", "--nodes", "20", *ONE_JOB, "--games", "20", "--json")
    former = ("exam", "ugolki", "--player", "greedy", *quick, "--out", "former")
    before = json.loads(quartet(*former, "--half", "odd", cwd=tmp_path).stdout)
    words = ("gauntlet", "ugolki", "greedy", *quick, "--pool", "train")
    found = json.loads(quartet(*words, cwd=tmp_path).stdout)
    assert found["scores"]["groups"] == {"train": before["halves"]["odd"]}
    assert found["scores"]["opponents"] == before["opponents"]
    assert found["share"] == pytest.approx(before["halves"]["odd"]["share"], abs=1e-6)
    assert (tmp_path / "docs/ratings/ugolki.jsonl").read_text().count("\n") == 1
    again = json.loads(quartet(*former, "--pool", "odd", cwd=tmp_path).stdout)
    assert again["halves"] == before["halves"]
    shown = quartet("runs", found["records"], cwd=tmp_path).stdout
    assert "ugolki, gauntlet of greedy: 24 games, seed 1" in shown
    assert "rated greedy: Elo" in shown or "of the wins" in shown


def test_one_command_plays_the_curve_over_time(tmp_path: Path) -> None:
    """Check that each factor is a separate run with its records, and resumes."""
    rated = ("gauntlet", "ataxx", "greedy", "--table", "random", "--games", "4", "--in-process")
    bounds = ("--nodes", "20", "--nodes", "random=2", "--scale", "1,2.5")
    words = (*rated, *ONE_JOB, *bounds, "--out", "curve")
    found = json.loads(quartet(*words, "--json", cwd=tmp_path).stdout)
    assert [one["conditions"]["nodes"] for one in found] == ["20 random=2", "50 random=5"]
    assert [one["games"] for one in found] == [4, 4]
    assert {path.name for path in (tmp_path / "curve").iterdir()} == {"x1", "x2.5"}
    shown = quartet(*words, cwd=tmp_path).stdout.splitlines()
    assert shown[-1].split()[:3] == ["50", "random=5", "4"]
    assert (tmp_path / "docs/ratings/ataxx.jsonl").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--scale", "1,2"), "--scale multiplies --clock and --nodes: pass one of them"),
        (("--scale", "1,x", "--nodes", "9"), "--scale: 'x' is not a positive number"),
        (("--scale", "0", "--nodes", "9"), "--scale: '0' is not a positive number"),
        (("--scale", "1", "--nodes", "many"), "--nodes many: 'many' is not a positive number"),
    ],
)
def test_wrong_factors(words: tuple[str, ...], why: str) -> None:
    assert why in refusal("gauntlet", "ataxx", "--in-process", "--against", "random", *words)
