"""The fingerprint, and the figures that a release states, as ratios in one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from core.errors import QuartetError
from quartet import registry
from quartet.bench import fingerprint, response, speed
from quartet.bench.__main__ import command

GAMES = [game for game in registry.GAMES if registry.has(game, "engine")]


@pytest.mark.parametrize("game", GAMES)
def test_the_fingerprint_is_the_recorded_one(game: str) -> None:
    assert fingerprint.fingerprint(game).items() <= fingerprint.recorded().items()


def test_check_tells_what_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fingerprint, "RECORDED", tmp_path / "recorded.txt")
    monkeypatch.setattr(fingerprint, "fingerprint", lambda game: {game: "12"})
    game = GAMES[0]
    with pytest.raises(QuartetError, match=f"{game} is 12, recorded nothing"):
        command.main(["--check", game], standalone_mode=False)
    assert CliRunner().invoke(command, ["--record", game]).exit_code == 0
    assert CliRunner().invoke(command, ["--check", game]).exit_code == 0


@pytest.mark.parametrize("game", GAMES)
def test_fast_rules_are_fast(game: str) -> None:
    """A ratio in one run; the debug build's fast rules are still far faster than plain Python."""
    figures = speed.measure(game, seconds=0.5)
    assert figures.ratio >= 100
    assert figures.made is None or figures.slow * 5 < figures.made < figures.fast


@pytest.mark.parametrize("game", GAMES)
def test_the_agent_answers_whatever_the_machine_does(game: str) -> None:
    """A short run of what docs/results/ugolki.md shows at length: no illegal move, none missing, while a
    core is kept busy."""
    if registry.load(game, "reference").INFO.exchange is None:
        return
    done = CliRunner().invoke(response.command, [game, "--calls", "5", "--json"])
    assert done.exit_code == 0
    assert '"illegal":0,"missing":0,"non-zero exits":0' in done.stdout
