"""build/run.py makes the environment. The tests have no network, so they install nothing."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from quartet.arena import files
from tests import checkout
from tests.games import ROOT

SCRIPT = ROOT / "build" / "run.py"
INSTALL = ["uv cython", "-e ."]
COMPILE = ["setup.py --quiet build_ext --inplace"]


def load_script(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("quartet_run", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


class Home:
    """A nearly empty checkout, and the script as a module. `outcomes` replace venv, pip and uv.

    Attributes:
        script: The module.
        path: The checkout.
        calls: What it ran: "venv", the requirements for pip or uv, or a script with its arguments.
        outcomes: Of the next runs: None for success, a text for the log of a failure, or an
            exception to raise.
    """

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.script = load_script(SCRIPT)
        self.path = path
        venv = path / ".venv"
        for name, value in {
            "ROOT": path, "VENV": venv, "BIN": venv / "bin", "STATE": venv / "state.json",
            "LOG": venv / "log", "logged": self._logged, "uv_settings": lambda _: {}
        }.items():  # fmt: skip
            monkeypatch.setattr(self.script, name, value)
        monkeypatch.delenv("QUARTET_BUILD", raising=False)
        self.source = path / "core" / "clock.pyx"
        self.module = self.source.with_suffix(importlib.machinery.EXTENSION_SUFFIXES[0])
        self.source.parent.mkdir()
        self.source.touch()
        (path / "pyproject.toml").write_text('[build-system]\nrequires = ["cython"]\n')
        self.calls: list[str] = []
        self.outcomes: list[str | BaseException | None] = []

    def _logged(self, command: list[str], **_: str) -> str | None:
        words = " ".join(command[1:])
        what = words.rpartition(" install ")[2].rpartition("--no-build-isolation ")[2]
        self.calls.append("venv" if " venv " in words else what)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, BaseException):
            raise outcome
        if self.calls[-1] not in {"venv", INSTALL[0]} and outcome is None:
            self.module.touch()
        return outcome

    def prepare(self, command: str = "quartet games") -> list[str]:
        """Return what a run did before its command."""
        self.calls.clear()
        self.script.prepare(self.script.extras(command.split()))
        return self.calls


@pytest.fixture(autouse=True)
def _import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what the script does to the import path."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def test_it_makes_the_environment_once(home: Home) -> None:
    assert home.prepare() == ["venv", *INSTALL]
    assert home.prepare() == []


def test_sources_that_are_never_compiled_are_not_required(home: Home) -> None:
    for name in ("build/template/game/rules.pyx", "tests/game/rules.pyx"):
        (home.path / name).parent.mkdir(parents=True)
        (home.path / name).touch()
    assert home.prepare() == ["venv", *INSTALL]
    assert home.prepare() == []


@pytest.mark.slow
def test_a_second_call_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Use the project's sources and setup.py in a complete environment."""
    tree = checkout.copy_built(tmp_path / "checkout")
    script = load_script(tree / "build" / "run.py")
    monkeypatch.setattr(script, "BIN", Path(sys.executable).parent)
    monkeypatch.setenv("PYTHONPATH", str(tree))
    script.VENV.mkdir()
    state = {"maker": script.maker(), "project": script.content(script.PROJECT), "extras": ["dev"]}
    script.write_state(state)
    script.prepare({"dev"})
    assert capfd.readouterr().err == "quartet: compiling ...\n"
    script.prepare({"dev"})
    assert capfd.readouterr() == ("", "")


def test_tools_are_installed_when_needed_and_stay(home: Home) -> None:
    home.prepare()
    assert home.prepare("pytest -q") == [INSTALL[0], "-e .[dev]"]
    assert (
        home.prepare() == home.prepare("ruff check .") == home.prepare("quartet pack exe x") == []
    )
    home.source.write_text("changed")
    assert home.prepare() == COMPILE
    (home.path / "setup.py").touch()
    assert home.prepare() == [INSTALL[0], "-e .[dev]"]


