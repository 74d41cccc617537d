"""A game without a calibration is reviewed all the same: the fifth game, with scores and no
labels."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests import checkout
from tests.games import ROOT
from tests.test_fifth_game import GAME, LINE, PARTS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
PLAY = f"""
import sys, quartet
from quartet.judge.logs import jsonl
match = quartet.game("{GAME}").play(["random", "random"], seed=5)
for record in [jsonl.header(match), *match.turns, match.result]:
    sys.stdout.buffer.write(jsonl.line(record))
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the new game in it, compiled."""
    house = checkout.copy_built(tmp_path_factory.mktemp("fifth") / "checkout")
    shutil.copytree(PARTS / GAME, house / GAME, ignore=checkout.LEFT_BEHIND)
    registry = house / "quartet/registry.py"
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace("GAMES = {\n", "GAMES = {\n" + LINE), encoding="utf-8")
    done = checkout.build(house)
    assert done.returncode == 0, done.stderr
    return house


def test_scores_and_no_labels(house: Path) -> None:
    log = house / "game.txt"
    played = checkout.python(house, "-c", PLAY)
    assert played.returncode == 0, played.stderr
    log.write_text(played.stdout, encoding="utf-8")
    page = house / "page.html"
    arguments = ("-m", "quartet", "review", str(log), "--html", str(page))
    done = checkout.python(house, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["game"] == GAME
    assert told["start"] is None
    assert all(turn.get("label", "") in {"", "forced"} for turn in told["turns"])
    assert all(turn.get("loss") is None for turn in told["turns"])
    assert any("score" in turn for turn in told["turns"])
    assert page.stat().st_size < 1_000_000
    assert str(ROOT) != str(house)
