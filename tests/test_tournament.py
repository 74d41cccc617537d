"""`quartet tournament` and `quartet sprt` play programs and built-in players with jobs or a
cluster, survive kills, and reject bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.errors import QuartetError
from quartet.arena import records
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.cores import Cores, usable_cores
from quartet.arena.runner import LocalWorkers, drive
from quartet.arena.schedule import fixed
from quartet.arena.unit import GameResult, Played, play
from quartet.judge.logs.jsonl import read_log
from tests.commands import ONE_JOB, quartet, refusal
from tests.long import cluster, kill
from tests.processes import command, outliving
from tests.test_match import little
from tests.test_schedule import fake
from tests.webserver import wait_for

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

ROOT = Path(__file__).parent.parent
HONEST = little("honest.py")
QUICK = ("--in-process", "--nodes", "50")


def tournament(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run `quartet tournament ugolki` and return its JSON."""
    done = quartet("tournament", "ugolki", *arguments, "--json", "--out", str(folder), code=code)
    assert done.stderr == ""
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def test_built_in_players_in_process(tmp_path: Path) -> None:
    outcome = tournament(
        tmp_path / "a", "--player", "g=greedy", "--player", "r=random", *QUICK, "--games", "7"
    )
    assert outcome["games"] == 16, "two tables, whole blocks"
    assert outcome["ranking"] == ["g", "r"]
    greedy, random = outcome["players"]
    assert (greedy["games"], greedy["wins"] + greedy["losses"]) == (32, 32)
    assert greedy["score"] == 16
    assert random["score"] == 0
    assert greedy["elo"] > 200 > random["elo"]
    low, high = greedy["elo95"]
    assert low < greedy["elo"]
    assert high is None, "it won everything"
    assert greedy["depth"] == 1
    assert greedy["turns"] > 300
    assert sum(outcome["seat_shares"]) == pytest.approx(1)
    again = tournament(
        tmp_path / "a", "--player", "g=greedy", "--player", "r=random", *QUICK, "--games", "7"
    )
    assert again == outcome, "all was on record"
    for path in (tmp_path / "a" / "games").iterdir():
        assert read_log(path.read_bytes()).result is not None
    quartet("replay", "ugolki", *map(str, sorted((tmp_path / "a" / "games").iterdir())))


@pytest.mark.slow
def test_programs_play_under_the_judge(tmp_path: Path) -> None:
    players = (
        "--player",
        f"p={HONEST}",
        "--player",
        "q=greedy",
        "--player",
        "crash=" + little("crash.py", "3"),
    )
    outcome = tournament(
        tmp_path / "a",
        *players,
        "--option",
        "moves=2",
        "--games",
        "1",
        "--pairing",
        "gauntlet",
        "--clock",
        "30000",
        "--clock",
        "q=60000",
    )
    honest, greedy, crash = outcome["players"]
    assert outcome["games"] == 16
    assert honest["lost"] == greedy["lost"] == {}
    assert crash["lost"] == {"crashed": 2 * crash["games"]}
    assert greedy["depth"] == 1, "a built-in program tells its depth"
    assert honest["depth"] is None
    log = read_log((tmp_path / "a" / "games" / "000000.log").read_bytes())
    assert set(log.header.players) == {"p", "q"}
    assert log.header.seconds == 60, "the longest of all clocks"
    assert log.header.options == {"moves": 2}


