"""`quartet review` finds losses, labels, endings and luck, reviews many logs, and writes a page;
`quartet calibrate` fits win probabilities."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from core.errors import QuartetError
from quartet.api import Game
from quartet.cli.main import cli
from quartet.judge.logs import jsonl, official
from quartet.judge.match import Match
from quartet.review import calibration, document, figures, fitting, reviewing, summary, text
from quartet.review.document import Review, TurnReview
from quartet.review.engines import Analyser, SearchResult
from quartet.review.page import page
from quartet.review.search import draws_after
from quartet.review.work import LogResult, LogTask, ResultFolder
from tests.bench import agreement
from tests.commands import ONE_JOB, refusal

DATA = Path(__file__).parent / "data"
APPLE = DATA / "applegame" / "logs"
CONNEXION = DATA / "connexion" / "logs"
GAMES = ("ataxx", "applegame", "connexion", "ugolki")
CHROMIUM = shutil.which("chromium") or ""
FEW = 200
"""Nodes per search, if the engine's strength does not matter."""


def run(*arguments: object) -> tuple[int, str]:
    """Return exit status and output of a command."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if isinstance(done.exception, QuartetError):
        raise done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


def log_of(match: Match) -> bytes:
    """Return a match as a log of its judge, or in our format if that has none."""
    if match.game.info.lines is not None:
        return official.text(match).encode()
    assert match.result is not None
    records: list[Any] = [jsonl.header(match), *match.turns, match.result]
    return b"".join(map(jsonl.line, records))


def played(game: str, *names: str, seed: int = 3, **options: Any) -> bytes:
    """Return the log of a game between built-in players."""
    count = Game(game).info.players
    players = names or ("greedy",) * count
    return log_of(Game(game).play(players, seed=seed, nodes=FEW, **options))


def reviewed(data: bytes, nodes: int | None = FEW, **more: Any) -> Review:
    settings = {"game": "", "candidates": 2, **more}
    return reviewing.review(LogTask(number=0, name="a.log", data=data, nodes=nodes, **settings))


@pytest.mark.parametrize("game", GAMES)
def test_every_game_is_reviewed(game: str) -> None:
    found = reviewed(played(game))
    assert found.complaint == ""
    assert found.game == game
    assert found.over
    assert sum(found.shares) == pytest.approx(1)
    info = Game(game).info
    assert len(found.seats) == info.players
    for turn in found.turns:
        assert turn.shares is not None, "the game has a calibration"
        assert sum(turn.shares) == pytest.approx(1, abs=0.002)
        assert turn.loss is not None
        assert 0 <= turn.loss <= 1
        assert turn.label
        assert turn.best is not None
        if turn.is_best:
            assert turn.loss == 0
        if info.chance:
            assert turn.luck is not None or turn.label == "forced" or turn.proven
    assert found.turns[-1].shares == pytest.approx(found.shares, abs=0.001)
    assert found.board is not None
    assert len(found.board.frames) == len(found.turns) + 1
    assert (found.harm != ()) == (info.players > 2)
    whole = "\n".join(text.lines(found))
    assert "accuracy" in whole
    again = document.read(msgspec.json.encode(found))
    assert again == found


@pytest.mark.parametrize("game", GAMES)
def test_a_review_does_not_depend_on_earlier_ones(game: str) -> None:
    one, other = played(game), played(game, seed=4)
    reviewing.close()
    first = reviewed(one)
    reviewed(other)
    assert reviewed(one) == first


def test_without_a_calibration_there_are_scores_and_no_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reviewing.close()
    monkeypatch.setattr(calibration, "read_all", lambda _: {})
    found = reviewed(played("ataxx"))
    reviewing.close()
    assert found.start is None
    assert {turn.label for turn in found.turns} <= {"", "forced"}
    assert any(turn.score_loss for turn in found.turns)
    assert all(turn.loss is None for turn in found.turns if not turn.proven)
    assert "no calibration" in "\n".join(text.lines(found))


def test_a_table_with_empty_seats() -> None:
    found = reviewed(played("ugolki", "greedy", "none", "random", "none"))
    assert found.complaint == ""
    assert found.players[1] is None
    assert {turn.seat for turn in found.turns} == {0, 2}
    turn = found.turns[0]
    assert turn.shares is not None
    assert turn.shares[1] == turn.shares[3] == 0
    rows = [line.split()[:2] for line in text.lines(found)]
    assert ["1", "greedy"] in rows
    assert ["2", "2"] not in rows


@pytest.mark.slow
def test_endings_are_proven() -> None:
    found = reviewed((CONNEXION / "0002.txt").read_bytes(), nodes=2000)
    assert found.turns[-1].proven
    assert sum(turn.proven for turn in found.turns) >= 4
    apple = reviewed((APPLE / "0060.txt").read_bytes(), nodes=2000)
    assert sum(turn.proven for turn in apple.turns) >= 4
    for turn in apple.turns:
        if turn.proven:
            assert turn.loss in {0, 0.5, 1}


def test_a_side_without_moves_has_lost() -> None:
    analyser = Analyser("ataxx", "bot", FEW)
    position = Game("ataxx").parse("oxx4/xxx4/xxx4/7/7/7/7 x 0 9")
    found = analyser.analyse(position)
    assert found.proven
    assert found.shares is not None
    assert found.shares[position.to_move] == 1


def test_a_forced_move_has_no_loss() -> None:
    data = played("ataxx")
    found = reviewed(data, thresholds=(0.9,) * 4)  # no longer searches that would say more
    forced = [n for n, turn in enumerate(found.turns) if turn.label == "forced" and n]
    assert forced
    for number in forced:
        assert found.turns[number].shares == found.turns[number - 1].shares


def test_doubtful_losses_are_searched_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []
    analyse = Analyser.analyse

    def noted(self: Analyser, position: Any, nodes: int | None = None) -> SearchResult:
        asked.append(nodes)
        return analyse(self, position, nodes)

    monkeypatch.setattr(Analyser, "analyse", noted)
    reviewed(played("ataxx", "random", "random"))
    assert set(asked) == {None, 2 * FEW, 4 * FEW}


def test_candidates_are_the_best_lines() -> None:
    for game in GAMES:
        found = reviewed(played(game, *["random"] * Game(game).info.players))
        bad = [turn for turn in found.turns if turn.loss and turn.loss >= 0.05]
        assert bad, game
        for turn in bad:
            moves = [candidate.move for candidate in turn.candidates]
            assert turn.move in moves
            assert turn.best is not None
            assert turn.best.move in moves
            assert len(moves) == len(set(moves)) <= 3
        assert any(len(turn.candidates) == 3 for turn in bad), game


def test_a_pass_in_the_apple_game_overlooks_rectangles() -> None:
    found = reviewed((APPLE / "0000.txt").read_bytes())
    passed = found.turns[1]
    assert passed.gain == 0
    assert passed.overlooked_count > 10
    assert passed.overlooked[0][1] > 1
    assert passed.label in {"mistake", "blunder"}
    assert passed.candidates


def test_skill_and_luck() -> None:
    position: Any = Game("connexion").start(1)
    draws = draws_after(position)
    assert sum(draws.values()) == pytest.approx(1)
    found = reviewed((CONNEXION / "0004.txt").read_bytes())
    drawn = [turn for turn in found.turns if turn.luck is not None]
    assert drawn
    assert all(turn.expected is not None for turn in drawn)
    assert all(abs(seat.luck or 0) < 1 for seat in found.seats)


def require_consistent(found: Review) -> None:
    """Check that a turn's value is that of its best move, and that graph, label, totals, text and
    page agree."""
    before = found.start
    said, page_data = "\n".join(text.lines(found)), page(found).split('id="data">')[1]
    assert document.read(page_data.split("</script>")[0]) == found
    for number, turn in enumerate(found.turns):
        where = f"{found.log}, turn {number}"
        assert before is not None, where
        assert turn.shares is not None, where
        assert turn.best is not None, where
        assert turn.best.share == pytest.approx(before[turn.seat], abs=0.0001), where
        assert turn.score == pytest.approx(turn.best.score, abs=0.001), where
        chosen = (turn.expected or turn.shares)[turn.seat]
        lost = (turn.best.share or 0.0) - chosen
        assert turn.loss == pytest.approx(lost, abs=0.0002) or turn.label == "foul", where
        assert turn.loss is not None, where
        if turn.label not in {"forced", "foul"}:
            assert turn.label == figures.label(turn.loss, found.thresholds), where
        ranks = [candidate.share or 0.0 for candidate in turn.candidates]
        assert ranks == sorted(ranks, reverse=True), where
        assert not ranks or turn.candidates[0] == turn.best, where
        if number in found.worst:
            assert f"{turn.move}  {turn.label} {100 * turn.loss:.1f} %" in said, where
        before = turn.shares
    for seat in found.seats:
        own = [turn for turn in found.turns if turn.seat == seat.seat and turn.label != "forced"]
        assert (seat.loss or 0.0) == pytest.approx(sum(turn.loss or 0.0 for turn in own), abs=0.001)


@pytest.mark.parametrize("game", GAMES)
def test_a_review_does_not_contradict_itself(game: str) -> None:
    for seed, name in enumerate(("random", "greedy")):
        count = Game(game).info.players
        require_consistent(reviewed(played(game, *[name] * count, seed=seed), candidates=3))


def test_several_engines() -> None:
    found = reviewed(played("applegame"), engines=("bot", "greedy"))
    assert [engine.name for engine in found.engines] == ["bot", "greedy"]
    assert all(len(turn.second_opinions) == 1 for turn in found.turns)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_an_engine_behind_uai() -> None:
    command = f"uai:{sys.executable} -m ataxx --uai"
    reviewing.close()
    data = b"\n".join(played("ataxx").splitlines()[:12]) + b"\n"
    found = reviewed(data, engines=("bot", command))
    reviewing.close()
    assert not found.over
    other = found.turns[0].second_opinions[0]
    assert other.best.startswith("MOVE")
    assert other.score_loss is not None
    with pytest.raises(QuartetError, match="has no UAI"):
        Analyser("ugolki", command)


def test_a_forfeited_turn_is_labelled() -> None:
    lines = played("applegame").splitlines()
    moves = [line for line in lines if line.startswith((b"INIT", b"FIRST", b"SECOND"))]
    found = reviewed(b"\n".join([*moves[:4], b"ABORT SECOND TLE", b""]))
    assert not found.complaint
    assert found.turns[-1].label in {"foul", *document.LABELS}


# Figures.


def turn(**more: Any) -> TurnReview:
    return TurnReview(**{"ply": 0, "seat": 0, "move": "x", **more})


def test_labels() -> None:
    bounds = (0.05, 0.1, 0.2, 0.3)
    losses = (0, 0.049, 0.05, 0.1, 0.2, 0.3, 1)
    labels = ["best", "best", "good", "inaccuracy", "mistake", "blunder", "blunder"]
    assert [figures.label(loss, bounds) for loss in losses] == labels
    assert figures.label(0.06, (0.01, 0.02, 0.03, 0.04)) == "blunder"


def decided(*losses: float, weight: float = 0.1, idle: bool = False) -> list[figures.WeightedLoss]:
    return [figures.WeightedLoss(loss, "", weight, idle) for loss in losses]


def test_accuracy() -> None:
    assert figures.accuracy([]) is None
    assert figures.accuracy(decided(0.1, 0.1)) is None, "too few"
    assert figures.accuracy(decided(0, 0, 0)) == 100
    assert figures.accuracy(decided(1, 1, 1)) == 0.5, "the harmonic mean counts 0 as 1"
    each = 103.1668 * math.exp(-0.4354) - 2.1669
    assert figures.accuracy(decided(0.1, 0.1, 0.1)) == pytest.approx(each, abs=0.06)
    assert figures.accuracy([*decided(0.1, 0.1, 0.1), *decided(*[0] * 90, idle=True)]) == (
        figures.accuracy(decided(0.1, 0.1, 0.1))
    )
    mixed = figures.accuracy([*decided(0.1, weight=0.12), *decided(0, 0, weight=0.01)])
    mean = (each * 0.12 + 100 * 0.02) / 0.14
    assert mixed == pytest.approx((mean + 3 / (1 / each + 2 / 100)) / 2, abs=0.06)


def test_moves_count_by_the_volatility_of_their_positions() -> None:
    calm, wild = [(0.5, 0.5)] * 10, [(0.9, 0.1), (0.3, 0.7)]
    turns = [turn(shares=share, loss=0.0, label="best") for share in (*calm, *wild)]
    found = figures.weighted_losses((0.5, 0.5), turns)
    assert [found[number].weight for number in range(10)] == [0.005] * 10
    assert found[10].weight == found[11].weight == 0.12, "at most"
    forced = [turn(shares=(0.5, 0.5), loss=0.0, label="forced")]
    assert figures.weighted_losses((0.5, 0.5), forced) == {}


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_random_players_are_less_accurate_than_the_bot(game: str) -> None:
    """Also where they have lost so early that most of their moves lose nothing."""
    seats = Game(game).info.players
    by_player: dict[str, list[figures.WeightedLoss]] = {"bot": [], "random": []}
    for number in range(2):
        names = ["bot" if (seat + number) % 2 else "random" for seat in range(seats)]
        found = reviewed(played(game, *names, seed=38 + number), nodes=None)
        for place, decision in figures.weighted_losses(found.start, found.turns).items():
            by_player[names[found.turns[place].seat]].append(decision)
    bot, random = (figures.accuracy(by_player[name]) for name in ("bot", "random"))
    assert bot is not None
    assert random is not None
    assert bot > random + 10


def test_a_review_names_the_turning_point() -> None:
    shares = [(0.4, 0.6), (0.6, 0.4), (0.45, 0.55), (0.7, 0.3), (1.0, 0.0)]
    turns = [turn(shares=share) for share in shares]
    assert figures.turning_point((0.5, 0.5), turns, (1, 0)) == 3
    assert figures.turning_point((0.5, 0.5), turns, (0.5, 0.5)) is None
    led = [turn(shares=(0.9, 0.1)), turn(shares=(1.0, 0.0))]
    assert figures.turning_point((0.6, 0.4), led, (1, 0)) is None, "nothing turned"
    assert figures.turning_point(None, led, (1, 0)) is None


# Calibrations.


@pytest.mark.parametrize("game", GAMES)
def test_shipped_calibrations_are_valid(game: str) -> None:
    found = calibration.of_engine(game, "bot")
    assert found is not None
    assert found.held_back >= 1000
    assert found.error is not None
    assert found.error <= 0.02
    assert found.error95 is not None
    assert found.error95[0] <= found.error <= found.error95[1]
    assert len(found.curve) == 10
    assert any("bot" not in player for player in found.players), "others played, too"
    assert found.command
    assert found.commit
    assert found.date
    if Game(game).info.players == 2:
        for ply in range(0, 100, 7):
            shares = [found.probability(score, ply) for score in range(-2000, 2001, 100)]
            assert shares == sorted(shares)


def test_a_calibration_of_another_game_is_rejected() -> None:
    file = calibration.place_of("connexion")
    assert calibration.of_engine("connexion", "bot", file) is not None
    with pytest.raises(QuartetError, match="is a calibration of connexion, not of ataxx"):
        calibration.of_engine("ataxx", "bot", file)


def test_proven_outcomes_are_not_calibrated() -> None:
    found = calibration.of_engine("ataxx", "bot")
    assert found is not None
    certain = SearchResult(shares=(1.0, 0.0), proven=True, score=29_000.0)
    assert found.shares(certain, 3, 0, 2) == (1.0, 0.0)
    assert found.shares(SearchResult(), 3, 0, 2) is None


@pytest.mark.skipif(find_spec("scipy") is None, reason="the extra `stats`")
def test_a_fit_recovers_a_known_curve() -> None:
    from random import Random  # noqa: PLC0415

    random = Random(1)
    samples = []
    for game in range(2000):
        for _ in range(4):
            score, ply = random.gauss(0, 500), random.randrange(60)
            won = random.random() < 1 / (1 + 2.718281828 ** (-score / 300))
            shares = (1.0, 0.0) if won else (0.0, 1.0)
            samples.append(fitting.CalibrationSample(game, ply, 0, score, (), shares))
    held = set(range(0, 2000, 2))
    found = fitting.fit("x", 1, samples, [60] * 2000, held)
    assert found.probability(0, 30) == pytest.approx(0.5, abs=0.03)
    assert found.probability(300, 30) == pytest.approx(0.731, abs=0.03)
    assert found.error is not None
    assert found.error < 0.03
    assert found.held_back == 1000
    with pytest.raises(QuartetError, match="all games are held out"):
        fitting.fit("x", 1, samples, [60] * 2000, set(range(2000)))
    with pytest.raises(QuartetError, match="too few games: 7992 positions to fit and 8 held out"):
        fitting.fit("x", 1, samples, [60] * 2000, {0, 1})
    without = fitting.CalibrationSample(0, 0, 0, 1.0, (), (1.0, 0.0, 0.0, 0.0))
    with pytest.raises(QuartetError, match="x gives no win shares"):
        fitting.fit("x", 1, [without], [60], set())


@pytest.mark.skipif(find_spec("scipy") is None, reason="the extra `stats`")
def test_calibrate_writes_a_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(
        *["tournament", "applegame", "--player", "g=greedy", "--player", "r=random"],
        *["--games", 24, "--in-process", *ONE_JOB, "--json", "--out", "cup"],
    )
    out = tmp_path / "found.json"
    arguments = ["calibrate", "applegame", "cup", "--nodes", 50, "--positions", 4, "--out", out]
    _, said = run(*arguments, *ONE_JOB, "--json")
    told = json.loads(said)
    assert told["games"] + told["held_back"] == 24
    assert told["held_back"] == 12, "half of the openings"
    _, said = run(*arguments, *ONE_JOB, "--held-out", "0.25")
    assert "positions of 18 games; on the 6 held-out games:" in said
    assert calibration.read_all(out)["bot"].nodes == 50
    found = reviewed(played("applegame"), nodes=None, calibration=str(out))
    assert found.engines[0].nodes == 50, "as it was calibrated"
    run(
        *["tournament", "applegame", "--player", "a=bot", "--player", "b=bot", "--games", 2],
        *["--in-process", "--nodes", 50, "--json", "--out", "alone"],
        *ONE_JOB,
    )
    folder = json.loads((tmp_path / "alone" / "run.json").read_text())
    for player in folder["players"]:
        player["nodes"] = None
    (tmp_path / "alone" / "run.json").write_text(json.dumps(folder))
    with pytest.raises(QuartetError, match="takes several"):
        run("calibrate", "applegame", "alone")
    with pytest.raises(QuartetError, match="a run is named twice"):
        run("calibrate", "applegame", "cup", "./cup")
    shutil.rmtree(tmp_path / "cup")
    run(
        *["tournament", "applegame", "--player", "g=greedy", "--player", "r=random", "--seed", 2],
        *["--games", 24, "--in-process", *ONE_JOB, "--json", "--out", "cup"],
    )
    run(*arguments, *ONE_JOB, "--json")
    searched = list((tmp_path / "runs").glob("applegame-calibrate-*"))
    assert len(searched) == 2, "other games under the same name are searched"


# Bad input, many logs.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with good and bad logs."""
    logs = tmp_path / "logs"
    logs.mkdir()
    good = (APPLE / "0000.txt").read_bytes()
    (logs / "a-good.txt").write_bytes(good)
    (logs / "b-cut.txt").write_bytes((APPLE / "0060.txt").read_bytes()[:700])
    (logs / "c-empty.txt").write_bytes(b"")
    (logs / "d-other.txt").write_bytes(b"1. e4 e5\n")
    with (logs / "e-noise.log").open("wb") as file:
        file.write(os.urandom(2**20) * 50)
    (logs / "f-wrong.txt").write_bytes(good.replace(b"SCOREFIRST 4", b"SCOREFIRST 5"))
    (logs / "g-good.jsonl").write_bytes(played("ugolki"))
    return logs


