"""`quartet match` and `quartet replay` accept the official tools' command lines, settings and logs
for line-protocol games."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.replays import NO_FINISH
from tests.commands import ENVIRONMENT, quartet, refusal
from tests.processes import living_children

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
BAGS = DATA / "connexion" / "example_input.txt"
BOARD = DATA / "applegame" / "example_input.txt"
LINE_GAMES = [
    name for name in registry.GAMES if registry.load(name, "reference").INFO.lines is not None
]
ENOUGH = 60.0
PASSER = """
import sys, time
print("hello", file=sys.stderr, flush=True)
for line in sys.stdin:
    if line.startswith("READY"): print("OK", flush=True)
    if line.startswith("TIME"): print("-1 -1 -1 -1", flush=True)
    if line.startswith("FINISH"): break
"""
"""A bad player of the apple game."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


@pytest.fixture
def passer(tmp_path: Path) -> str:
    """Return a command for a program in `tmp_path`; it works only there."""
    (tmp_path / "passer.py").write_text(PASSER)
    return f"{sys.executable} passer.py"


@pytest.fixture(scope="module")
def sample_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of the official sample against itself on the statement's bags."""
    path = tmp_path_factory.mktemp("log") / "log.txt"
    quartet(
        "match",
        "connexion",
        "-i",
        str(BAGS),
        "-l",
        str(path),
        "-a",
        "sample",
        "-b",
        "sample",
        "--seconds",
        "60",
        "-s",
    )
    return path


