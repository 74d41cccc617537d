"""Executables for this machine, and for Windows under Wine, work in empty folders away from the
project."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from core.agent import executable as frozen
from core.errors import QuartetError
from quartet import registry
from quartet.cli import build_tools
from tests.bench.latency import games
from tests.games import ROOT
from tests.tools import FOLDERS, need, read_only
from ugolki.protocol import parse_answer
from ugolki.reference import Position

if TYPE_CHECKING:
    from core.rules import Position as AnyPosition

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.version_info >= (3, 13), reason="the pinned PyInstaller knows Python 3.11 and 3.12"
    ),
]

EXAMPLE = (ROOT / "tests/data/ugolki/example_input.txt").read_bytes()
MINGW = ("gcc-mingw-w64-x86-64", "x86_64-w64-mingw32-gcc")


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = build_tools.load("exe").make("ugolki", tmp_path_factory.mktemp("one file"))
    return made


@pytest.fixture(scope="module")
def in_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = build_tools.load("exe").make(
        "ugolki", tmp_path_factory.mktemp("folder"), onedir=True
    )
    return made


@pytest.fixture(scope="module")
def for_windows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need(*MINGW)
    made: Path = build_tools.load("exe").make(
        "ugolki", tmp_path_factory.mktemp("windows"), platform="windows"
    )
    return made


class Strategy(NamedTuple):
    """A strategy's folder with an executable in it.

    Attributes:
        command: Starts the executable.
        temporary: The folder that it unpacks into, except on Windows.
    """

    folder: Path
    command: list[str]
    temporary: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("QUARTET_", "PYTHON"))
        }
        return {**kept, "TMPDIR": str(self.temporary), **more}

    def run(
        self, *arguments: str, data: bytes | None = EXAMPLE, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        if data is not None:
            (self.folder / "input.txt").write_bytes(data)
        return subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def answer(self) -> tuple[int, ...]:
        return parse_answer((self.folder / "output.txt").read_text(), 0)


def lay(executable: Path, home: Path) -> Strategy:
    (home / "strategy").mkdir()
    (home / "temporary").mkdir()
    command = build_tools.load("exe").start(executable, home / "strategy")
    return Strategy(home / "strategy", list(command), home / "temporary")


@pytest.fixture(params=["one_file", "in_folder"])
def strategy(request: pytest.FixtureRequest, tmp_path: Path) -> Strategy:
    return lay(request.getfixturevalue(request.param), tmp_path)


@pytest.fixture
def unpacking(one_file: Path, tmp_path: Path) -> Strategy:
    return lay(one_file, tmp_path)


def from_source(folder: Path, data: bytes, nodes: int) -> tuple[int, ...]:
    folder.mkdir(exist_ok=True)
    (folder / "input.txt").write_bytes(data)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QUARTET_NODES": str(nodes)}
    subprocess.run([sys.executable, "-m", "ugolki"], cwd=folder, env=environment, check=True)
    return parse_answer((folder / "output.txt").read_text(), 0)


def positions(count: int, seed: int) -> list[AnyPosition]:
    """Return positions of games in which one of four players is random."""
    random, asked = Random(seed), games("ugolki", seed)
    found = [next(asked)[1]]
    while len(found) < 10 * count:
        found.append(asked.send(random.choice(found[-1].legal()))[1])
    return random.sample(found, count)


# Play


def test_it_answers_as_from_source(strategy: Strategy, tmp_path: Path) -> None:
    for position in positions(5, seed=1):
        data = position.text().encode()
        done = strategy.run(data=data, QUARTET_NODES="300")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert strategy.answer() == from_source(tmp_path / "source", data, 300)
    assert not any(strategy.temporary.iterdir())


def test_it_answers_within_its_time(strategy: Strategy) -> None:
    done = strategy.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert strategy.answer() in Position.parse(EXAMPLE.decode()).legal()


def test_bad_input_is_named_and_still_answered(strategy: Strategy) -> None:
    done = strategy.run(data=EXAMPLE.replace(b"0\n", b"zero\n", 1))
    assert done.returncode == 2
    assert "the move number is 'zero', not a number" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert strategy.answer()


def test_variants_of_the_input_format(strategy: Strategy) -> None:
    assert (
        strategy.run(
            data=b"\xff\xfe" + EXAMPLE.decode().encode("utf-16-le"), QUARTET_NODES="100"
        ).returncode
        == 0
    )
    assert strategy.answer()


@pytest.mark.parametrize("name", FOLDERS)
def test_the_folder_may_have_any_name(one_file: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    strategy = lay(one_file, tmp_path / name)
    done = strategy.run(QUARTET_NODES="200")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert strategy.answer() in Position.parse(EXAMPLE.decode()).legal()


def test_a_read_only_folder_gives_one_line(strategy: Strategy) -> None:
    need("bubblewrap", "bwrap")
    (strategy.folder / "input.txt").write_bytes(EXAMPLE)
    done = subprocess.run(
        [*read_only(strategy.folder), *strategy.command],
        cwd=strategy.folder,
        env=strategy.environment(QUARTET_NODES="200"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "Read-only file system" in done.stderr
    assert done.stderr.count("\n") == 1


def test_options(strategy: Strategy) -> None:
    done = strategy.run("--help")
    assert done.returncode == 0
    assert "--target SECONDS" in done.stdout
    assert strategy.run("--player", "random", "--seed", "3").returncode == 0
    done = strategy.run("--player", "deepblue")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert strategy.run("--nonsense").returncode == 2


@pytest.mark.parametrize("name", ["brs:5", "bot2611", "deepblue"])
def test_players_that_are_not_packed(strategy: Strategy, name: str) -> None:
    done = strategy.run("--player", name)
    said = f"this package has no player '{name}'; it has: bot, greedy, random\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_any_language_is_accepted(strategy: Strategy) -> None:
    """Check that Python needs no encoding that was not packed."""
    assert (
        strategy.run(
            LC_ALL="ru_RU.KOI8-R",
            LANG="ru_RU.KOI8-R",
            PYTHONIOENCODING="cp1251",
            QUARTET_NODES="50",
        ).returncode
        == 0
    )


def test_settings_are_read_next_to_it(strategy: Strategy) -> None:
    (strategy.folder / "quartet.ini").write_text("nodes = 123\n")
    assert " nodes 123 " in strategy.run(QUARTET_INFO="1").stderr
    assert " nodes 77 " in strategy.run(QUARTET_INFO="1", QUARTET_NODES="77").stderr


def test_a_decimal_comma_is_accepted(strategy: Strategy) -> None:
    (strategy.folder / "quartet.ini").write_text("target = 0,2\n")
    assert strategy.run().returncode == 0


def test_the_self_test(strategy: Strategy) -> None:
    done = strategy.run("--selftest")
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"median -?\d+ ms, at most -?\d+ ms", done.stdout)) == 2


# Time


def test_the_budget_counts_from_the_start_of_the_outer_process(unpacking: Strategy) -> None:
    """Let unpacking stall for 0.7 s: the agent must search for a shorter time."""
    (unpacking.folder / "input.txt").write_bytes(EXAMPLE)
    took = []
    for pause in (0.0, 0.7):
        started = time.monotonic()
        process = subprocess.Popen(
            unpacking.command, cwd=unpacking.folder, env=unpacking.environment(QUARTET_TARGET="2")
        )
        if pause:
            process.send_signal(signal.SIGSTOP)
            time.sleep(pause)
            process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=60) == 0
        took.append(time.monotonic() - started)
    plain, held_up = took
    assert held_up - plain < 0.5


@pytest.mark.parametrize("version", ["installed", "for Windows"])
def test_the_bootloader_does_not_wait(version: str) -> None:
    freeze = build_tools.load("freeze")
    if version == "installed":
        bootloader = next((freeze.pyinstaller() / "bootloader").glob("*/run*"))
    else:
        windows = build_tools.load("windows")
        bootloader = windows.bootloader()
    assert not freeze.waits_for_session_end(bootloader)


def test_a_bootloader_that_waits_is_rejected(tmp_path: Path) -> None:
    """Check the version: later bootloaders open a hidden window and block the end of the
    session."""
    compiler = need(*MINGW)
    source = tmp_path / "run.c"
    source.write_text(
        "#include <windows.h>\n"
        'int main(void) { HWND w = CreateWindowExW(0, L"x", L"x", 0, 0, 0, 0, 0, 0, 0, 0, 0); '
        'return ShutdownBlockReasonCreate(w, L"busy"); }\n'
    )
    flags = ["-D_WIN32_WINNT=0x0A00", "-o", str(tmp_path / "run.exe")]
    subprocess.run([compiler, str(source), *flags, "-luser32"], check=True)
    freeze, native = build_tools.load("freeze"), build_tools.load("native")
    assert freeze.waits_for_session_end(tmp_path / "run.exe")
    here = native.Native.here()
    bad = native.Native(
        tmp_path / "run.exe", here.library, here.suffix, here.modules, here.compiled, here.endings
    )
    with pytest.raises(QuartetError, match="waits when its program has ended"):
        freeze.make("ugolki", bad, tmp_path)


@pytest.mark.parametrize("missing", ["PyInstaller", "Cython.Build"])
def test_a_tool_that_is_missing(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Check that the hint names the Python that runs."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(QuartetError, match=f"{missing} is missing; run ") as told:
        build_tools.load("exe").make("ugolki", tmp_path)
    assert f"{sys.executable} -m pip install 'cython" in str(told.value)
    assert len(str(told.value).splitlines()) == 1


def test_the_pinned_version_is_in_the_project() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    pinned = f"pyinstaller=={build_tools.load('freeze').PINNED}; python_version < '3.13'"
    assert pinned in extras["pack"]
    assert pinned in extras["dev"]


# Leftovers of killed runs


def test_folders_of_a_killed_run_are_removed(unpacking: Strategy) -> None:
    (unpacking.folder / "input.txt").write_bytes(EXAMPLE)
    environment = unpacking.environment(QUARTET_TARGET="30")
    process = subprocess.Popen(
        unpacking.command, cwd=unpacking.folder, env=environment, start_new_session=True
    )
    while not (unpacking.folder / "output.txt").exists():
        assert process.poll() is None
        time.sleep(0.01)
    (left,) = unpacking.temporary.iterdir()
    an_hour_ago = time.time() - 3600
    os.utime(left / frozen.MARK, (an_hour_ago, an_hour_ago))

    assert unpacking.run(QUARTET_NODES="50").returncode == 0
    assert (left / "base_library.zip").exists(), (
        "its process is alive, however old the folder looks"
    )

    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(20):  # a slow machine takes more than one start
        assert unpacking.run(QUARTET_NODES="50").returncode == 0
        if not left.exists():
            break
    assert not any(unpacking.temporary.iterdir())


def test_folders_of_other_programs_stay(unpacking: Strategy) -> None:
    other = unpacking.temporary / "_MEIother"
    other.mkdir()
    (other / "python311.dll").touch()
    os.utime(other, (0, 0))
    assert unpacking.run(QUARTET_NODES="50").returncode == 0
    assert list(unpacking.temporary.iterdir()) == [other]


# The build


def test_the_executable_is_reproducible(one_file: Path, tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, json\nfrom quartet.cli import build_tools\n"
        "build_tools.load('exe').make('ugolki', pathlib.Path(sys.argv[1]))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "77",
        "SOURCE_DATE_EPOCH": "1",
    }
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=tmp_path, env=environment, check=True
    )
    assert (tmp_path / one_file.name).read_bytes() == one_file.read_bytes()


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_binary_of_every_game(game: str, tmp_path: Path) -> None:
    """Check that it starts; `quartet pack` has played with it."""
    binary = build_tools.load("binary")
    executable = binary.make(game, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    command = binary.start(executable, tmp_path / "empty")
    info = registry.load(game, "reference").INFO
    if info.exchange is not None:
        (tmp_path / "empty" / info.exchange.input).write_text(
            registry.load(game, "reference").Position.start().text()
        )
    done = subprocess.run(
        command,
        cwd=tmp_path / "empty",
        input="READY FIRST\nFINISH\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("" if info.lines is None else "OK\n")


def test_a_missing_requirement_gives_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(*MINGW)
    executables = build_tools.load("exe")
    with pytest.raises(QuartetError, match=r"has no python3\d+\.dll"):
        executables.make("ugolki", tmp_path, platform="windows", windows_python=tmp_path)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(QuartetError, match="apt install gcc-mingw-w64-x86-64"):
            executables.make("ugolki", tmp_path, platform="windows")
    with monkeypatch.context() as patch:
        patch.setattr("PyInstaller.__version__", "6.22.0")
        with pytest.raises(QuartetError, match=r"need PyInstaller 6\.9\.0, this is 6\.22\.0"):
            executables.make("ugolki", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", (3, 13, 0))
        with pytest.raises(QuartetError, match=r"need Python 3\.11 or 3\.12, this is 3\.13"):
            executables.make("ugolki", tmp_path)
    (tmp_path / "ugolki").mkdir()
    with pytest.raises(QuartetError, match="is a folder"):
        executables.make("ugolki", tmp_path)


# Damage


@pytest.mark.parametrize("kept", [0.01, 0.3, 0.7, 0.999999])
def test_a_truncated_file_prints_a_message(unpacking: Strategy, kept: float) -> None:
    (program,) = unpacking.folder.iterdir()
    os.truncate(program, max(60_000, int(kept * program.stat().st_size)))
    done = unpacking.run()
    assert done.returncode != 0
    assert "Could not load PyInstaller's embedded PKG archive" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        (b"PyInit_core_native_clock\0", "is damaged, or not made for this machine"),
        (b"ugolki/__main__.pyc", "is damaged, or not made for this machine"),
        (b"PyInit_ugolki_engine\0", "engine is missing: this file is corrupt"),
        (b"encodings/__init__.pyc", "encodings"),
    ],
)
def test_a_damaged_file_fails(unpacking: Strategy, damaged: bytes, complaint: str) -> None:
    (program,) = unpacking.folder.iterdir()
    data = program.read_bytes()
    assert damaged in data
    program.write_bytes(data.replace(damaged, b"?" * len(damaged)))
    done = unpacking.run()
    assert done.returncode != 0
    assert complaint in done.stderr


# Windows


@pytest.fixture(scope="module")
def wine() -> list[str]:
    """Return the words that run a Windows program."""
    need("wine64", *build_tools.load("windows").WINE)
    words: list[str] = build_tools.load("windows").wine()
    return words


@pytest.mark.usefixtures("wine")
def test_windows_plays_as_from_source(for_windows: Path, tmp_path: Path) -> None:
    strategy = lay(for_windows, tmp_path)
    for position in positions(5, seed=2):
        data = position.text().encode()
        done = strategy.run(data=data, QUARTET_NODES="300")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert strategy.answer() == from_source(tmp_path / "source", data, 300)
        # And with a clock, even if little of it is left after Wine's start.
        assert strategy.run(data=data).returncode == 0
        assert strategy.answer() in Position.parse(data.decode()).legal()


@pytest.mark.usefixtures("wine")
@pytest.mark.parametrize("name", FOLDERS)
def test_a_windows_folder_may_have_any_name(for_windows: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    strategy = lay(for_windows, tmp_path / name)
    done = strategy.run(QUARTET_NODES="200", LC_ALL="C.UTF-8")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert strategy.answer() in Position.parse(EXAMPLE.decode()).legal()


@pytest.mark.parametrize("name", ["input.txt", "output.txt"])
def test_windows_answers_while_a_file_is_open(
    wine: list[str], for_windows: Path, tmp_path: Path, name: str
) -> None:
    """A judge may keep a file open. Unlike Windows, Wine lets Python delete it nevertheless."""
    strategy = lay(for_windows, tmp_path)
    (strategy.folder / "output.txt").write_text("an old answer")
    (strategy.folder / "input.txt").write_bytes(EXAMPLE)
    holding = tmp_path / "hold.exe"
    source = ROOT / "tests/windows/hold.c"
    subprocess.run([need(*MINGW), "-Wall", "-Werror", source, "-o", holding], check=True)
    with subprocess.Popen(
        [*wine, str(holding), name],
        cwd=strategy.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"open"
        done = strategy.run(data=None, QUARTET_NODES="200")
        holder.stdin.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert strategy.answer() in Position.parse(EXAMPLE.decode()).legal()


def test_windows_knows_the_age_of_the_outer_process(wine: list[str], tmp_path: Path) -> None:
    compiler = need(*MINGW)
    one, other = tmp_path / "one.exe", tmp_path / "other.exe"
    subprocess.run(
        [
            compiler,
            "-Wall",
            "-Werror",
            "-I",
            str(ROOT),
            str(ROOT / "tests/windows/ages.c"),
            "-o",
            str(one),
        ],
        check=True,
    )
    shutil.copy(one, other)

    def ages(*arguments: str) -> tuple[float, float]:
        done = subprocess.run(
            [*wine, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        own, outer = map(float, done.stdout.split())
        return own, outer

    assert 0 <= ages("one.exe")[0] < 60
    assert ages("one.exe")[1] == -1, "Wine started it, which is not the same program"
    own, outer = ages("one.exe", "one.exe")
    assert outer - own > 1.4
    assert ages("one.exe", "other.exe")[1] == -1


@pytest.mark.usefixtures("wine")
def test_windows_cleans_up(for_windows: Path, tmp_path: Path) -> None:
    strategy = lay(for_windows, tmp_path)
    said = strategy.run("--selftest")
    place = re.search(r"unpacked to C:\\(.+)\\_MEI", said.stdout)
    assert place, said
    temporary = Path(build_tools.load("windows").WINE_HOME, "drive_c", *place[1].split("\\"))
    assert not list(temporary.glob("_MEI*"))
    killed = temporary / "_MEI1"
    killed.mkdir()
    (killed / frozen.MARK).touch()
    (killed / "python311.dll").touch()
    os.utime(killed / frozen.MARK, (time.time() - 3600,) * 2)
    for _ in range(20):
        assert strategy.run(QUARTET_NODES="50").returncode == 0
        if not killed.exists():
            break
    assert not list(temporary.glob("_MEI*"))


@pytest.mark.usefixtures("wine")
def test_windows_runs_from_a_folder(tmp_path: Path) -> None:
    need(*MINGW)
    strategy = lay(
        build_tools.load("exe").make("ugolki", tmp_path / "out", platform="windows", onedir=True),
        tmp_path,
    )
    assert strategy.run(QUARTET_NODES="50").returncode == 0
    assert strategy.answer()


def test_windows_executables_are_reproducible(for_windows: Path, tmp_path: Path) -> None:
    again = build_tools.load("exe").make("ugolki", tmp_path, platform="windows")
    assert again.read_bytes() == for_windows.read_bytes()


def test_a_python_for_windows_may_be_named(for_windows: Path, tmp_path: Path) -> None:
    """Use a folder like an installed Python, with extension modules in DLLs."""
    windows = build_tools.load("windows")
    home = shutil.copytree(windows.python(), tmp_path / "Python")
    (home / "DLLs").mkdir()
    for file in home.glob("*.pyd"):
        file.rename(home / "DLLs" / file.name)
    made = build_tools.load("exe").make(
        "ugolki", tmp_path / "out", platform="windows", windows_python=home
    )
    assert made.read_bytes() == for_windows.read_bytes()