def test_bad_logs_give_one_line_each_and_others_are_reviewed(folder: Path, tmp_path: Path) -> None:
    out, pages = tmp_path / "out", tmp_path / "pages"
    arguments = ["review", folder, tmp_path / "missing.log", "--nodes", FEW, *ONE_JOB, "--out", out]
    status, said = run(*arguments, "--html", pages)
    assert status == 1
    for name, words in {
        "c-empty.txt": "the log is empty",
        "d-other.txt": "not a log of a known game",
        "e-noise.log": "too large for a log: 50 MB",
        "f-wrong.txt": "by the rules",
        "missing.log": "cannot be read: No such file",
    }.items():
        told = [line for line in said.splitlines() if f"{name}: " in line]
        assert len(told) == 1, name
        assert words in told[0]
    assert "3 of 8 logs reviewed" in said
    assert sorted(path.name for path in pages.iterdir()) == [
        *("000000.html", "000001.html", "000006.html", "index.html")
    ]
    kept = (out / "done.jsonl").read_bytes()
    _, again = run(*arguments, "--json")
    assert (out / "done.jsonl").read_bytes() == kept, "nothing is done twice"
    told_all = json.loads(again)
    assert [review["log"] for review in told_all["reviews"]] == [
        *(str(path) for path in sorted(folder.iterdir())),
        str(tmp_path / "missing.log"),
    ]
    assert len(told_all["summary"]["complaints"]) == 5


