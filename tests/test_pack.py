"""Bundles for line-protocol judges, in one or two files, work on every Python here, also damaged or
without their core."""

from __future__ import annotations
import __future__

import hashlib
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from core.errors import QuartetError
from quartet import registry
from quartet.cli import build_tools
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.table import table_rules
from tests import checkout
from tests.commands import refusal
from tests.games import ROOT, is_whole
from tests.linegames import NAMES
from tests.tools import substituted

if TYPE_CHECKING:
    from collections.abc import Sequence

bundle, loader, nypc, alphano, proof = map(
    build_tools.load, ("bundle", "loader", "nypc", "alphano", "proof")
)

GAME = next(name for name in NAMES if is_whole(name))
"""A game with a compiled core."""
PYTHONS = sorted(
    {bundle.PYTHON, *map(str, Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python"))}
)
"""The Python that runs the tests, and those of pyenv, if any."""
FIXED = {"QUARTET_NODES": "500", "QUARTET_SEED": "1"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux",
        reason="the judges' machines run Linux, and so must the one that packs for them",
    ),
]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """main.py and data.bin."""
    made: Path = nypc.make(GAME, tmp_path_factory.mktemp("nypc"))
    return made


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = alphano.make(GAME, tmp_path_factory.mktemp("alphano"))
    return made


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Return a complete game as the program on the first seat receives it."""
    game = games.load(GAME)
    shared, command = hub(), Command([sys.executable, "-m", GAME], ROOT, FIXED)
    seats = [LineSeat(command, shared), LineSeat(command, shared)]
    table = replace(table_rules(game.info, ms=[600_000] * 2, ready_ms=60_000), megabytes=None)
    with Match(game, seats, ["ours", "theirs"], table, Start(0, {})) as match:
        assert [turn.ply for turn in match.play()]
    heard: list[str] = proof.conversation(match, 0)
    return heard


@pytest.fixture(scope="module")
def expected(lines: Sequence[str]) -> list[str]:
    """Return the answers of the engine from source."""
    heard = proof.ask([sys.executable, "-m", GAME], ROOT, lines, FIXED)
    assert heard.complaint is None
    answers: list[str] = heard.answers
    return answers


def run(
    command: Sequence[str], folder: Path, lines: Sequence[str], **env: str
) -> subprocess.CompletedProcess[str]:
    """Talk to a program that does not see the project, for at most one minute."""
    text = "".join(line + "\n" for line in lines)
    return subprocess.run(
        command,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **FIXED, **env},
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def how(stderr: str) -> str:
    """Return the way and the level that QUARTET_INFO prints."""
    found = re.search(r": ([^:]+), [\d.]+ ms$", stderr, re.MULTILINE)
    assert found, stderr
    return found[1]


def plays_on(command: Sequence[str], folder: Path) -> str:
    """Assert that a bundle without its core plays a legal game within the judge's processor time
    and exits with 0. Return its first error message."""
    game = games.load(GAME)
    rival = Command([sys.executable, "-m", GAME, "--player", "random", "--seed", "1"], ROOT)
    clean = {**proof.NO_PYTHON, "QUARTET_SEED": "1"}
    table = replace(table_rules(game.info, ready_ms=60_000, cpu=True), megabytes=None)
    shared = hub()
    seats = [LineSeat(Command(command, folder, clean), shared), LineSeat(rival, shared)]
    with Match(game, seats, ["ours", "random"], table, Start(0, {})) as match:
        assert all(turn.output for turn in match.play())
    result = match.result
    assert result is not None
    assert result.offender is None, result.reason
    assert result.exits[0] is not None
    assert result.exits[0].exit == 0
    told = [line for turn in match.turns for line in turn.said] + list(result.said)
    said = [text for seat, text in told if seat == 0]
    assert said
    assert not any("Traceback" in text for text in said)
    return said[0]


# Sound bundles


@pytest.mark.parametrize("python", PYTHONS)
def test_the_same_answers_on_every_python(
    packed: Path, one_file: Path, lines: list[str], expected: list[str], tmp_path: Path, python: str
) -> None:
    for target, artefact in ((nypc, packed), (alphano, one_file)):
        command = target.start(artefact, tmp_path, python)
        done = run(command, tmp_path, lines, QUARTET_INFO="1")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == ["OK", *expected]
        best = next(
            level
            for level in (target.LEVELS if target is alphano else bundle.LEVELS)
            if level in levels_here()
        )
        assert how(done.stderr) == ("memfd" if target is alphano else "in-place") + f", {best}"
        quiet = run(command, tmp_path, lines)
        assert (quiet.returncode, quiet.stderr) == (0, "")


def levels_here() -> list[str]:
    return [
        level
        for level, needed in bundle.LEVELS.items()
        if loader.features().issuperset(needed.split())
    ]


def test_every_loader_and_every_level(
    packed: Path, lines: list[str], expected: list[str], tmp_path: Path
) -> None:
    command = nypc.start(packed, tmp_path)
    before = {path for folder in loader.COPIES for path in Path(tmp_path, folder).glob(f"{GAME}-*")}
    for way in ("in-place", "memfd", *loader.COPIES):
        for level in levels_here():
            done = run(
                command, tmp_path, lines, QUARTET_WAYS=way, QUARTET_LEVELS=level, QUARTET_INFO="1"
            )
            assert done.stdout.splitlines() == ["OK", *expected], (way, level, done.stderr)
            assert how(done.stderr) == f"{way}, {level}"
    assert {
        path for folder in loader.COPIES for path in Path(tmp_path, folder).glob(f"{GAME}-*")
    } == before, "copies go"


def test_it_ignores_other_modules(packed: Path, tmp_path: Path) -> None:
    """Check that a bundle ignores modules of the same names in its folder or on the path."""
    command = nypc.start(packed, tmp_path)
    for package in ("core", GAME):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit(7)")
    done = run(command, tmp_path, ["READY FIRST"], PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "OK\n", "")


def test_sizes_are_within_the_judges_limits(
    packed: Path, one_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert packed.stat().st_size <= 1 << 20
    assert packed.with_name("data.bin").stat().st_size <= 10 << 20
    assert one_file.stat().st_size < packed.with_name("data.bin").stat().st_size
    monkeypatch.setattr(nypc, "MAX_DATA", 1000)
    with pytest.raises(
        QuartetError, match=r"data\.bin has [\d,]+ bytes, more than the judge's 1,000"
    ):
        nypc.make(GAME, tmp_path)


def test_another_checkout_gives_the_same_bytes(tmp_path: Path) -> None:
    """Compile elsewhere; one level is enough, and saves time."""
    there = checkout.copy(tmp_path / "some" / "checkout")
    code = (
        "from quartet.cli import build_tools; import sys; "
        f"sys.stdout.buffer.write(build_tools.load('bundle').make({GAME!r}, ('v2',)).data)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=there,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    here = bundle.make(GAME, ("v2",)).data
    assert hashlib.sha256(done.stdout).hexdigest() == hashlib.sha256(here).hexdigest()


# Damaged bundles


@pytest.mark.parametrize("fault", ["missing", "empty", "truncated", "longer", "one bit", "foreign"])
def test_damaged_data(packed: Path, tmp_path: Path, fault: str) -> None:
    command = nypc.start(packed, tmp_path)
    data = bytearray((tmp_path / "data.bin").read_bytes())
    if fault == "one bit":
        data[len(data) // 3] ^= 1
    changed: dict[str, bytes | bytearray] = {
        "empty": b"",
        "truncated": data[: len(data) // 2],
        "longer": data + b"\n",
        "one bit": data,
        "foreign": data[::-1],
    }
    (tmp_path / "data.bin").unlink()
    if fault != "missing":
        (tmp_path / "data.bin").write_bytes(changed[fault])
    complaint = plays_on(command, tmp_path)
    assert complaint.startswith(f"{GAME}: no compiled core: ")
    assert ("No such file" if fault == "missing" else "damaged") in complaint


def sealed_again(folder: Path, data: bytearray) -> None:
    """Write damaged data with a valid checksum."""
    (folder / "data.bin").write_bytes(data)
    main = folder / "main.py"
    checksum = f"CHECKSUM = {zlib.crc32(data)}"
    main.write_text(substituted(r"^CHECKSUM = \d+$", checksum, main.read_text()))


@pytest.mark.parametrize("fault", ["another machine", "no code", "wrong answers", "hangs"])
def test_cores_that_do_not_work(packed: Path, tmp_path: Path, fault: str) -> None:
    nypc.start(packed, tmp_path)
    main, data = tmp_path / "main.py", bytearray((tmp_path / "data.bin").read_bytes())
    if fault == "another machine":
        data[18:20] = (183).to_bytes(2, "little")  # e_machine: AArch64
    elif fault == "no code":
        middle = len(bundle.make(GAME).core) // 2
        data[middle - (200 << 10) : middle] = bytes(200 << 10)
    sealed_again(tmp_path, data)
    text = main.read_text()
    if fault == "wrong answers":
        text = substituted(r"^SELF_TEST = .*$", "SELF_TEST = (100, ())", text)
    elif fault == "hangs":
        text = substituted(r"^SELF_TEST = \(\d+", f"SELF_TEST = ({10**12}", text)
        text = substituted(r"^PATIENCE = 1\.0$", "PATIENCE = 0.1", text)
    main.write_text(text)
    command = [*nypc.compiled(tmp_path, bundle.PYTHON), nypc.WORD]
    complaint = plays_on(command, tmp_path)
    assert (
        "no compiled core" if fault == "another machine" else "has failed its test"
    ) in complaint


def test_a_truncated_main_is_rejected(packed: Path, tmp_path: Path) -> None:
    """Check that Python rejects a truncated file before any game."""
    cut = tmp_path / "main.py"
    cut.write_bytes(packed.read_bytes()[:-2])
    with pytest.raises(QuartetError, match=r"python cannot compile main\.py"):
        nypc.compiled(tmp_path, bundle.PYTHON)


def test_a_damaged_single_file_plays_on(one_file: Path, tmp_path: Path) -> None:
    command = alphano.start(one_file, tmp_path)
    file = tmp_path / one_file.name
    text = file.read_text()
    begin = text.index('EMBEDDED = """') + 5000
    file.write_text(text[:begin] + ("0" if text[begin] != "0" else "1") + text[begin + 1 :])
    assert plays_on(command, tmp_path).startswith(f"{GAME}: no compiled core: ")


# The parts


def test_opponents_and_training_are_not_packed() -> None:
    """Check that only the opponent model of the apple game's bot is packed."""
    packed = [
        name
        for game in registry.GAMES
        for parts in [build_tools.load("sources").parts(game)]
        for name in (
            *parts.python,
            *parts.compiled,
            *(name.replace("/", ".") for name in parts.data),
        )
        if {"frozen", "train"} & set(name.split("."))
    ]
    assert packed == ["applegame.frozen", "applegame.frozen.samples"]


def test_modules_as_functions_are_the_same_modules() -> None:
    for game in NAMES:
        for name, path in build_tools.load("sources").parts(game).python.items():
            code = compile(
                bundle.ast.unparse(
                    bundle.ast.Module([bundle.as_function(name, path.read_text())], [])
                ),
                name,
                "exec",
                flags=__future__.annotations.compiler_flag,
                dont_inherit=True,
            )
            space: dict[str, Any] = {}
            exec("from __future__ import annotations\n", space)  # noqa: S102
            exec(code, space)  # noqa: S102
            module = ModuleType(name)
            sys.modules[f"{name}-bundled"] = module
            vars(module).update(__name__=f"{name}-bundled", __file__=str(path))
            exec(space[f"module_{name.replace('.', '_')}"].__code__, vars(module))  # noqa: S102
            del sys.modules[f"{name}-bundled"]
            ordinary = __import__(name, fromlist=["*"])
            typing_only = {
                "TYPE_CHECKING",
                "annotations",
                *re.findall(r"\w+", "".join(type_checking_blocks(path))),
            }
            submodules = {
                part.rpartition(".")[2] for part in sys.modules if part.startswith(name + ".")
            }
            missing = (
                {key for key in vars(ordinary) if not key.startswith("__")}
                - set(vars(module))
                - typing_only
                - submodules
            )
            assert missing == set(), name


def type_checking_blocks(path: Path) -> list[str]:
    return re.findall(r"^if TYPE_CHECKING:\n((?:[ \t].*\n|\n)+)", path.read_text(), re.MULTILINE)


def test_newer_symbols_are_found() -> None:
    table = """
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) free
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.28) fcntl64
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.34) pthread_create
0000000000000000  w   D  *UND*\t0000000000000000  Base        __gmon_start__
"""
    assert bundle.newer_symbols(table) == ["pthread_create@2.34"]


def test_the_proof_detects_another_player(tmp_path: Path) -> None:
    game = games.load(GAME)
    command = [
        sys.executable,
        "-c",
        (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {GAME}.__main__ import main; "
            "main(['--player', 'random'])"
        ),
    ]
    with pytest.raises(QuartetError, match="answer 1 of the artefact is "):
        proof.prove_lines(game, command, tmp_path)


def test_the_proof_detects_a_crash_and_a_message(tmp_path: Path) -> None:
    game = games.load(GAME)
    with pytest.raises(QuartetError, match="the artefact does not work"):
        proof.prove_lines(game, [sys.executable, "-c", "print('OK')"], tmp_path)


# The command


def quartet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quartet", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("game", NAMES)
def test_every_line_protocol_game_is_packed_and_proven(game: str, tmp_path: Path) -> None:
    target = "alphano" if game == "ataxx" else "nypc"  # the judge of its contest
    done = quartet("pack", target, game, "--out", str(tmp_path / "new" / "folder"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        str(tmp_path / "new" / "folder" / ("main.py" if target == "nypc" else f"{game}.py"))
    ]
    assert "all as from source" in done.stderr
    assert "a game by the clock" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nypc", "chess"), "no game is called 'chess'"),
        (("nypc", GAME, "--limit", "5"), "--limit is for alphano, not for nypc"),
        (("exe", GAME, "--windows-python", "."), "--windows-python is for --platform windows"),
        (
            ("exe", "ugolki", "--platform", "windows", "--windows-python", "/no/such"),
            "--windows-python: there is no folder /no/such",
        ),
        (("cartridge", GAME), "'cartridge' is not one of"),
        *[
            ((target, game), f"quartet pack exe {game}")
            for target in ("nypc", "alphano")
            for game in registry.GAMES
            if game not in NAMES
        ],
    ],
)
def test_impossible_packages_are_rejected(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = quartet("pack", *arguments, "--out", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("target", "name"), [("nypc", "main.py"), ("alphano", f"{GAME}.py")])
def test_no_other_file_is_replaced(target: str, name: str, packed: Path, tmp_path: Path) -> None:
    file = tmp_path / name
    for before in (b"print()", packed.read_bytes().replace(GAME.encode(), b"chess", 1)):
        file.write_bytes(before)
        said = refusal("pack", target, GAME, "--out", str(tmp_path))
        assert said == (
            f"--out: {file} exists and holds something else; move it, or name another place"
        )
        assert file.read_bytes() == before


def test_a_submission_is_replaced_by_a_new_one(packed: Path, tmp_path: Path) -> None:
    nypc.start(packed, tmp_path)
    (tmp_path / "main.py").write_bytes(packed.read_bytes()[:1000])
    done = quartet("pack", "nypc", GAME, "--no-proof", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "main.py").read_bytes() == packed.read_bytes()


def test_a_file_that_is_too_large_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alphano.make(GAME, tmp_path, limit=1000)
    assert "warning: that is more than 1,000 bytes" in capsys.readouterr().err
    alphano.make(GAME, tmp_path, limit=10 << 20)
    assert "warning" not in capsys.readouterr().err