@pytest.mark.parametrize("name", LINE_GAMES)
@pytest.mark.parametrize("clock", [(), ("--cpu",)])
def test_a_game_is_played_and_its_log_is_confirmed(
    name: str, clock: tuple[str, ...], tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    done = quartet(
        "match",
        name,
        "greedy",
        "random",
        "--seconds",
        "60",
        "--seed",
        "3",
        "-l",
        str(log),
        "--json",
        *clock,
    )
    data = json.loads(done.stdout)
    assert data["termination"] in {"score", "draw"}
    assert data["notes"] == []
    assert [seat["player"] for seat in data["seats"]] == ["greedy", "random"]
    assert [seat["exit"] for seat in data["seats"]] == [0, 0]
    assert [seat["stderr"] for seat in data["seats"]] == [[], []]
    assert all(seat["cpu_seconds"] > 0 and seat["megabytes"] > 0 for seat in data["seats"])
    scores = " ".join(str(seat["score"]) for seat in data["seats"])
    said = quartet("replay", name, str(log), "--quiet").stdout
    assert said == f"{log}: ok, {data['plies']} plies, {data['score']} {scores}\n"
    # Written lines are read back unchanged.
    game = games.load(name)
    for line in log.read_text(encoding="utf-8").splitlines():
        assert game.protocol.format_entry(game.protocol.parse_entry(line)) in {line, line.rstrip()}


def test_games_are_repeatable(tmp_path: Path) -> None:
    logs = [tmp_path / "1", tmp_path / "2"]
    for log in logs:
        quartet(
            "match",
            "applegame",
            "random",
            "greedy",
            "--seconds",
            "60",
            "--seed",
            "5",
            "-s",
            "-l",
            str(log),
        )
    moves = [
        [line.split()[:5] for line in log.read_text().splitlines() if line[0] in "FS"]
        for log in logs
    ]
    assert moves[0] == moves[1]


def test_the_sample_plays_the_statements_game(sample_log: Path) -> None:
    lines = sample_log.read_text().splitlines()
    assert lines[:4] == [
        '[FIRST "COMMAND: sample"]',
        '[SECOND "COMMAND: sample"]',
        '[RESULT "1-0"]',
        "INIT R1 Y3 B1 G4 Y1 G3 Y3 R1 Y2 R3",
    ]
    assert lines[-3:] == ["FINISH", "SCOREFIRST 314", "SCORESECOND 270"]


def test_positions_are_drawn(tmp_path: Path, passer: str) -> None:
    done = quartet("match", "applegame", passer, passer, "-i", str(BOARD), cwd=tmp_path)
    assert done.stdout.count("0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16") == 3
    assert ": a draw, 0 to 0 cells, after 2 plies\n" in done.stdout
    assert re.search(
        rf"^0 FIRST {re.escape(passer)}: -1 -1 -1 -1  \d+ ms$", done.stdout, re.MULTILINE
    )
    assert re.search(
        r"^place +player +cells +share +lost turns +processor time +memory",
        done.stdout,
        re.MULTILINE,
    )
    for side in ("FIRST", "SECOND"):
        row = rf"^1 +{side} .* 0 +0\.5 +0 +\d\.\d\d s +\d+ MB"
        assert re.search(row, done.stdout, re.MULTILINE)


def test_programs_run_in_their_folders(tmp_path: Path, passer: str) -> None:
    folders = tmp_path / "one", tmp_path / "two"
    for folder in folders:
        folder.mkdir()
        (folder / "passer.py").write_text(PASSER.replace("hello", folder.name))
    arguments = [
        "-a",
        passer,
        "-b",
        passer,
        "--cwd1",
        str(folders[0]),
        "--cwd2",
        str(folders[1]),
        "--json",
    ]
    data = json.loads(quartet("match", "applegame", *arguments).stdout)
    assert data["termination"] == "draw"
    assert [seat["stderr"] for seat in data["seats"]] == [
        [{"ply": 0, "text": folder.name}] for folder in folders
    ]


@pytest.mark.parametrize("name", ["setting.ini", "config.ini", "mine.ini"])
def test_settings_files(tmp_path: Path, passer: str, name: str) -> None:
    (tmp_path / "board.txt").write_text(BOARD.read_text())
    text = (
        f"INPUT=board.txt\nLOG=log.txt\nexec1 = {passer}\nEXEC2={passer}\n\n# a remark\n"
        "CWD1=.\nCWD2=\n"
    )
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    quartet("match", "applegame", *(["-c", name] if name == "mine.ini" else []), "-s", cwd=tmp_path)
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert lines[0] == "INIT " + " ".join(BOARD.read_text().split())
    assert [line.split()[:5] for line in lines[1:3]] == [
        ["FIRST", "-1", "-1", "-1", "-1"],
        ["SECOND", "-1", "-1", "-1", "-1"],
    ]
    assert lines[3:] == ["FINISH", "SCOREFIRST 0", "SCORESECOND 0"]


def test_a_missing_input_names_its_settings_file(tmp_path: Path) -> None:
    (tmp_path / "setting.ini").write_text("INPUT=no.txt\nEXEC1=sample\nEXEC2=sample\n")
    said = refusal("match", "connexion", cwd=tmp_path)
    assert said.startswith("setting.ini: INPUT: 'no.txt' is neither a file nor a position")


def test_options_override_settings(tmp_path: Path, passer: str) -> None:
    (tmp_path / "setting.ini").write_text(
        "INPUT=nothing.txt\nLOG=not.txt\nEXEC1=false\nEXEC2=false\n"
    )
    arguments = [
        "-c",
        "setting.ini",
        "-i",
        str(BOARD),
        "-l",
        "log.txt",
        "-a",
        passer,
        "-b",
        passer,
        "--json",
    ]
    assert (
        json.loads(quartet("match", "applegame", *arguments, cwd=tmp_path).stdout)["termination"]
        == "draw"
    )
    assert not (tmp_path / "not.txt").exists()
    # With a program on the command line, the file there is ignored.
    assert "two programs" in refusal("match", "applegame", passer, cwd=tmp_path)


@posix
def test_a_forfeit_ends_the_log(tmp_path: Path, passer: str) -> None:
    log = tmp_path / "log.txt"
    done = quartet(
        "match",
        "applegame",
        passer,
        "echo OK; sleep 0.2; echo 1 2 3",
        "-i",
        str(BOARD),
        "-l",
        str(log),
        "--json",
        cwd=tmp_path,
    )
    data = json.loads(done.stdout)
    assert (data["termination"], data["overloaded"], data["games_played"]) == ("re", False, 1)
    assert (
        data["reason"] == "SECOND gave a bad answer at ply 1: a move is four integers, not 3 words"
    )
    assert [(seat["place"], seat["share"], seat["foul"]) for seat in data["seats"]] == [
        (1, 1, None),
        (2, 0, "Parse failed"),
    ]
    assert log.read_text().splitlines()[-1] == "ABORT 1 Parse failed"
    assert (
        "SECOND forfeited the game: Parse failed"
        in quartet("replay", "applegame", str(log), "--quiet").stdout
    )


@posix
def test_stderr_is_logged_as_by_the_judge(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    quartet(
        "match",
        "connexion",
        "echo thinking >&2; echo OK; exec sleep 9",
        "sample",
        "--seconds",
        "0.5",
        "-l",
        str(log),
        "-s",
    )
    lines = log.read_text().splitlines()
    assert "# Debug FIRST: thinking" in lines
    assert lines[2] == '[RESULT "0-1"]'
    assert lines[-1] == "ABORT FIRST TLE"


@pytest.mark.slow
@posix
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's accounts")
def test_games_on_an_overloaded_machine_are_replayed(tmp_path: Path) -> None:
    burner = tmp_path / "burner.py"
    burner.write_text(
        "print('OK', flush=True)\nimport sys\nsys.stdin.readline()\nwhile True: pass\n"
    )
    spin = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
    # Each in its session: Linux shares processors fairly between sessions first.
    cores = len(psutil.Process().cpu_affinity() or [0])
    spinners = [
        subprocess.Popen([sys.executable, "-c", spin], start_new_session=True)
        for _ in range(4 * cores)
    ]
    command = f"{sys.executable} {burner}"
    try:
        done = quartet(
            "match",
            "applegame",
            command,
            command,
            "--seconds",
            "1.5",
            "--ready-seconds",
            "30",
            "--replay-overloaded",
            "2",
            "--json",
        )
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    data = json.loads(done.stdout)
    assert (data["termination"], data["overloaded"], data["games_played"]) == ("tle", True, 3)
    assert done.stderr.count("the game is played again") == 2


BAD = [
    (["connexion", "sample"], "connexion has 2 players: name two programs"),
    (["connexion"], "connexion has 2 players: name two programs"),
    (["connexion", "sample", "sample", "sample"], "one too many: sample"),
    (
        ["connexion", "human", "sample"],
        "a human needs a keyboard, but standard input is not a terminal",
    ),
    (
        ["connexion", "human", "sample", "--json"],
        "a human needs to see the board: omit --json and --quiet",
    ),
    (["connexion", "sample", "none"], "every seat of connexion needs a player"),
    (
        ["connexion", "-a", "sample", "-b", "sample", "-i", "/no/such/file"],
        "'/no/such/file' is neither a file nor a position: ",
    ),
    (["connexion", "sample", "sample", "-i", __file__], "test_match_lines.py: "),
    (
        ["connexion", "sample", "sample", "-l", "/no/such/folder/x"],
        "cannot write the log /no/such/folder/x",
    ),
    (
        ["connexion", "sample", "sample", "--cwd1", "/no/such/folder"],
        "there is no folder /no/such/folder",
    ),
    (
        ["connexion", "sample", "sample", "--moves", "3"],
        "connexion has no option 'moves'; there are: none",
    ),
    (["connexion", "sample", "sample", "--disqualify"], "--disqualify"),
    (["connexion", "sample", "sample", "--seconds", "0"], "0.0 is not a positive number"),
    (["connexion", "-c", "/no/such/file"], "cannot read /no/such/file"),
    (["connexion", "-c", __file__], "line 1: expected KEY=VALUE"),
    (["connexion", "sample", "sample", "--step"], "--step needs a keyboard"),
    (["ataxx", "greedy", "greedy", "-i", str(BOARD)], "a position has four parts"),
    (["ugolki", "bot", "-a", "bot"], "-a is for line-protocol games"),
    (
        ["ugolki", "bot", "bot", "bot", "bot", "--cpu"],
        "--cpu is for line-protocol games",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "words"), BAD, ids=[" ".join(arguments)[:60] for arguments, _ in BAD]
)
def test_bad_input_gets_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    assert words in refusal("match", *arguments, cwd=tmp_path)


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_match_keeps_the_log_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    log = tmp_path / "log.txt"
    mark = f"mark-{tmp_path}"
    (tmp_path / "stall.py").write_text(
        PASSER.replace('print("-1 -1 -1 -1", flush=True)', "time.sleep(60)")
    )
    stall = f"{sys.executable} {tmp_path / 'stall.py'} {mark}"
    (tmp_path / "passer.py").write_text(PASSER)
    passer = f"{sys.executable} {tmp_path / 'passer.py'} {mark}"
    command = [
        sys.executable,
        "-m",
        "quartet",
        "match",
        "applegame",
        passer,
        stall,
        "--seconds",
        "60",
        "-l",
        str(log),
    ]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("0 FIRST ") and ": -1 -1 -1 -1 " in line:
                break
        time.sleep(0.2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=ENOUGH)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert not any(mark in (p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["INIT", "FIRST"]
    said = quartet("replay", "applegame", str(log), "--quiet").stdout
    assert "the game was aborted after 1 plies" in said


# Replay


@pytest.mark.parametrize("name", ["applegame", "connexion"])
def test_published_logs_give_one_line_each(name: str) -> None:
    logs = sorted((DATA / name / "logs").glob("*.txt"))
    lines = quartet("replay", name, *map(str, logs)).stdout.splitlines()
    assert len(lines) == len(logs) > 30
    assert all(line.startswith(f"{log}: ok, ") for log, line in zip(logs, lines, strict=True))


def test_deviations_are_noted_and_errors_are_found(sample_log: Path, tmp_path: Path) -> None:
    good = sample_log.read_text()
    (tmp_path / "other").write_text((DATA / "applegame" / "logs" / "0000.txt").read_text())
    texts = {
        "good": good,
        "short": good.replace("FINISH\n", ""),
        "wrong": good.replace("SCOREFIRST 314", "SCOREFIRST 315"),
        "illegal": good.replace("SECOND a2- R1", "SECOND a1+ R1"),
        "torn": good[:500],
        "empty": "",
        "rubbish": "\x00\xff",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    done = quartet("replay", "connexion", *texts, "other", "missing", code=1, cwd=tmp_path)
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said["good"] == "ok, 64 plies, points 314 270"
    assert said["short"] == f"ok, 64 plies, points 314 270; {NO_FINISH}"
    assert said["wrong"].endswith("FIRST has 315 points, by the rules 314")
    assert said["illegal"].startswith("line 6: ")
    assert said["torn"].startswith("ok, ")
    assert said["missing"] == "cannot be read: No such file or directory"
    assert said["other"] == "line 1: this is a game of applegame, not of connexion"
    assert list(said) == [*texts, "other", "missing"]
    assert done.stderr == ""


def test_replay_draws(sample_log: Path) -> None:
    done = quartet("replay", "connexion", str(sample_log))
    assert len(re.findall(r"^a2- +b2- +c2- ", done.stdout, re.MULTILINE)) > 0
    assert done.stdout.count("\nhand of 1 ") == 65
    assert len(re.findall(r"^\d+ (FIRST|SECOND) sample: PUT", done.stdout, re.MULTILINE)) == 64
    assert "63 SECOND sample: PUT" in done.stdout


@pytest.mark.parametrize("ply", [0, 1, 20, 63])
def test_a_program_is_asked_at_a_position(sample_log: Path, ply: int) -> None:
    logged = f"PUT {' '.join(sample_log.read_text().splitlines()[4 + ply].split()[1:3])}"
    command = f"{sys.executable} -m connexion --player sample"
    for program in ("sample", command):
        said = quartet(
            "replay", "connexion", str(sample_log), "--at", str(ply), "--ask", program
        ).stdout.splitlines()[-1]
        assert said.startswith(f"{ply} {('FIRST', 'SECOND')[ply % 2]}: {logged}  ")
        assert said.endswith(f"the log has {logged}")


def test_a_program_that_deviates_from_the_log_is_reported(
    sample_log: Path, tmp_path: Path, passer: str
) -> None:
    other = f"{sys.executable} -m connexion --player random --seed 1"
    said = quartet(
        "replay", "connexion", str(sample_log), "--at", "20", "--ask", other, code=1
    ).stdout.splitlines()[-1]
    assert said.startswith("the program leaves the log at ply 0, with 'PUT ")
    heard = quartet(
        "replay", "connexion", str(sample_log), "--at", "20", "--ask", passer, code=1, cwd=tmp_path
    ).stdout.splitlines()
    assert heard[-1].startswith("FIRST gave a bad answer at ply 0: expected PUT")
    assert "# ply 0: hello" in heard
    log = tmp_path / "log.txt"
    log.write_text("INIT " + " ".join(BOARD.read_text().split()) + "\nFIRST -1 -1 -1 -1 5\n")
    said = quartet(
        "replay", "applegame", str(log), "--at", "1", "--ask", passer, cwd=tmp_path
    ).stdout.splitlines()[-1]
    assert said.endswith("the log ends here")


def test_a_log_without_its_variant_is_announced(tmp_path: Path) -> None:
    play = ("match", "ataxx", "greedy", "random", "-s", "--log", str(tmp_path / "x"), "--option")
    assert "does not record the option plies" in quartet(*play, "plies=10").stderr
    assert quartet(*play, "opening=4").stderr == "", "the log has the start"


def test_a_log_replaces_only_logs(tmp_path: Path) -> None:
    notes, log = tmp_path / "notes.md", tmp_path / "game.log"
    notes.write_text("mine")
    play = ("match", "applegame", "greedy", "random", "-s", "--log")
    said = refusal(*play, str(notes))
    assert said == f"--log: {notes} exists and holds something else; move it, or name another place"
    assert notes.read_text() == "mine"
    for seed in ("1", "2"):
        quartet(*play, str(log), "--seed", seed)
    assert log.read_text().startswith("INIT ")


def test_a_program_is_asked_at_a_position_of_ugolki(tmp_path: Path) -> None:
    quartet(
        "match",
        "ugolki",
        "greedy",
        "random",
        "random",
        "random",
        "--moves",
        "2",
        "--seconds",
        "60",
        "-s",
        "--log",
        str(tmp_path / "u"),
    )
    for ply in (0, 4):
        said = quartet(
            "replay", "ugolki", str(tmp_path / "u"), "--at", str(ply), "--ask", "greedy"
        ).stdout.splitlines()
        line = rf"{ply} 1: (\d \d \d \d)  \d\.\d\d s; the log has \1"
        assert re.fullmatch(line, said[-1])
    said = quartet(
        "replay", "ugolki", str(tmp_path / "u"), "--at", "3", "--ask", "exit 3", code=1
    ).stdout.splitlines()
    assert said[-1] == "3 4: crashed: exit status 3"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--at", "3"], "--at and --ask go together"),
        (["--ask", "sample"], "--at and --ask go together"),
        (
            ["--at", "64", "--ask", "sample"],
            "no player is asked at ply 64, but at plies 0 to 63",
        ),
        (
            ["--at", "999", "--ask", "sample"],
            "no player is asked at ply 999, but at plies 0 to 63",
        ),
    ],
)
def test_bad_questions_get_one_line(sample_log: Path, arguments: list[str], words: str) -> None:
    assert words in refusal("replay", "connexion", str(sample_log), *arguments)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Assert that no child process is left after a test."""
    before = living_children()
    yield
    assert living_children() <= before


def test_logs_are_checked_for_scripts(sample_log: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.txt"
    torn.write_text(sample_log.read_text().replace("FIRST a", "FIRST z", 1))
    found = json.loads(
        quartet("replay", "connexion", str(sample_log), str(torn), "--json", code=1).stdout
    )
    assert [(log["log"], log["agrees"]) for log in found] == [
        (str(sample_log), True),
        (str(torn), False),
    ]


def test_a_pipe_gets_whole_names(tmp_path: Path) -> None:
    program = "exit 3 # " + "x" * 90
    said = quartet("match", "connexion", "sample", program, "--quiet", cwd=tmp_path).stdout
    assert f"SECOND {program} " in said
