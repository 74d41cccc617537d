"""`python -m ugolki`, as the contest server starts it, reads input.txt, writes output.txt and
exits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from quartet.judge.process import once as judged
from tests.tools import FOLDERS, need, read_only
from ugolki.protocol import parse_answer, read_input
from ugolki.reference import Position

ROOT = Path(__file__).parents[1]
EXAMPLE = (ROOT / "tests/data/ugolki/example_input.txt").read_bytes()


def run(
    folder: Path, data: bytes | None, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    if data is not None:
        (folder / "input.txt").write_bytes(data)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("QUARTET_")
    }
    return subprocess.run(
        [sys.executable, "-m", "ugolki", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), "QUARTET_NODES": "2000", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def answer(folder: Path) -> tuple[int, ...]:
    return parse_answer((folder / "output.txt").read_text(), 0)


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and "Traceback" not in text


def test_it_answers_the_example_without_messages(tmp_path: Path) -> None:
    done = run(tmp_path, EXAMPLE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert answer(tmp_path) in Position.parse(EXAMPLE.decode()).legal()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["input.txt", "output.txt"]


def test_after_a_long_stall_it_answers_at_once(tmp_path: Path) -> None:
    """Let an earlier move stall for 0.08 s. Three such stalls exceed the target of 0.1 s; the next
    move stores a slightly shorter stall."""
    (tmp_path / "stall.txt").write_text("0.08\n")
    done = run(tmp_path, EXAMPLE, QUARTET_NODES="", QUARTET_TARGET="0.1", QUARTET_INFO="1")
    assert done.returncode == 0
    assert "nodes 128 " in done.stderr
    assert float((tmp_path / "stall.txt").read_text()) >= 0.064
    (tmp_path / "stall.txt").write_text("0.07\n")
    run(tmp_path, EXAMPLE, "--no-memory", QUARTET_NODES="", QUARTET_TARGET="0.2")
    assert (tmp_path / "stall.txt").read_text() == "0.07\n"


@pytest.mark.parametrize("name", FOLDERS)
def test_the_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "input.txt").write_bytes(EXAMPLE)
    assert run(tmp_path, None, str(folder)).returncode == 0
    assert (folder / "output.txt").exists()
    assert run(folder, EXAMPLE).returncode == 0
    assert run(tmp_path, EXAMPLE, PYTHONPATH=f"{folder}{os.pathsep}{ROOT}").returncode == 0


def test_a_read_only_folder_gives_one_line(tmp_path: Path) -> None:
    need("bubblewrap", "bwrap")
    (tmp_path / "input.txt").write_bytes(EXAMPLE)
    done = subprocess.run(
        [*read_only(tmp_path), sys.executable, "-m", "ugolki", "--nodes", "200"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Read-only file system" in done.stderr
    assert one_line(done.stderr)


@pytest.mark.parametrize(
    "data",
    [
        EXAMPLE.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + EXAMPLE,
        EXAMPLE.decode().encode("utf-16"),
        EXAMPLE.rstrip(),
        EXAMPLE.replace(b" ", b""),
        b"".join(EXAMPLE.split()),
        b" \n\t" + EXAMPLE.replace(b" ", b"\t ") + b"\n\n",
        EXAMPLE.replace(b"2", b"0").replace(b"4", b"0"),
        EXAMPLE.replace(b"0 4 4 4 0 0 3 3 3 0", b"0 4 0 4 0 0 3 0 3 0"),
        EXAMPLE.replace(b"0", b"77", 1),
    ],
    ids=[
        "crlf",
        "bom",
        "utf-16",
        "no newline",
        "run together",
        "all on one line",
        "white space",
        "two players",
        "pieces missing",
        "move 77",
    ],
)
def test_variants_of_the_input_format(tmp_path: Path, data: bytes) -> None:
    done = run(tmp_path, data)
    assert (done.returncode, done.stderr) == (0, "")
    assert answer(tmp_path)[:2] in {(c, r) for c in range(10) for r in range(10)}


FIRST_ROW = b"0 1 1 1 0 0 2 2 2 0"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (EXAMPLE.replace(FIRST_ROW, FIRST_ROW[2:]), "row 1 has 9 cells, not 10"),
        (
            EXAMPLE.replace(FIRST_ROW, b"0 1 1 1 0 0 7 x 2 0"),
            "unknown digit '7' at column 6, row 1",
        ),
        (
            EXAMPLE.replace(FIRST_ROW, b"0 1 1 1 0 0 2 2 2 1"),
            "7 of your pieces (1) are on the board, not 6",
        ),
        (
            EXAMPLE.replace(FIRST_ROW, b"0 1 1 0 0 0 2 2 2 0"),
            "5 of your pieces (1) are on the board, not 6",
        ),
        (EXAMPLE[2:], "the move number is missing"),
        (EXAMPLE.replace(b"0\n", b"zero\n", 1), "the move number is 'zero', not a number"),
    ],
)
def test_bad_input_is_named_and_still_answered(tmp_path: Path, data: bytes, complaint: str) -> None:
    done = run(tmp_path, data)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert one_line(done.stderr)
    # The move is legal for every meaning of the unreadable part: it uses readable cells only.
    reading = read_input(data)
    assert answer(tmp_path) in Position(tuple(reading.cells)).pseudolegal()
    assert not {answer(tmp_path)[1], answer(tmp_path)[3]} & set(reading.doubtful)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "No such file"),
        (b"", "it is empty; no legal move"),
        (b"\xff\xfe\x00\xd8 rubbish \x00\x01", "no legal move"),
        (EXAMPLE.replace(b"1", b"0"), "none of your pieces (1) is on the board; no legal move"),
        (
            b"0\n1 2 2 0 0 0 0 0 0 0\n2 2 2 0 0 0 0 0 0 0\n2 0 0 0 0 0 0 0 0 0\n"
            + b"0 0 0 0 0 0 0 0 0 0\n" * 7,
            "no legal move",
        ),
    ],
)
def test_no_answer_without_a_legal_move(tmp_path: Path, data: bytes | None, complaint: str) -> None:
    (tmp_path / "output.txt").write_text("1 1 1 4\n")  # the previous move
    done = run(tmp_path, data)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert one_line(done.stderr)
    assert not (tmp_path / "output.txt").exists()


def test_all_home_is_no_error(tmp_path: Path) -> None:
    rows = ["0 0 0 0 0 0 0 0 0 0"] * 7 + [
        "0 0 0 0 0 0 1 1 1 0",
        "0 0 0 0 0 0 1 1 1 0",
        "0 0 0 0 0 0 0 0 0 0",
    ]
    done = run(tmp_path, "\n".join(["30", *rows]).encode())
    assert (done.returncode, done.stderr) == (0, "")
    position = Position.parse("\n".join(["30", *rows]))
    assert answer(tmp_path) in position.pseudolegal()
    assert Position(position.cells, 120, 99).scores()[0] == 0


@pytest.mark.parametrize(
    ("name", "value", "otherwise"),
    [
        *(("target", x, "not a number of seconds") for x in ("soon", "nan", "inf", "-1")),
        *(("nodes", x, "not a number from 1 on") for x in ("many", "0", "-5", str(10**30))),
        ("threads", "-3", "not a number from 1 on"),
        ("early", "maybe", "neither 0 nor 1"),
    ],
)
def test_a_bad_setting_does_not_stop_play(
    tmp_path: Path, name: str, value: str, otherwise: str
) -> None:
    variable = f"QUARTET_{name.upper()}"
    done = run(tmp_path, EXAMPLE, **{"QUARTET_NODES": "50", variable: value})
    assert done.returncode == 2
    assert done.stderr == f"the setting {name} ({variable}) is {value!r}, {otherwise}\n"
    assert answer(tmp_path)


@pytest.mark.parametrize("words", [("--target", "nan"), ("--nodes", "-5")])
def test_a_bad_option_is_rejected(tmp_path: Path, words: tuple[str, str]) -> None:
    done = run(tmp_path, EXAMPLE, *words)
    assert done.returncode == 2
    assert words[1] in done.stderr.splitlines()[-1]


def test_an_unknown_player_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, EXAMPLE, "--player", "deepblue")
    assert done.returncode == 2
    assert "deepblue" in done.stderr
    assert one_line(done.stderr)


def test_a_missing_folder_is_rejected(tmp_path: Path) -> None:
    done = run(tmp_path, None, "nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert one_line(done.stderr)


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_built_in_players_are_programs_too(tmp_path: Path, name: str) -> None:
    moves = set()
    for _ in range(2):
        assert run(tmp_path, EXAMPLE, "--player", name, "--seed", "5").returncode == 0
        moves.add(answer(tmp_path))
    assert len(moves) == 1  # the seed determines the move
    assert moves <= set(Position.parse(EXAMPLE.decode()).legal())


def start(folder: Path, *arguments: str, target: str = "20") -> subprocess.Popen[bytes]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("QUARTET_")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "ugolki", *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "QUARTET_TARGET": target},
    )


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(3000):
        if path.exists():
            return
        assert process.poll() is None
        time.sleep(0.01)
    raise AssertionError(f"{path} never came")


def test_a_good_move_is_written_early(tmp_path: Path) -> None:
    (tmp_path / "input.txt").write_bytes(EXAMPLE)
    process = start(tmp_path)
    try:
        wait_for(tmp_path / "output.txt", process)
        early = answer(tmp_path)
        assert process.poll() is None  # it is still searching: its target is 20 s
    finally:
        process.kill()
        process.wait()
    position = Position.parse(EXAMPLE.decode())
    best = max(before(m) - after(m) for m in position.legal())
    assert early in position.legal()
    # a searched move, not the first legal one (which gains nothing)
    assert before(early) - after(early) >= best - 2


def before(move: tuple[int, ...]) -> int:
    return max(0, 6 - move[0]) + max(0, 6 - move[1])


def after(move: tuple[int, ...]) -> int:
    return max(0, 6 - move[2]) + max(0, 6 - move[3])


def test_without_early_answers_the_answer_comes_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "input.txt").write_bytes(EXAMPLE)
    process = start(tmp_path, "--no-early", target="1.5")
    while process.poll() is None:
        seen = (tmp_path / "output.txt").exists()
        if seen:
            process.wait(timeout=5)  # the process ends right after the output
        time.sleep(0.005)
    assert process.returncode == 0
    assert answer(tmp_path) in Position.parse(EXAMPLE.decode()).legal()


def test_killed_at_any_instant_the_answer_is_whole_or_missing(tmp_path: Path) -> None:
    random, position = Random(1), Position.parse(EXAMPLE.decode())
    (tmp_path / "input.txt").write_bytes(EXAMPLE)
    stale = "9 9 8 8\n"
    for _ in range(40):
        (tmp_path / "output.txt").write_text(stale)
        process = start(tmp_path, target="5")
        time.sleep(random.uniform(0, 0.15))
        process.kill()
        process.wait()
        # Killed at once, the process leaves the old answer. Later there is none, or a legal one.
        if (tmp_path / "output.txt").exists() and (tmp_path / "output.txt").read_text() != stale:
            assert answer(tmp_path) in position.legal()
    (tmp_path / "output.txt").unlink(missing_ok=True)
    process = start(tmp_path, target="5")
    try:
        wait_for(tmp_path / "output.txt", process)
    finally:
        process.kill()
        process.wait()
    left = {p.name for p in tmp_path.iterdir()}
    assert left <= {"input.txt", "output.txt", "output.txt.new"}


def test_the_budget_counts_from_the_start_of_the_process(tmp_path: Path) -> None:
    """Let the interpreter take 0.6 s to start: the search is shorter. The total time stays near the
    target, far below target + 0.6 s."""
    (tmp_path / "input.txt").write_bytes(EXAMPLE)
    (tmp_path / "sitecustomize.py").write_text("import time; time.sleep(0.6)")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("QUARTET_")
    }
    took = []
    for path in (str(ROOT), f"{tmp_path}{os.pathsep}{ROOT}"):
        started = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "ugolki"],
            cwd=tmp_path,
            check=True,
            env={**environment, "PYTHONPATH": path, "QUARTET_TARGET": "2.0"},
        )
        took.append(time.monotonic() - started)
    plain, slow = took
    assert slow - plain < 0.4


def test_memory_stays_small(tmp_path: Path) -> None:
    (tmp_path / "input.txt").write_bytes(EXAMPLE)
    done = judged.run(
        [sys.executable, "-m", "ugolki"],
        tmp_path,
        seconds=60,
        megabytes=1000,
        env={"PYTHONPATH": str(ROOT), "QUARTET_TARGET": "0.6"},
    )
    assert done.exit == 0
    assert 0 < done.megabytes < 128
