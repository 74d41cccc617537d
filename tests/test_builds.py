"""Players of other commits, `git:REF`, are built once, outside the checkout, and play with that
commit's code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.errors import QuartetError
from quartet.arena import builds
from quartet.arena.fingerprints import fingerprint
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.seats import seating, versions
from quartet.judge.seats.players import PlayerSpec
from tests.commands import ONE_JOB, refusal
from tests.games import ROOT
from tests.tools import fast_compiler

SETUP = """
import pathlib, sys
pathlib.Path("built").write_text(" ".join(sys.argv[1:]))
with pathlib.Path(sys.path[0], "../count").open("a") as count:
    count.write("x")
"""
"""A substitute for setup.py: it compiles nothing, and counts its calls in the cache."""
NO_COMPILER = "raise SystemExit('quartet: no C compiler was found; install one')"


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(versions.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "versions"


@pytest.fixture
def checkout(tmp_path: Path, cache: Path) -> Path:
    """Return a repository with compiled Ataxx, which works at the tag `old` and is broken
    afterwards."""
    folder = tmp_path / "checkout"
    for package in ("core", "ataxx"):
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    (folder / "setup.py").write_text(SETUP)
    (folder / "tests").mkdir()
    (folder / "tests" / "big").write_text("not for players")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "tag", "old")
    (folder / "ataxx" / "players.py").write_text("raise RuntimeError('broken in this commit')\n")
    git(folder, "commit", "-q", "-a", "-m", "two")
    return folder


def named(text: str, checkout: Path, game: str = "ataxx") -> str:
    """Return the name of a player of a commit once it is built."""
    return builds.built(PlayerSpec.parse(game, text), checkout).text


def test_names() -> None:
    assert versions.parse("bot") is None
    assert versions.parse("git:main") == versions.Version("main")
    assert versions.parse("git:v1~2:bot:a=1,b=2") == versions.Version("v1~2", "bot:a=1,b=2")
    commit = "0123456789" * 4
    assert versions.short(f"git:{commit}:bot:a=1") == "git:0123456:bot:a=1"
    assert versions.short("git:main:bot") == "git:main:bot"


def test_a_version_is_built_once_outside_the_checkout(checkout: Path, cache: Path) -> None:
    whole = named("git:old:greedy", checkout)
    commit = git(checkout, "rev-parse", "old")
    assert whole == f"git:{commit}:greedy"
    tree = versions.tree(commit)
    assert (tree / "built").read_text() == "--quiet build_ext --inplace"
    assert not (tree / "tests").exists()
    assert git(checkout, "status", "--porcelain") == ""
    assert named(f"git:{commit[:10]}:random", checkout) == f"git:{commit}:random"
    assert (cache / "count").read_text() == "x"
    same = fingerprint(PlayerSpec.parse("ataxx", whole))
    assert same == fingerprint(PlayerSpec.parse("ataxx", whole))
    assert same != fingerprint(PlayerSpec.parse("ataxx", f"git:{'0' * 40}:greedy"))


def test_incomplete_and_changed_builds_are_built_again(checkout: Path, cache: Path) -> None:
    commit = builds.commit_of("old", checkout)
    draft = versions.tree(commit).with_name(versions.tree(commit).name + ".new")
    draft.mkdir(parents=True)  # as a killed command leaves it
    (draft / "ataxx").mkdir()
    named("git:old:greedy", checkout)
    assert not draft.exists()
    tree = versions.tree(commit)
    (tree / "ataxx" / "players.py").write_text("raise RuntimeError('changed')\n")
    named("git:old:greedy", checkout)
    assert "changed" not in (tree / "ataxx" / "players.py").read_text()
    (tree / "ataxx" / "more.py").touch()
    named("git:old:greedy", checkout)
    assert not (tree / "ataxx" / "more.py").exists()
    assert (cache / "count").read_text() == "xxx"


def test_unused_builds_are_removed(checkout: Path, cache: Path) -> None:
    tree = builds.ensure(builds.commit_of("old", checkout), checkout)
    before = time.time()
    builds.prune(cache, before + (builds.MAX_DAYS - 1) * 24 * 3600)
    assert tree.is_dir()
    long_ago = before - (builds.MAX_DAYS + 1) * 24 * 3600
    os.utime(tree / builds.STAMP, (long_ago, long_ago))
    builds.ensure(builds.commit_of("main", checkout), checkout)
    assert not tree.exists()


def test_two_commands_build_one_after_the_other(checkout: Path, cache: Path) -> None:
    (checkout / "setup.py").write_text("import time\ntime.sleep(0.5)\n" + SETUP)
    git(checkout, "commit", "-q", "-a", "-m", "slow")
    commit = builds.commit_of("HEAD", checkout)
    code = "import sys; from pathlib import Path; from quartet.arena import builds; "
    code += "print(builds.ensure(sys.argv[1], Path(sys.argv[2])))"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, commit, str(checkout)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert {out.strip() for out, _ in said} == {str(versions.tree(commit))}
    assert (cache / "count").read_text() == "x"


def test_bad_names_give_one_line(checkout: Path) -> None:
    for program, why in {
        "git:nowhere": "no commit 'nowhere'",
        "git:--output=x": "no commit",
        "git:": "no commit ''",
        "git:old:unknown": "no built-in player 'unknown'",
        "git:main": "broken in this commit",
    }.items():
        with pytest.raises(QuartetError, match=why) as failure:
            named(program, checkout)
        assert "\n" not in str(failure.value)
    with pytest.raises(QuartetError, match="does not play ugolki yet"):
        named("git:old", checkout, "ugolki")
    with pytest.raises(QuartetError, match="needs a checkout"):
        named("git:old", checkout.parent)


def test_a_missing_compiler_is_reported(checkout: Path, cache: Path) -> None:
    (checkout / "setup.py").write_text(NO_COMPILER)
    git(checkout, "commit", "-q", "-a", "-m", "three")
    with pytest.raises(QuartetError, match="cannot be built: no C compiler was found"):
        named("git:HEAD", checkout)
    (checkout / "setup.py").write_text("import Cython_of_another_world\n")
    git(checkout, "commit", "-q", "-a", "-m", "four")
    with pytest.raises(QuartetError, match="No module named 'Cython_of") as failure:
        named("git:HEAD", checkout)
    assert "\n" not in str(failure.value)


def test_a_match_is_played_by_the_commits_own_code(
    checkout: Path, cache: Path, tmp_path: Path
) -> None:
    """Play also from a checkout with other code, and with the user's import path."""
    whole = named("git:old:greedy", checkout)
    out = tmp_path / "run"
    players = ("--player", f"then={whole}", "--player", "now=random")
    arguments = ("tournament", "ataxx", *players, "--games", "2", *ONE_JOB)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    (tmp_path / "ataxx").mkdir()  # what the working directory has must not be found, nor ours
    (tmp_path / "ataxx" / "__main__.py").write_text("raise SystemExit('the wrong one')")
    # commits are looked up in this project's repository: name a player that is built already
    (tmp_path / "play.py").write_text(
        "import sys\nfrom pathlib import Path\nfrom quartet.arena import builds\n"
        "from quartet.cli.main import main\n"
        "builds.built = lambda spec: spec\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "play.py", *arguments, "--nodes", "100", "--out", str(out)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plan = json.loads((out / "run.json").read_text())
    assert plan["players"][0]["command"] == whole
    assert plan["players"][0]["nodes"] == 100
    results = [json.loads(line) for line in (out / "games.jsonl").read_text().splitlines()]
    assert all(not result["fouls"] for result in results)
    # Only that tree has compiled files, so its code has played.
    ran = list((versions.tree(versions.parse(whole).ref) / "ataxx" / "__pycache__").iterdir())  # type: ignore[union-attr]
    assert any(path.name.startswith("protocol") for path in ran)


def test_an_agent_without_the_needed_ability_is_rejected(checkout: Path, cache: Path) -> None:
    game = games.load("ataxx")
    now = PlayerSpec.parse("ataxx", f"git:{builds.commit_of('old', checkout)}")
    builds.built(now, checkout)
    git(checkout, "checkout", "-q", "old")
    cli = checkout / "core" / "agent" / "cli.py"
    text = cli.read_text()
    assert "QUARTET_NODES" in text
    assert "QUARTET_POSITION" in text
    cli.write_text(text.replace("QUARTET_NODES", "NODES").replace("QUARTET_POSITION", "START"))
    git(checkout, "commit", "-q", "-a", "-m", "before")
    before = PlayerSpec.parse("ataxx", f"git:{builds.commit_of('HEAD', checkout)}")
    builds.built(before, checkout)
    bot = PlayerSpec.parse("ataxx", "bot")
    now.require_nodes()
    with pytest.raises(QuartetError, match="does not know QUARTET_NODES"):
        before.require_nodes()
    start = Start(1, {"opening": 4})
    assert seating.start_environment(game, start, [now, bot])
    with pytest.raises(QuartetError, match="cannot know where the game starts"):
        seating.start_environment(game, start, [before, bot])
    assert seating.start_environment(game, Start(1, {}), [before, bot]) == {}


def test_the_test_set_is_rejected(cache: Path) -> None:
    said = refusal("sprt", "ugolki", "bot", "git:main:pool:2")
    assert "pool:2 is in the test set" in said


def test_commits_are_rejected_in_process_by_tournament(cache: Path) -> None:
    said = refusal("sprt", "ataxx", "bot", "git:main", "--in-process")
    assert said == "--in-process is for this checkout's players, not for git:main"


@pytest.mark.slow
def test_this_commit_plays_as_the_checkout_does(cache: Path, tmp_path: Path) -> None:
    """Compile it once; it plays the same moves in every game."""
    if not (ROOT / ".git").exists() or git(ROOT, "status", "--porcelain", "--", "core", "ataxx"):
        pytest.skip("what lies here is no commit")

    compiler = fast_compiler(tmp_path)

    def games(*players: str) -> list[tuple[list[int], int]]:
        out = tmp_path / players[0].partition(":")[0]
        named = [word for i, player in enumerate(players) for word in ("--player", f"{i}={player}")]
        arguments = ["tournament", "ataxx", *named, "--games", "2", "--nodes", "500"]
        subprocess.run(
            [sys.executable, "-m", "quartet", *arguments, "--oversubscribe", "--out", str(out)],
            cwd=ROOT,
            env={**os.environ, "CC": compiler},
            check=True,
            capture_output=True,
        )
        results = map(json.loads, (out / "games.jsonl").read_text().splitlines())
        return sorted((result["scores"], result["plies"]) for result in results)

    assert games("git:HEAD", "git:HEAD:bot:hash=4") == games("bot", "bot:hash=4")


def test_the_process_runs_the_player_of_a_commit() -> None:
    words = versions.command("ataxx", versions.Version("0" * 40, "bot:patience=0.5"), "--seed", "1")
    assert words[0][1:] == ["-P", "-m", "ataxx", "--player", "bot:patience=0.5", "--seed", "1"]
    assert "--player" not in versions.command("ataxx", versions.Version("0" * 40))[0]
