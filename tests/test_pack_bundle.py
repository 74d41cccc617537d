"""Bundles, `main.py` with `data.bin` or all in one file: started as their judges start them, whole, damaged, and on other Pythons."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import registry
from core.errors import QuartetError
from judge import game as games
from judge.lines import Terms
from quartet import workshop
from quartet.pack import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge.lines import LineResult

proof, bundle, nypc, alphano = (workshop.load(name) for name in ("proof", "bundle", "nypc", "alphano"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the judges' machines run Linux, and so do the tools that pack for them")

GAME = "ataxx"
"""A game with rules, engine and weights; what is special to it is not looked at here."""
LINES = ["READY FIRST", "TURN 10000 10000", "OPP 1 7 2 7 1", "TURN 10000 10000", "OPP 2 7 3 7 1", "TURN 10000 10000", "FINISH"]
FIXED = {"QUARTET_NODES": "500", "QUARTET_SEED": "1"}
PYTHONS = sorted({*Path("/root/.pyenv/versions").glob("3.1[1-9].*/bin/python3"), *map(Path, filter(None, [shutil.which("python3")]))})


@pytest.fixture(scope="module")
def two_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = nypc.make(GAME, tmp_path_factory.mktemp("nypc"))
    return made


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = alphano.make(GAME, tmp_path_factory.mktemp("alphano"))
    return made


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """What the agent answers from source."""
    said: list[str] = proof.ask([sys.executable, "-m", GAME], Path(proof.HOME), LINES, FIXED)
    assert len(said) == 3
    return said


def run(start: Sequence[str], folder: Path, lines: Sequence[str] = LINES, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        start,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **FIXED, **env},
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_one_core_serves_every_python(python: Path, two_files: Path, expected: list[str], tmp_path: Path) -> None:
    done = run(nypc.start(two_files, tmp_path, str(python)), tmp_path, QUARTET_INFO="1")
    assert done.stdout.splitlines() == ["OK", *expected]
    assert done.returncode == 0
    assert "in-place, v" in done.stderr


def test_all_in_one_file(one_file: Path, expected: list[str], tmp_path: Path) -> None:
    done = run(alphano.start(one_file, tmp_path), tmp_path, QUARTET_INFO="1")
    assert (done.stdout.splitlines(), done.returncode) == (["OK", *expected], 0)
    assert "memfd, v" in done.stderr


@pytest.mark.parametrize("way", ["memfd", "/dev/shm", "/tmp", "."])  # noqa: S108
def test_every_way_to_the_core(way: str, two_files: Path, expected: list[str], tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    done = run(nypc.start(two_files, tmp_path), tmp_path, QUARTET_INFO="1", QUARTET_WAYS=way)
    assert (done.stdout.splitlines(), done.returncode) == (["OK", *expected], 0)
    assert f"{way}, v" in done.stderr
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"main.py", "data.bin", "__pycache__"}


@pytest.mark.parametrize("level", [variant["QUARTET_LEVELS"] for variant in bundle.variants() if "QUARTET_LEVELS" in variant])
def test_every_level_of_processor(level: str, two_files: Path, expected: list[str], tmp_path: Path) -> None:
    done = run(nypc.start(two_files, tmp_path), tmp_path, QUARTET_INFO="1", QUARTET_LEVELS=level)
    assert (done.stdout.splitlines(), done.returncode) == (["OK", *expected], 0)
    assert f", {level}," in done.stderr


def test_nothing_but_answers_is_said(two_files: Path, tmp_path: Path) -> None:
    done = run(nypc.start(two_files, tmp_path), tmp_path)
    assert done.stderr == ""
    assert all(re.fullmatch(r"OK|MOVE( -?\d+){4}", line) for line in done.stdout.splitlines())


def flip(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def reseal(folder: Path, data: bytes) -> None:
    """Other data, which main.py takes for its own."""
    (folder / "data.bin").write_bytes(data)
    text = (folder / "main.py").read_text()
    text = re.sub(r"^CHECKSUM = \d+$", f"CHECKSUM = {zlib.crc32(data)}", text, flags=re.MULTILINE)
    (folder / "main.py").write_text(text)


def spoil(data: bytes, kind: str) -> bytes | None:
    """What is left of the data, None for no file."""
    spoilt = {
        "a bit of the core": flip(data, 5000),
        "a bit of the weights": flip(data, len(data) - 5000),
        "cut short": data[: len(data) // 2],
        "too long": data + b"\0",
        "empty": b"",
        "missing": None,
    }
    return spoilt[kind]


@pytest.mark.parametrize("kind", ["a bit of the core", "a bit of the weights", "cut short", "too long", "empty", "missing"])
def test_damaged_data_costs_strength_not_the_game(kind: str, two_files: Path, tmp_path: Path) -> None:
    start = nypc.start(two_files, tmp_path)
    data = spoil((tmp_path / "data.bin").read_bytes(), kind)
    (tmp_path / "data.bin").unlink()
    if data is not None:
        (tmp_path / "data.bin").write_bytes(data)
    done = run(start, tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    said = done.stderr.splitlines()
    assert "no compiled core" in said[0]
    assert "greedy plays" in said[1]
    assert len(said) == 2


def test_a_core_for_another_machine_is_left_alone(two_files: Path, tmp_path: Path) -> None:
    nypc.start(two_files, tmp_path)
    data = (tmp_path / "data.bin").read_bytes()
    reseal(tmp_path, data[:18] + (183).to_bytes(2, "little") + data[20:])  # e_machine: AArch64
    done = run(nypc.compiled(tmp_path, bundle.PYTHON), tmp_path)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)
    assert "cannot be opened here" in done.stderr


def test_a_core_that_errs_is_left_alone(two_files: Path, tmp_path: Path) -> None:
    nypc.start(two_files, tmp_path)
    text = (tmp_path / "main.py").read_text()
    (tmp_path / "main.py").write_text(re.sub(r"^SELF_TEST = \((\d+), .*$", r"SELF_TEST = (\1, (0, 0, 0, 0))", text, flags=re.MULTILINE))
    done = run(nypc.compiled(tmp_path, bundle.PYTHON), tmp_path)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)
    assert "has failed its test (1)" in done.stderr


def test_a_core_that_crashes_is_left_alone(two_files: Path, tmp_path: Path) -> None:
    """Its code is overwritten with an instruction that no processor has: only the child that tries it dies of it."""
    nypc.start(two_files, tmp_path)
    data = bytearray((tmp_path / "data.bin").read_bytes())
    sections = subprocess.run(["readelf", "-SW", str(tmp_path / "data.bin")], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\.text\s+PROGBITS\s+\w+\s+(\w+)\s+(\w+)", sections)
    assert found is not None
    offset, size = int(found[1], 16), int(found[2], 16)
    data[offset : offset + size] = b"\x0f\x0b" * (size // 2) + b"\x90" * (size % 2)
    reseal(tmp_path, bytes(data))
    done = run(nypc.compiled(tmp_path, bundle.PYTHON), tmp_path)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)
    assert "no compiled core" in done.stderr


def play_without_core(game: str, folder: Path, start: Sequence[str]) -> LineResult:
    """A whole game in the judge, in which nothing but plain Python is there."""
    duel, _ = proof.play(games.load_lines(game), start, folder, 0, Terms.of(games.load_lines(game).judge), {"QUARTET_WAYS": "none"})
    result: LineResult = duel.result
    return result


@pytest.mark.parametrize("game", [game for game in registry.GAMES if registry.load(game, "reference").INFO.lines is not None])
def test_plain_python_plays_a_whole_game_in_time(game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundle is packed without its core: the judge's clock, of 10 s, is not half spent."""
    monkeypatch.setattr(bundle, "shared_object", lambda modules, levels: b"no core")  # noqa: ARG005
    monkeypatch.setattr(proof, "fault", lambda result, seat: result.sentence if result.termination.foul else None)  # noqa: ARG005
    out = tmp_path / "out"
    out.mkdir()
    folder = tmp_path / "empty"
    folder.mkdir()
    result = play_without_core(game, folder, nypc.start(nypc.make(game, out), folder))
    farewell = result.farewells[0]
    assert farewell is not None
    assert farewell.exit == 0
    assert farewell.seconds < 5


