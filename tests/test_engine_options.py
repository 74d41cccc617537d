"""Players accept options wherever a player is named: `core.engine` parses them, and all callers
pass them on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quartet
from core.engine import options_of
from core.errors import TextError, UnknownNameError
from core.limits import Limits
from quartet import registry
from quartet.arena.fingerprints import fingerprint
from quartet.judge.seats.players import PlayerSpec
from quartet.training import selfplay
from tests.games import ROOT, GameUnderTest, is_whole, load


def has_weights(game: str) -> bool:
    """Return True if the engine of a game has the option `weights`."""
    return is_whole(game) and "weights" in {option.name for option in options_of(load(game).engine)}


WEIGHED_GAMES = [game for game in registry.GAMES if has_weights(game)]


def run(*arguments: str, cwd: Path = ROOT, said: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "QUARTET_NODES": "50"}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=env,
        input=said,
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(params=WEIGHED_GAMES)
def weighed_game(request: pytest.FixtureRequest) -> GameUnderTest:
    return load(request.param)


def weights_of(game: GameUnderTest, folder: Path) -> Path:
    """Return a copy of the package's weights."""
    (weights,) = game.folder.glob("nn/weights.*")
    return Path(shutil.copy(weights, folder / "mine.bin"))


def test_the_games_of_the_project_have_weights() -> None:
    assert {"ataxx", "applegame", "connexion", "ugolki"} <= {*WEIGHED_GAMES}


def test_engines_have_separate_weights(weighed_game: GameUnderTest, tmp_path: Path) -> None:
    """Check that damaged weights of one engine do not affect another."""
    file = weights_of(weighed_game, tmp_path)
    position = next(iter([weighed_game.fast.start(3)]))
    limits = Limits(nodes=300)
    usual = weighed_game.player("bot", 1).choose(position, limits)
    for player in (
        weighed_game.player(f"bot:weights={file}", 1),
        quartet.game(weighed_game.name).engine(weights=str(file)),
        quartet.game(weighed_game.name).engine(weights=file.read_bytes()),
    ):
        found = player.choose(position, limits)
        assert (found.move, found.score, found.nodes) == (usual.move, usual.score, usual.nodes)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(TextError, match=r"mine\.bin: "):
        weighed_game.player(f"bot:weights={file}", 1)
    assert weighed_game.player("bot", 1).choose(position, limits).score == usual.score


def test_other_weights_of_the_apple_game_change_its_moves(tmp_path: Path) -> None:
    text = (ROOT / "applegame/nn/weights.h").read_text(encoding="ascii")
    (tmp_path / "w.h").write_text(text.replace("{147,", "{999,"), encoding="ascii")
    game = quartet.game("applegame")
    position, limits = game.start(1), Limits(nodes=2000)
    usual, other = (
        game.player(name).choose(position, limits).score
        for name in ("bot", f"bot:weights={tmp_path / 'w.h'}")
    )
    assert usual != other


def test_the_python_api_checks_options(whole_game: GameUnderTest) -> None:
    game = quartet.game(whole_game.name)
    names = [option.name for option in game.engine_options]
    with pytest.raises(UnknownNameError, match="there is no option 'nonsense'; there are: "):
        game.engine(nonsense=1)
    for option in game.engine_options:
        if option.kind in (int, float):
            assert game.engine(**{option.name: option.default}) is not None
            with pytest.raises(TextError, match=f"^{option.name} takes "):
                game.engine(**{option.name: option.maximum + 1})
    assert len(set(names)) == len(names)


def test_files_have_absolute_paths_for_programs(
    weighed_game: GameUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = weights_of(weighed_game, tmp_path)
    monkeypatch.chdir(tmp_path)
    player, plain, other, unknown = (
        PlayerSpec.parse(weighed_game.name, text)
        for text in ("bot:weights=mine.bin", "bot", "bot:weights=other.bin", "bot:wights=mine.bin")
    )
    assert player.full == f"bot:weights={file}"
    assert player.full in player.launch()[0]
    assert plain.launch()[0][-1] == "bot"
    player.require()
    with pytest.raises(TextError, match="other"):
        other.require()
    with pytest.raises(UnknownNameError, match="has no option 'wights'"):
        unknown.require()


def test_the_file_of_a_program_has_an_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_text("")
    monkeypatch.chdir(tmp_path)
    assert PlayerSpec.parse("ataxx", "mine").full == str(tmp_path / "mine")
    assert PlayerSpec.parse("ataxx", "other").full == "other"


def test_the_fingerprint_of_a_player_depends_on_its_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.bin"
    found = []
    for content in (b"one", b"two", b"one"):
        file.write_bytes(content)
        found.append(fingerprint(PlayerSpec.parse("ataxx", f"bot:weights={file}")))
    assert found[0] == found[2] != found[1]
    assert fingerprint(PlayerSpec.parse("ataxx", "bot")) not in found


def test_agents_accept_known_options_only(whole_game: GameUnderTest, tmp_path: Path) -> None:
    package = registry.GAMES[whole_game.name]
    if whole_game.info.exchange is not None:
        text = whole_game.reference.start().text()
        (tmp_path / whole_game.info.exchange.input).write_text(text)
    for option in options_of(whole_game.player("bot", 1)):
        value = option.text(option.default)
        done = run(package, "--player", f"bot:{option.name}={value}", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        done = run(package, "--player", f"bot:{option.name}=-x", cwd=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
    done = run(package, "--player", "bot:nonsense=1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"bot has no option 'nonsense'; there are: ")


def test_a_game_lists_its_players_and_options(whole_game: GameUnderTest) -> None:
    done = run("quartet", "games", whole_game.name, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [player["name"] for player in data["players"]] == [*whole_game.player_names]
    bot = data["players"][0]
    assert {"stop", "new_game", "forget"} <= {*bot["capabilities"]}
    options = options_of(whole_game.player("bot", 1))
    assert [option["name"] for option in bot["options"]] == [option.name for option in options]
    assert all(option["help"] for option in bot["options"])
    said = run("quartet", "games", whole_game.name).stdout.decode()
    assert all(name in said for name in (*whole_game.player_names, "stop", "new_game"))
    assert all(option.name in said for option in options)


def test_a_match_names_the_error(whole_game: GameUnderTest) -> None:
    others = ["bot"] * (whole_game.info.players - 1)
    done = run("quartet", "match", whole_game.name, "bot:nonsense=1", *others)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("quartet: bot has no option 'nonsense'; there are: ")


def test_self_play_accepts_options() -> None:
    for game, options in (("ataxx", "futility=0,deficit=5"), ("ugolki", "exploration=3")):
        units = [
            selfplay.SelfplayUnit(number=0, game=game, seed=1, games=1, nodes=600, player=player)
            for player in ("bot", "bot:", f"bot:{options}")
        ]
        usual, other = selfplay.play(units[0]), selfplay.play(units[2])
        assert usual.samples != other.samples
        with pytest.raises(UnknownNameError):
            selfplay.play(units[1])


@pytest.mark.parametrize("game", ["ataxx", "applegame"])
def test_the_transposition_table_has_a_documented_size(game: str) -> None:
    options = {option.name: option for option in quartet.game(game).engine_options}
    assert (options["hash"].default, options["hash"].minimum) == (64, 1)