def test_after_a_kill_the_same_command_gives_the_same_reviews(folder: Path, tmp_path: Path) -> None:
    outcomes = []
    for name in ("whole", "killed"):
        out = tmp_path / name
        arguments = ["review", folder, "--nodes", FEW, *ONE_JOB, "--out", out]
        run(*arguments)
        if name == "killed":
            lines = (out / "done.jsonl").read_bytes().splitlines(keepends=True)
            (out / "done.jsonl").write_bytes(lines[0] + lines[-1] + lines[3][:50])
            run(*arguments)
        lines = (out / "done.jsonl").read_bytes().splitlines()
        outcomes.append(sorted(lines))
    assert outcomes[0] == outcomes[1]


def test_a_changed_log_is_reviewed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logs = tmp_path / "logs"
    logs.mkdir()
    told = []
    for name in ("0000.txt", "0002.txt"):
        (logs / "a.txt").write_bytes((APPLE / name).read_bytes())
        _, said = run("review", logs, "--nodes", FEW, *ONE_JOB, "--json")
        told.append(json.loads(said)["reviews"][0])
    assert told[0] != told[1]


def test_another_engine_reviews_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = APPLE / "0000.txt"
    for code in ("old", "new"):
        monkeypatch.setattr("quartet.arena.fingerprints.engine_fingerprint", lambda _, c=code: c)
        run("review", log, log, "--nodes", FEW, *ONE_JOB)
    assert len(list((tmp_path / "runs").iterdir())) == 2


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("none/a.html", "there is no folder"),
        (".", "it is a folder"),
        ("a.txt", "this command reads a.txt"),
        ("b.txt", "exists and holds something else"),
    ],
)
def test_a_page_that_cannot_be_written_is_rejected_before_the_review(
    page: str, words: str, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    assert words in refusal("review", "a.txt", "--html", page, cwd=tmp_path)
    assert [(tmp_path / name).read_text() for name in ("a.txt", "b.txt")] == ["a.txt", "b.txt"]


def test_a_folder_of_pages_is_made_before_the_reviews(tmp_path: Path) -> None:
    log = str(APPLE / "0000.txt")
    (tmp_path / "a.html").touch()
    said = refusal("review", log, log, "--html", "a.html", cwd=tmp_path)
    assert said == "cannot make the folder a.html: File exists"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.parametrize("name", ["index.html", "000001.html"])
def test_a_page_that_is_no_review_is_not_replaced(name: str, tmp_path: Path) -> None:
    page, log = tmp_path / name, str(APPLE / "0000.txt")
    page.write_text("<!DOCTYPE html>mine")
    for arguments in ([log, "--html", str(page)], [log, log, "--html", str(tmp_path)]):
        assert "holds something else" in refusal("review", *arguments, cwd=tmp_path)
    assert page.read_text() == "<!DOCTYPE html>mine"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_pages_of_reviews_replace_such_pages(tmp_path: Path) -> None:
    log, pages = APPLE / "0000.txt", tmp_path / "pages"
    pages.mkdir()
    (pages / "index.html").touch()
    for _ in range(2):
        arguments = ["--nodes", 20, *ONE_JOB, "--out", tmp_path / "out", "--html", pages]
        status, said = run("review", log, log, *arguments)
        assert status == 0, said
    status, said = run("review", log, "--nodes", 20, "--html", pages / "000000.html")
    assert status == 0, said


def test_an_engine_with_other_nodes_takes_the_place_of_the_first() -> None:
    reviewing.close()
    first = reviewing.engine("applegame", "bot", 100)
    assert reviewing.engine("applegame", "bot", 100) is first
    reviewing.engine("applegame", "greedy", 100)
    reviewing.engine("applegame", "bot", 200)
    assert reviewing.engine("applegame", "bot", 100) is not first


def test_a_folder_belongs_to_one_command(tmp_path: Path) -> None:
    with ResultFolder(tmp_path / "a", {"kind": "review"}) as kept:
        kept.add(LogResult(0, "x", msgspec.Raw(b'{"log":"x"}')))
        with pytest.raises(QuartetError, match="another process"):
            ResultFolder(tmp_path / "a", {"kind": "review"})
    with pytest.raises(QuartetError, match="another run"):
        ResultFolder(tmp_path / "a", {"kind": "other"})
    with pytest.raises(QuartetError, match="thresholds"):
        run("review", APPLE / "0000.txt", "--thresholds", "1,2")
    with pytest.raises(QuartetError, match="no log"):
        run("review", tmp_path / "nothing.txt")


def test_the_end_of_a_game_with_empty_seats_is_judged_by_its_turns() -> None:
    """One move each: the first player can only tie, as a search of both moves shows."""
    found = reviewed((DATA / "old" / "person.jsonl").read_bytes(), nodes=None)
    first = found.turns[0]
    assert first.loss == pytest.approx(0.5, abs=0.05)
    assert not first.missed_win
    assert first.best is not None
    assert len(first.line) <= 4, "the game has four plies"


def test_only_a_winning_move_proves_a_position() -> None:
    """The engine plays the moves of the log itself, and has no calibration."""
    found = reviewed(played("ugolki", moves=3), engines=("greedy",))
    assert [turn.ply for turn in found.turns if turn.proven] == []
    assert not any(turn.best and turn.best.proven for turn in found.turns[:-4])
    assert found.start is None
    assert "share (column)" not in "\n".join(text.lines(found)), "nothing is known of the shares"


def test_a_resignation_is_no_move() -> None:
    log = played("ugolki", moves=3).splitlines(keepends=True)
    turn = json.loads(log[1]) | {"verdict": "resigned", "move": None}
    found = reviewed(b"".join([log[0], json.dumps(turn).encode() + b"\n"]))
    assert found.complaint == ""
    first = found.turns[0]
    assert (first.verdict, first.label, first.loss, first.kind) == ("resigned", "", None, "")
    assert first.overlooked == ()


def test_standard_error_stays_readable() -> None:
    log = played("ugolki", moves=3).splitlines(keepends=True)
    turn = json.loads(log[1]) | {"stderr": "привет", "stderr_size": 12}
    found = reviewed(b"".join([log[0], json.dumps(turn).encode() + b"\n"]))
    assert found.turns[0].remarks == ((0, "привет"),)


def test_a_game_lost_before_its_first_turn_says_so() -> None:
    found = reviewed(b"INIT x5o/7/7/7/7/7/o5x x 0 1\nABORT 1 TLE\n")
    assert found.complaint.startswith("the log has no turns: ")
    assert "SECOND" in found.complaint


def test_unnamed_players_count_in_the_summary() -> None:
    found = summary.summary([reviewed(played("applegame"))], 5)
    assert sorted((group.name, group.games) for group in found.players) == [
        ("FIRST", 1),
        ("SECOND", 1),
    ]


def test_forfeits_are_no_mistakes_in_the_summary() -> None:
    """They have a column of their own, as in the review of one game."""
    review = reviewed(played("ataxx"))
    turns = [msgspec.structs.replace(turn, label="foul", loss=0.0) for turn in review.turns]
    (group, *_) = summary.summary([msgspec.structs.replace(review, turns=tuple(turns))], 5).phases
    assert (group.mistakes, group.forfeits) == (0, group.turns)


def test_names_are_no_figures() -> None:
    rows = [["1 bot", "3"], ["2 brs:2", "12"], ["5 7 5 8", "1.5 %"]]
    assert list(text.table(rows)) == ["  1 bot        3", "  2 brs:2     12", "  5 7 5 8  1.5 %"]


def test_the_summary_counts_all_reviews() -> None:
    reviews = [reviewed(played("ataxx", seed=seed)) for seed in (1, 2)]
    found = summary.summary([*reviews, Review(log="x", complaint="bad")], 5)
    assert (found.logs, found.reviewed) == (3, 2)
    assert len(found.worst) == 5
    losses = [loss.loss for loss in found.worst]
    assert losses == sorted(losses, key=lambda loss: -(loss or 0))
    assert {group.name for group in found.phases} == {"opening", "middle", "end"}
    turns = sum(seat.turns for review in reviews for seat in review.seats)
    assert sum(group.turns for group in found.phases) == turns
    assert "the worst losses" in "\n".join(text.summary(found))


@pytest.mark.slow
def test_reviews_of_published_logs_do_not_contradict_themselves() -> None:
    """Review every sixth log: all take 45 s."""
    for path in [*sorted(APPLE.glob("*.txt"))[::6], *sorted(CONNEXION.glob("*.txt"))[::6]]:
        found = reviewed(path.read_bytes())
        assert found.complaint == "", path
        require_consistent(found)


# The page.


def test_the_review_page_is_one_small_file() -> None:
    for game in GAMES:
        made = page(reviewed(played(game)))
        assert len(made.encode()) < 1_000_000
        for word in ("http://", "https://", "src=", "@import"):
            rest = made.replace("http://www.w3.org/2000/svg", "")
            assert word not in rest.split('id="data"')[0], word
        assert "</script" not in made.split('id="data">')[1].split("</script>")[0]


def test_text_cannot_end_the_script_of_the_page() -> None:
    found = reviewed(played("ataxx"))
    evil = "</script><script>alert(1)</script>"
    first = msgspec.structs.replace(found.turns[0], remarks=((0, evil),))
    made = page(msgspec.structs.replace(found, turns=(first, *found.turns[1:])))
    assert evil not in made


browser = pytest.mark.skipif(
    (not CHROMIUM or find_spec("playwright") is None) and "CI" not in os.environ,
    reason="needs Chromium and playwright",
)


@browser
@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_the_review_page_works_in_a_browser(game: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    found = reviewed(played(game))
    file = tmp_path / "page.html"
    file.write_text(page(found), encoding="utf-8")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = chromium.new_context(offline=True)
        view = context.new_page()
        faults: list[str] = []
        asked: list[str] = []
        view.on("pageerror", lambda error: faults.append(str(error)))
        view.on("request", lambda request: asked.append(request.url))
        view.goto(file.as_uri())
        assert view.locator("#graph path.curve").count() == len(found.players)
        assert view.locator("#moves tr").count() == len(found.turns)
        for _ in range(3):
            view.keyboard.press("ArrowRight")
        assert view.locator("#slider").input_value() == "3"
        assert f"ply {found.turns[2].ply}" in view.locator("#now").inner_text()
        view.keyboard.press("ArrowLeft")
        assert view.locator("#slider").input_value() == "2"
        view.locator("#slider").fill("5")
        assert f"ply {found.turns[4].ply}" in view.locator("#now").inner_text()
        view.keyboard.press("b")
        view.keyboard.press("End")
        assert view.locator("#slider").input_value() == str(len(found.turns))
        view.keyboard.press("p")
        view.locator("#moves tr").nth(1).click()
        assert view.locator("#slider").input_value() == "2"
        view.set_viewport_size({"width": 360, "height": 740})
        wide = view.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, "no sideways scrolling at phone width"
        chromium.close()
    assert faults == []
    assert [url for url in asked if not url.startswith("file:")] == []


# A log as argument of `quartet analyse`.


def test_analyse_takes_a_log_and_follows_moves() -> None:
    log = APPLE / "0060.txt"
    _, said = run("analyse", log, "--at", 12, "--nodes", 500, "--json")
    told = json.loads(said)
    assert (told["game"], told["seat"]) == ("applegame", 0)
    _, said = run("analyse", log, "--at", 12, "--moves", told["best"], "--nodes", 500, "--json")
    assert json.loads(said)["seat"] == 1
    with pytest.raises(QuartetError, match="it has moves from ply 0"):
        run("analyse", log, "--at", 500)
    with pytest.raises(QuartetError, match="--moves, number 1"):
        run("analyse", "ataxx", "--moves", "MOVE 9 9 9 9")
    with pytest.raises(QuartetError, match="--at is for a log"):
        run("analyse", "ataxx", "--at", 3)


def test_agreement_of_two_reviews(tmp_path: Path) -> None:
    """Check that a blunder counts as found if the other review calls it a mistake or worse."""
    log = tmp_path / "a.log"
    log.write_bytes(played("applegame", "sample:2", "greedy"))
    found = reviewed(log.read_bytes())
    labels = ("blunder", "blunder", "blunder", "mistake", "blunder", "best")
    theirs = ("blunder", "mistake", "inaccuracy", "blunder", "foul", "blunder")
    one, other = (
        msgspec.structs.replace(
            found,
            turns=tuple(
                msgspec.structs.replace(turn, label=label)
                for turn, label in zip(found.turns, names, strict=False)
            ),
        )
        for names in (labels, theirs)
    )
    total = agreement.Agreement()
    missed = agreement.compare(one, other, total)
    assert [mine.ply for mine, _ in missed] == [found.turns[2].ply]
    assert str(total) == "3 of 4, 75 % (30 .. 95)"
    words = ["applegame", str(log), "--nodes", str(FEW), "--times", "2"]
    done = CliRunner().invoke(agreement.command, words)
    assert done.exit_code == 0, done.output
    assert f"applegame, {FEW} and {2 * FEW} nodes, 1 games: found" in done.stdout
    log.write_bytes(b"what\n")
    with pytest.raises(QuartetError, match="a log has no line"):
        agreement.command.main(words, standalone_mode=False)
