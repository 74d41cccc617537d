"""A release has a version, hints about missing packages, and a wheel that works away from the
checkout."""

from __future__ import annotations

import ast
import csv
import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from core.extras import install_hint
from quartet import registry
from quartet.cli import build_tools
from tests import checkout
from tests.games import ROOT
from tests.linegames import NAMES
from tests.tools import fast_compiler

COMMIT = "0123456789ab"
FAST = {"QUARTET_NODES": "100"}
CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def project() -> dict[str, dict[str, list[str]]]:
    described: dict[str, dict[str, list[str]]] = tomllib.loads(
        (ROOT / "pyproject.toml").read_text("utf-8")
    )["project"]
    return described


# Messages


def test_the_version_is_the_newest_of_the_changelog() -> None:
    assert build_tools.load("release").version() == project()["version"]


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", name) for name in versions[1:])
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= CHANGES


def test_a_hint_is_for_the_python_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert install_hint("a>=1", "b") == f"{sys.executable} -m pip install 'a>=1' b"
    monkeypatch.setattr(sys, "path", [])  # without pip, as in environments of uv
    assert install_hint("b") == f"uv pip install --python {sys.executable} b"


def test_hints_name_what_is_installed() -> None:
    """Check that hints name the packages of an extra: `quartet[...]` would install an unrelated
    project."""
    known = {
        re.split(r"[^\w-]", text)[0]
        for texts in project()["optional-dependencies"].values()
        for text in texts
    }
    hints = 0
    for room in ("core", "quartet", "build", *registry.GAMES.values()):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text("utf-8")
            assert "quartet[" not in text, path
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "install_hint":
                    names = [one.value for one in node.args if isinstance(one, ast.Constant)]
                    assert {re.split(r"[^\w-]", str(name))[0] for name in names} <= known, path
                    hints += bool(names)
    assert hints


def test_guides_name_what_is_installed() -> None:
    """Check that `quartet[...]` only follows a file or a checkout."""
    for guide in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for line in guide.read_text("utf-8").splitlines():
            assert not re.search(r"install\s+['\"]?quartet\b", line), (guide, line)


# The wheel


def test_a_bill_of_materials_is_a_file_of_the_wheel(tmp_path: Path) -> None:
    wheel, bill = tmp_path / "some-1-py3-none-any.whl", tmp_path / "bill"
    bill.write_text('{"components": []}')
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr("some/__init__.py", "VALUE = 1\n")
        files.writestr("some-1.dist-info/RECORD", "some/__init__.py,,\nsome-1.dist-info/RECORD,,\n")
    build_tools.load("release").add_bill(wheel, bill)
    assert {path.name for path in tmp_path.iterdir()} == {wheel.name, bill.name}
    with zipfile.ZipFile(wheel) as files:
        rows = list(csv.reader(files.read("some-1.dist-info/RECORD").decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(files.namelist())
        name, digest, size = rows[-1]
        assert name == "some-1.dist-info/sboms/sbom.cdx.json"
        data = files.read(name)
        assert files.read("some/__init__.py") == b"VALUE = 1\n"
    assert (data, int(size)) == (bill.read_bytes(), len(data))
    told = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    assert digest == f"sha256={told.decode()}"


class Installed:
    """A wheel of this project in a separate environment."""

    def __init__(self, folder: Path) -> None:
        """Build it. Raises AssertionError if that fails."""
        home = checkout.copy_built(folder / "checkout")
        (home / "built.txt").write_text(f"commit {COMMIT}")
        words = ["--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation"]
        words += ["--wheel-dir", str(folder), "."]
        compiler = fast_compiler(folder)
        done = checkout.python(home, "-m", "pip", *words, QUARTET_BUILD="release", CC=compiler)
        assert done.returncode == 0, done.stderr
        (self.wheel,) = folder.glob("*.whl")
        self.folder = folder / "elsewhere"
        self.folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        self.python = folder / "venv" / "bin" / "python"
        self.cache = folder / "cache"
        assert self.run(str(self.python), "-m", "pip", "install", str(self.wheel)).returncode == 0

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command that does not see the checkout."""
        hidden = ("PYTHON", "QUARTET", "VIRTUAL_ENV")
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(hidden)
        }
        quick = {"PIP_NO_COMPILE": "1", "QUARTET_CACHE": str(self.cache), "NO_COLOR": "1"}
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**inherited, **quick, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def quartet(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.python.with_name("quartet")), *arguments, **more)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("wheel"))


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")


@on_linux
@pytest.mark.slow
def test_one_wheel_serves_every_python(installed: Installed) -> None:
    assert "-cp311-abi3-" in installed.wheel.name
    with zipfile.ZipFile(installed.wheel) as files:
        rooms = {name.partition("/")[0] for name in files.namelist()}
        compiled = {name for name in files.namelist() if name.endswith(".so")}
    assert {room for room in rooms if not room.endswith(".dist-info")} == set(registry.PACKAGES)
    assert compiled == {name for name in compiled if name.endswith(".abi3.so")} != set()


@on_linux
@pytest.mark.slow
def test_a_wheel_plays_without_a_compiler(installed: Installed) -> None:
    version = project()["version"]
    done = installed.quartet("--version", PATH="")
    assert done.stdout == f"quartet {version}, commit {COMMIT}, release x86-64-v2 abi3\n"
    for game in registry.GAMES:
        seats = registry.load(game, "reference").INFO.players
        players = ["bot", *["random"] * (seats - 1)]
        done = installed.quartet("match", game, *players, "--seed", "1", PATH="", **FAST)
        assert done.returncode == 0, done.stderr


@on_linux
@pytest.mark.slow
def test_hints_of_a_wheel_work(installed: Installed) -> None:
    """Obey the hint about missing packages: packing then works."""
    for arguments in (["serve"], ["pack", "nypc", NAMES[0], "--out", "dist", "--no-proof"]):
        done = installed.quartet(*arguments)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr
        hint = re.search(rf"{re.escape(str(installed.python))} -m pip install .*$", done.stderr)
        assert hint is not None, done.stderr
        told = installed.run("sh", "-c", hint[0])
        assert told.returncode == 0, told.stderr
    done = installed.quartet("pack", "nypc", NAMES[0], "--out", "dist", "--no-proof")
    assert done.returncode == 0, done.stderr
    played = installed.quartet(
        "match", NAMES[0], f"{installed.python} dist/main.py", "random", **FAST
    )
    assert played.returncode == 0, played.stderr
    ways = installed.run(str(installed.python), "-c", "import starlette, uvicorn, quartet.web.app")
    assert ways.returncode == 0, ways.stderr