def test_each_player_has_its_own_clock(tmp_path: Path) -> None:
    """Check that a program that exceeds its clock forfeits every turn, and the others forfeit no
    turn."""
    slow = little("stall.py")
    outcome = tournament(
        tmp_path, "--player", f"slow={slow}", "--player", f"p={HONEST}", "--option", "moves=1",
        "--games", "1",
        "--pairing", "gauntlet", "--clock", "60000", "--clock", "slow=100",
    )  # fmt: skip
    late, honest = outcome["players"]
    assert late["lost"] == {"late": 4}
    assert late["longest"] < 5
    (_, results) = records.read(tmp_path)
    forfeits = [forfeit for result in results for forfeit in result.forfeits]
    assert {forfeit.verdict for forfeit in forfeits} == {"late"}
    assert all(forfeit.reason not in (result.reason for result in results) for forfeit in forfeits)
    assert honest["lost"] == {}


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS pins nothing")
def test_a_game_and_its_programs_stay_on_one_core() -> None:
    tell = (
        little("crash.py", "0")
        + f"; {sys.executable} -c 'import os, sys; print(sorted(os.sched_getaffinity(0)), "
        "file=sys.stderr)'"
    )
    config = RunConfig(
        game="ugolki",
        players=(PlayerConfig("a", tell, ms=60_000), PlayerConfig("b", tell, ms=60_000)),
        options={"moves": 1},
    )
    workers, logs, done = LocalWorkers(play), [], dict[int, GameResult]()

    def record(played: Played) -> None:
        logs.append(read_log(played.log))

    before = usable_cores()
    try:
        drive(fixed(config, [(0, 1, 1, 1)], 4), workers, done, record)
    finally:
        workers.close()
    assert usable_cores() == before
    for log in logs:
        cores = {turn.stderr for turn in log.turns}
        assert len(cores) == 1
        assert len(json.loads(cores.pop())) == 1


def die_once(unit: GameUnit, cores: tuple[int, ...] | None) -> Played:
    """Play, but the first worker that gets game 3 dies as if by SIGKILL."""
    mark = Path(unit.players[0].command)
    if unit.number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fake(unit)


@posix
def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    players = tuple(PlayerConfig(name, str(tmp_path / "mark")) for name in "ab")
    config = RunConfig(game="ataxx", players=players)
    workers, recorded, done = LocalWorkers(die_once), list[int](), dict[int, GameResult]()
    try:
        drive(
            fixed(config, [(0, 1)], 8),
            workers,
            done,
            lambda played: recorded.append(played.result.number),
        )
    finally:
        workers.close()
    assert (tmp_path / "mark").exists()
    assert sorted(recorded) == sorted(done) == list(range(8))


def test_more_games_than_cores_need_oversubscribe(tmp_path: Path) -> None:
    many = str(len(usable_cores()) + 1)
    arguments = (
        "tournament",
        "ugolki",
        "--player",
        "a=greedy",
        "--player",
        "b=random",
        *QUICK,
        "--games",
        "4",
        "--jobs",
        many,
    )
    done = quartet(*arguments, "--out", str(tmp_path), code=2)
    assert done.stderr.startswith(f"quartet: cannot run {many} games at a time: ")
    quartet(*arguments, "--out", str(tmp_path), "--oversubscribe")


def test_simultaneous_runs_use_different_cores(tmp_path: Path) -> None:
    players = ("--player", "a=greedy", "--player", "b=random")
    arguments = (
        "tournament",
        "ugolki",
        *players,
        *QUICK,
        "--games",
        "4",
        "--jobs",
        "1",
        "--out",
        str(tmp_path),
    )
    usable = usable_cores()
    alone = [(core,) for core in usable]
    with Cores(1) as one:
        assert one.of_jobs == alone[:1]
        if len(usable) > 1:
            with Cores() as others:
                assert others.of_jobs == alone[1:]
        with Cores(len(usable), oversubscribe=True) as all_of_them:
            assert all_of_them.of_jobs == alone[1:] + alone[:1]
            done = quartet(*arguments, code=2)
            words = (
                f"quartet: cannot run 1 game at a time: 0 of {len(usable)} cores are free; lower "
                "--jobs or pass --oversubscribe"
            )
            assert done.stderr.startswith(words)
            quartet(*arguments, "--oversubscribe")
    with Cores() as everything:
        assert everything.of_jobs == alone