def test_a_command_installs_its_extra(home: Home) -> None:
    home.prepare("python -m quartet pack")
    assert home.prepare("quartet match pack train") == []
    assert home.prepare("quartet pack exe ugolki")[1:] == ["-e .[pack]"]
    assert home.prepare("quartet pack nypc ataxx") == []
    more = home.prepare("quartet tournament ataxx --cluster=here:1")[1:]
    assert more == ["-e .[cluster,pack,stats]"]
    assert home.prepare("quartet selfplay ataxx --cluster here:1") == []


def test_every_installed_extra_exists(home: Home) -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = described["project"]["optional-dependencies"]
    assert set(home.script.EXTRAS.values()) <= set(extras)
    for name, wanted in extras.items():
        assert set(wanted) <= set(extras[home.script.TOOLS]), name
    assert set(extras["stats"]) <= set(extras["web"]), "the page shows ratings"


def test_changed_sources_are_compiled(home: Home) -> None:
    home.prepare()
    for name in ("core/x.pyx", "core/x.pxd", "core/x.h", "core/search/x.pxi"):
        (home.path / name).parent.mkdir(exist_ok=True)
        (home.path / name).write_text("changed")
        (home.path / name).with_suffix(home.module.name.removeprefix("clock")).touch()
        assert home.prepare() == COMPILE, name
    (home.path / "core" / "x.py").write_text("changed")
    assert home.prepare() == []


@pytest.mark.parametrize("name", ["setup.py", "pyproject.toml"])
def test_a_changed_pyproject_is_installed(home: Home, name: str) -> None:
    home.prepare()
    with (home.path / name).open("a") as file:
        file.write("# changed")
    assert home.prepare() == INSTALL
    assert home.prepare() == []


