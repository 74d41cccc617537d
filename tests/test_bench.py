"""The fingerprint and the ratios of speeds are those that a release states."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from quartet import registry
from quartet.bench import fingerprint, speed
from quartet.bench.__main__ import command
from tests.bench import latency

GAMES = [game for game in registry.GAMES if registry.has(game, "engine")]


@pytest.mark.parametrize("game", GAMES)
def test_the_fingerprint_is_the_recorded_one(game: str) -> None:
    assert fingerprint.fingerprint(game).items() <= fingerprint.recorded().items()


def test_check_names_what_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fingerprint, "RECORDED", tmp_path / "recorded.txt")
    monkeypatch.setattr(fingerprint, "fingerprint", lambda game: {game: "12"})
    game = GAMES[0]
    done = CliRunner().invoke(command, ["--check", game])
    assert done.exit_code == 1
    assert f"{game} is 12, recorded nothing" in done.stderr
    assert CliRunner().invoke(command, ["--record", game]).exit_code == 0
    assert CliRunner().invoke(command, ["--check", game]).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_fast_rules_are_fast(game: str) -> None:
    """Compare two speeds in one run. Even in a debug build, the fast rules are far faster than
    plain Python."""
    figures = speed.measure(game, seconds=0.2)
    assert figures.ratio >= 100
    assert figures.made is None or figures.slow * 5 < figures.made < figures.fast


@pytest.mark.parametrize("game", GAMES)
def test_the_agent_answers_while_a_core_is_busy(game: str) -> None:
    """Run the measurement of docs/results/ugolki.md for a short time: no move is illegal or missing
    while a core is busy."""
    if registry.load(game, "reference").INFO.exchange is None:
        return
    done = CliRunner().invoke(latency.command, [game, "--calls", "5", "--json"])
    assert done.exit_code == 0
    assert '"illegal":0,"missing":0,"non-zero exits":0' in done.stdout


def call(ms: float, control: float = 0.0, fault: str = "") -> latency.Call:
    return latency.Call(0, ms / 1000, control / 1000, fault, 0, 1.0)


def test_turns_on_a_stalled_machine_are_counted_separately() -> None:
    calls = [call(400 + i) for i in range(98)] + [call(501, 19), call(700, 350, "missing")]
    found = latency.figures(calls, 0.5)
    assert (found["calls"], found["late"], found["late, and the control process too"]) == (
        100,
        1,
        1,
    )
    assert (found["missing"], found["illegal"]) == (1, 0)
    assert found["quantiles"] == {
        "0 %": 400,
        "1 %": 401,
        "10 %": 410,
        "50 %": 450,
        "90 %": 489,
        "99 %": 501,
        "99.9 %": 700,
        "100 %": 700,
    }
    assert found["distribution"] == {
        **{str(row): 10 for row in range(400, 490, 10)},
        "490": 8,
        "500": 1,
        "700": 1,
    }
    assert found["late calls"] == [
        {"call": 98, "ms": 501, "control late by": 19},
        {"call": 99, "ms": 700, "control late by": 350},
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_the_control_process_reports_its_delay() -> None:
    """Stop the process for a while, as on a stalled machine."""
    with latency.Control() as control:
        control.since(0)
        began = time.monotonic()
        assert control.process.pid is not None
        os.kill(control.process.pid, signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(control.process.pid, signal.SIGCONT)
        assert control.since(began) >= 0.15


def test_calls_are_stored(tmp_path: Path) -> None:
    for calls in ("2", "3"):
        arguments = ["ugolki", "--calls", calls, "--out", str(tmp_path), "--busy", "0", "--json"]
        done = CliRunner().invoke(latency.command, arguments)
        assert done.exit_code == 0
    kept = [json.loads(line) for line in (tmp_path / "done.jsonl").read_text().splitlines()]
    assert [line["value"]["game"] for line in kept] == [0, 0, 1]
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["calls"] == 3
    assert {"commit", "command", "seed", "busy"} <= result.keys()
    refused = CliRunner().invoke(latency.command, [*arguments[:5], "--busy", "1"])
    assert "not the same: busy" in str(refused.exception)