BAD = [
    (("--player", "a=greedy"), "a tournament needs two players at least"),
    (
        ("--player", "a=greedy", "--player", "a=random"),
        "two players have one name: a, a",
    ),
    (("--player", "a=greedy", "--player", "random"), "--player wants NAME=COMMAND, not 'random'"),
    (
        ("--player", "a=greedy", "--player", "b=gredy"),
        "'gredy' is neither a program nor a built-in player of ugolki",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--clock", "c=3"),
        "--clock c=3: no player is called 'c'; there are: a, b",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--nodes", "0"),
        "--nodes 0: '0' is not a positive number",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--option", "x=1"),
        "ugolki has no option 'x'",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--pairing", "swiss"),
        "Swiss pairs two players, and ugolki seats 4",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--rounds", "3"),
        "--rounds is for --pairing swiss",
    ),
    (
        ("--player", "a=greedy", "--player", f"b={HONEST}", "--in-process"),
        "--in-process is for built-in players",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--in-process", "--cluster", "nowhere"),
        "no Dask scheduler answers at nowhere: missing port number",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--in-process", "--cores", "999"),
        "a game on 999 cores needs 999",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--option", "moves=0"),
        "the start: the game is over",
    ),
    (
        ("--player", "a=greedy", "--player", "b=random", "--out", str(ROOT / "pyproject.toml")),
        "Invalid value for '--out'",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_gives_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert message in refusal("tournament", "ugolki", *arguments, cwd=tmp_path)
    assert not any(tmp_path.glob("runs/*")), "the corrected command can have the folder"


def test_the_table(tmp_path: Path) -> None:
    done = quartet(
        "tournament", "ugolki", "--player", "good=greedy", "--player", "bad=random", *QUICK,
        "--games", "4", "--out", str(tmp_path / "a")
    )  # fmt: skip
    assert done.stderr == "", "no output moves without a terminal"
    lines = done.stdout.splitlines()
    assert lines[0] == "ugolki, roundrobin: 8 games, seed 1"
    assert lines[1].split() == ["player", "seats", "W-D-L", "score", "%", "±", "Elo", "95", "%"]
    assert lines[2].split()[:5] == ["1", "good", "16", "8-0-8", "8"]
    assert lines[4].split() == [
        "player",
        "1st",
        "seat",
        "%",
        "ms/move",
        "longest",
        "depth",
        "knodes/s",
        "lost",
        "turns",
    ]
    assert lines[-1] == f"records: {tmp_path / 'a'}"


def sprt(folder: Path, *arguments: str, code: int) -> dict[str, Any]:
    done = quartet("sprt", "ugolki", *arguments, "--json", "--out", str(folder), code=code)
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


@pytest.mark.slow
def test_a_sequential_test_ends_both_ways(tmp_path: Path) -> None:
    better = sprt(tmp_path / "a", "greedy", "random", *QUICK, "--share1", "0.4", code=0)
    assert better["decision"] == "H1"
    assert better["llr"] >= better["bounds"][1]
    assert better["counts"]["0.75"] == better["blocks"] == better["games"] / 8
    worse = sprt(tmp_path / "b", "random", "greedy", *QUICK, "--share1", "0.4", code=1)
    assert worse["decision"] == "H0"
    stopped = sprt(tmp_path / "c", "greedy", "random", *QUICK, "--games", "17", code=1)
    assert (stopped["decision"], stopped["games"], stopped["blocks"]) == (None, 16, 2)
    further = sprt(tmp_path / "c", "greedy", "random", *QUICK, "--share1", "0.4", code=0)
    assert further["counts"] == better["counts"], "it resumes, and ends as the other one did"


def test_bad_hypotheses_are_rejected() -> None:
    test = ("sprt", "ugolki", "greedy", "random")
    assert "use --share0 and --share1" in refusal(*test, "--elo1", "3")
    assert "a mean of 0.9 is impossible" in refusal(*test, "--share1", "0.9")
    assert "alpha 0 and beta 0.05" in refusal(*test, "--alpha", "0")


@pytest.mark.slow
@posix
def test_a_tournament_survives_sigkill(tmp_path: Path) -> None:
    """Run `python -m tests.long.kill ugolki` for a short time; docs/results.md has the long run."""
    figures = kill.survive("tournament", "ugolki", tmp_path, size=28, kills=3, seed=1)
    assert figures["kills"] >= 1
    assert figures["distinct games"] == 28


@pytest.mark.slow
@posix
@pytest.mark.parametrize(("what", "size"), [("selfplay", 96), ("train", 8)])
def test_other_runs_survive_sigkill(what: str, size: int, tmp_path: Path) -> None:
    assert kill.survive(what, "ataxx", tmp_path, size=size, kills=2, seed=1)["kills"] >= 1


def test_the_trial_reports_a_command_that_fails_by_itself(tmp_path: Path) -> None:
    with pytest.raises(QuartetError, match=r"quartet tournament ended with 2: quartet: .*unknown"):
        kill.complete(["tournament", "ataxx", "--player", "unknown"], tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `cluster` is not installed")
def test_a_cluster_survives_the_loss_of_two_workers(tmp_path: Path) -> None:
    figures = cluster.survive("tournament", "ugolki", tmp_path, 16)
    assert figures["done"] == 16
    assert figures["equal to the run on this machine alone"]


@posix
def test_programs_end_when_the_command_is_killed(tmp_path: Path) -> None:
    """Kill the command: only the worker of the game remains to stop a program that stalls."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    arguments = [
        "--player",
        "a=" + little("stall.py"),
        "--player",
        f"b={HONEST}",
        "--clock",
        "60000",
        "--out",
        str(tmp_path / "a"),
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "quartet", "tournament", "ugolki", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
    )
    processes: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while (
        not any("stall.py" in " ".join(command(process)) for process in processes)
        and time.monotonic() < deadline
    ):
        processes = psutil.Process(run.pid).children(recursive=True)
        time.sleep(0.1)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert outliving(processes, 20) == []
    assert [path for path in temporary.iterdir() if path.is_dir()] == []


@posix
@pytest.mark.parametrize("nohup", [False, True])
def test_a_run_survives_the_end_of_its_terminal_under_nohup(nohup: bool, tmp_path: Path) -> None:
    records = tmp_path / "a" / "games.jsonl"
    words = ["tournament", "ataxx", "--player", "a=random", "--player", "b=random"]
    words += ["--in-process", *ONE_JOB, "--games", "1000000"]
    words += ["--out", str(records.parent)]
    run = subprocess.Popen(
        [*(["nohup"] * nohup), sys.executable, "-m", "quartet", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        # the tests may run under nohup, too
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(records.exists)
        before = wait_for(lambda: records.stat().st_size)
        run.send_signal(signal.SIGHUP)
        if nohup:
            wait_for(lambda: records.stat().st_size > before)
            run.terminate()
        assert run.wait(60) == 128 + (signal.SIGTERM if nohup else signal.SIGHUP)
    finally:
        run.kill()
        run.wait()


@posix
@pytest.mark.parametrize("delay", [0, 0.1, 0.3, 1])
def test_ctrl_c_prints_how_to_resume(delay: float, tmp_path: Path) -> None:
    """Interrupt workers in any state: starting, importing, or playing."""
    arguments = ["--player", "a=bot", "--player", "b=greedy", "--out", str(tmp_path / "a")]
    run = subprocess.Popen(
        [sys.executable, "-m", "quartet", "tournament", "ugolki", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    # the first one tracks resources
    while len(psutil.Process(run.pid).children()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(delay)
    os.killpg(run.pid, signal.SIGINT)
    output, errors = run.communicate(timeout=60)
    assert output == ""
    assert (
        errors.strip()
        == f"quartet: stopped after 0 games; run the same command to resume from {tmp_path / 'a'}"
    )
    assert run.returncode == 130
