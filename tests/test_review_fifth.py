"""A game without a calibration, such as the fifth game, is reviewed with scores and without
labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import checkout
from tests.games import ROOT
from tests.test_fifth_game import GAME

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
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", GAME)


def test_a_review_has_scores_and_no_labels(project: Path) -> None:
    log = project / "game.txt"
    played = checkout.python(project, "-c", PLAY)
    assert played.returncode == 0, played.stderr
    log.write_text(played.stdout, encoding="utf-8")
    page = project / "page.html"
    arguments = ("-m", "quartet", "review", str(log), "--html", str(page))
    done = checkout.python(project, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["game"] == GAME
    assert told["start"] is None
    assert all(turn.get("label", "") in {"", "forced"} for turn in told["turns"])
    assert all(turn.get("loss") is None for turn in told["turns"])
    assert any("score" in turn for turn in told["turns"])
    assert page.stat().st_size < 1_000_000
    assert str(ROOT) != str(project)