def test_the_proof_sees_what_is_wrong(two_files: Path, tmp_path: Path) -> None:
    for name in ("main.py", "data.bin"):
        shutil.copy(two_files.with_name(name), tmp_path)
    (tmp_path / "data.bin").write_bytes(b"")
    with pytest.raises(QuartetError, match="does not work"):
        proof.prove(GAME, tmp_path / "main.py", nypc)


def test_the_command_packs_and_proves(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["alphano", "applegame", "--out", str(tmp_path / "new"), "--limit", "1000"])
    assert done.exit_code == 0, done.output
    assert "more than 1,000" in done.stderr
    assert "all as from source" in done.stderr
    assert done.stdout.strip() == str(tmp_path / "new" / "main.py")


def test_what_cannot_be_packed_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(QuartetError, match="pack exe ugolki"):
        nypc.make("ugolki", tmp_path)
    assert CliRunner().invoke(command, ["nypc", GAME, "--out", str(tmp_path), "--onedir"]).exit_code == 2
    monkeypatch.setattr(nypc, "MOST_CODE", 1000)
    with pytest.raises(QuartetError, match=r"main\.py has .* more than the judge's 1,000"):
        nypc.make(GAME, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_core_that_needs_a_new_library_is_refused() -> None:
    table = "0 DF *UND* 0 (GLIBC_2.33) stat\n0 DF *UND* 0 (GLIBC_2.2.5) free\n0 DF *UND* 0  GLIBC_2.28 statx\n"
    assert bundle.newer_symbols(table) == ["stat@2.33"]


AGAIN = """
import sys
from pathlib import Path
from quartet import workshop
sources, nypc, bundle = (workshop.load(name) for name in ("sources", "nypc", "bundle"))
sources.SCRATCH = sources.ROOT / ".build" / sys.argv[1]
bundle.make.__defaults__ = (("v2",),)
nypc.make(sys.argv[2], Path(sys.argv[3]))
"""


def test_the_same_bytes_again(two_files: Path, tmp_path: Path) -> None:
    """For one level, translated and compiled twice, in different folders."""
    names = [f"pack-again-{os.getpid()}-{number}" for number in (1, 2)]
    try:
        for name in names:
            (tmp_path / name).mkdir()
            environment = {**os.environ, "PYTHONPATH": proof.HOME, "PYTHONHASHSEED": name[-1]}
            subprocess.run([sys.executable, "-c", AGAIN, name, GAME, str(tmp_path / name)], env=environment, check=True)
    finally:
        for name in names:
            shutil.rmtree(Path(proof.HOME, ".build", name), ignore_errors=True)
    for file in ("main.py", "data.bin"):
        one, other = ((tmp_path / name / file).read_bytes() for name in names)
        assert one == other
        assert one != two_files.with_name(file).read_bytes()  # which has more levels: the comparison sees something