def test_other_kinds_of_builds_are_compiled(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.prepare()
    monkeypatch.setenv("QUARTET_BUILD", "debug")
    assert home.prepare() == COMPILE
    home.module.unlink()
    assert home.prepare() == COMPILE


def test_another_python_or_place_has_another_environment(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.prepare()
    monkeypatch.setattr(home.script, "maker", lambda: "another program")
    assert home.prepare() == ["venv", *INSTALL]


@pytest.mark.parametrize("killed_in", [0, 1, 2])
def test_an_incomplete_environment_is_made_again(home: Home, killed_in: int) -> None:
    home.outcomes = [*[None] * killed_in, KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        home.prepare()
    (home.path / ".venv" / "rubbish").touch()
    assert home.prepare() == ["venv", *INSTALL]
    assert not (home.path / ".venv" / "rubbish").exists()


def test_two_calls_make_the_environment_one_after_the_other(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Let another call end while this one waits."""
    home.prepare()
    there = home.script.STATE.read_text()
    home.script.STATE.unlink()
    (home.path / ".build").mkdir(exist_ok=True)
    other = files.locked(home.path / ".build" / "environment.lock")
    assert other is not None

    def end(_: float) -> None:
        home.script.STATE.write_text(there)
        other.close()

    monkeypatch.setattr(time, "sleep", end)
    capsys.readouterr()
    assert home.prepare() == []
    assert capsys.readouterr().err == "quartet: waiting for another command's build ...\n"


def test_pip_installs_where_uv_fails(home: Home) -> None:
    home.outcomes = [None, None, "error: no luck with uv"]
    assert home.prepare() == ["venv", *INSTALL, INSTALL[1]]
    assert home.prepare() == []


@pytest.mark.parametrize("outcomes", [[], [None, "error: no luck with uv"]])
def test_after_a_failure_only_the_install_is_tried_again(
    home: Home, outcomes: list[str | None]
) -> None:
    home.outcomes = [None, *outcomes, "error: out of luck"]
    with pytest.raises(home.script.EnvironmentFailure, match="out of luck"):
        home.prepare()
    assert home.prepare() == INSTALL


@pytest.mark.parametrize("outcome", ["core/clock.pyx:1:1: Expected", "", KeyboardInterrupt()])
def test_failed_compilations_are_tried_again(home: Home, outcome: str | BaseException) -> None:
    """Check this even if the sources are reverted."""
    home.prepare()
    home.outcomes = [outcome]
    home.source.write_text("changed")
    with pytest.raises((home.script.EnvironmentFailure, KeyboardInterrupt)):
        home.prepare()
    home.source.write_text("")
    assert home.prepare() == COMPILE
    assert home.prepare() == []


def test_foreign_environments_are_not_removed(home: Home) -> None:
    precious = home.path / ".venv" / "precious"
    precious.parent.mkdir()
    precious.touch()
    with pytest.raises(home.script.EnvironmentFailure, match="move it out of the way"):
        home.prepare()
    assert precious.exists()


def test_a_python_without_venv(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(home.script.EnvironmentFailure, match="python3-venv"):
        home.prepare()


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (("  x\n      quartet: no C compiler was found; install one\n      [end]\n"
            "ERROR: Failed building editable"), "no C compiler was found"),
        (
            "  \u2502 quartet: Python's C headers are missing\nerror: subprocess-exited-with-error",
            "Python's C headers are missing"
        ),
        (("      core/native/clock.pyx:3:1: Expected an identifier\n"
            "   Cython.Compiler.Errors.CompileError"), "core/native/clock.pyx:3:1: Expected"),
        (("WARNING: Retrying after connection broken by 'NameResolutionError(...)'\n"
            "ERROR: No matching distribution"), "cannot reach its package index"),
        ("ERROR: Could not find a version that satisfies the requirement x (from versions: none)",
        "cannot reach its package index"),
        ("ERROR: one\nERROR: No space left on device\n", "No space left on device"),
        ("", "the install failed"),
    ],
)  # fmt: skip
def test_a_long_log_becomes_one_sentence(home: Home, log: str, sentence: str) -> None:
    reason = home.script.reason(log)
    assert sentence in reason
    assert len(reason.splitlines()) == 1


def test_uv_uses_the_package_indexes_of_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in os.environ:
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://one/simple\nextra-index-url =\n  https://two/simple\n"
        "  https://three/simple\ntimeout = 7\n[install]\nfind-links = here there\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_INDEX_URL", "https://four/simple")
    monkeypatch.setenv("UV_SYSTEM_CERTS", "false")
    script = load_script(SCRIPT)
    found = script.uv_settings([sys.executable, "-m", "pip"])
    assert found.items() >= {
        ("UV_DEFAULT_INDEX", "https://four/simple"),
        ("UV_INDEX", "https://two/simple https://three/simple"),
        ("UV_FIND_LINKS", "here,there"),
        ("UV_INDEX_STRATEGY", "unsafe-best-match"),
    }
    assert "UV_SYSTEM_CERTS" not in found


def test_commands_run_in_the_environment(home: Home) -> None:
    """Check that arguments, output and exit status are unchanged, and that child processes find the
    environment. Bytecode is written there, because each start would compile it otherwise."""
    home.prepare()
    tool = home.path / ".venv" / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "$VIRTUAL_ENV $1$PYTHONDONTWRITEBYTECODE"\nexit 7\n')
    tool.chmod(0o755)
    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import run; from pathlib "
        "import Path\n"
    )
    code += (
        f"run.VENV = Path({str(home.path / '.venv')!r}); run.BIN = run.VENV / 'bin'; "
        "run.run(['tool', 'a  b'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHOME": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stdout) == (7, f"{home.path / '.venv'} a  b\n")
    with pytest.raises(home.script.EnvironmentFailure, match="no command 'nonsense'"):
        home.script.run(["nonsense"])


def test_usage_without_a_command() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("usage: ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("version_info = (3, 8, 1)", "Python 3.11 or newer is needed, this is 3.8"),
        (
            "maxsize = 2**31 - 1",
            "a 64-bit Python is needed, this one has 32 bits; install the 64-bit version",
        ),
    ],
)
def test_an_unsuitable_python_is_rejected(home: Home, change: str, message: str) -> None:
    code = f"import sys; sys.{change}; exec(open({str(SCRIPT)!r}).read())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=home.path
    )
    assert (done.returncode, done.stderr) == (
        1,
        f"quartet: {message}\n",
    )
