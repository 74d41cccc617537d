"""Tuning finds the optimum of a noisy made-up game, plays trials as games, and works as a
command."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from core.errors import QuartetError
from quartet.arena import tuning
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.optimisers import Cma, Optimiser, Parameter, Parzen, Spsa, Trial, Values
from quartet.arena.sprt import expected_score
from quartet.cli import tune
from quartet.cli.run_options import RunOptions
from quartet.registry import pool
from tests.commands import ONE_JOB, quartet, refusal

# Tuning an engine has the same noise: single games, a third of them drawn.
PARAMETERS = [
    Parameter("a", whole=False, start=0.2, least=0, most=1, c_end=0.05, r_end=0.01),
    Parameter("b", whole=True, start=70, least=0, most=100, c_end=5, r_end=0.01),
]
OPTIMUM = (0.7, 30.0)
GAMES = 20_000
DRAWS = 0.33

MAKERS: dict[str, tuple[Callable[[int], Optimiser], int]] = {
    "spsa": (lambda seed: Spsa(PARAMETERS, GAMES // 2, seed=seed), 1),
    "cma": (lambda seed: Cma(PARAMETERS, seed=seed), 32),
    "parzen": (lambda seed: Parzen(PARAMETERS, seed=seed), 32),
}
"""Method -> its optimiser for a seed, and the pairs of a trial."""


def elo(values: Values) -> float:
    """Return the strength of settings in the made-up game: a parameter that is a whole range away
    from its optimum costs 400 Elo."""
    parts = [
        p.part(v) - p.part(best) for p, v, best in zip(PARAMETERS, values, OPTIMUM, strict=True)
    ]
    return -400 * sum(part**2 for part in parts)


def outcome(random: Random, trial: Trial, pairs: int) -> float:
    """Return wins minus losses of the first settings per pair of games."""
    score = expected_score(elo(trial.first) - elo(trial.second))
    draws = DRAWS * 2 * min(score, 1 - score)
    total = 0
    for _ in range(2 * pairs):
        drawn = random.random()
        total += 1 if drawn < score - draws / 2 else 0 if drawn < score + draws / 2 else -1
    return total / pairs


@pytest.mark.parametrize("method", MAKERS)
def test_the_optimum_of_a_noisy_game_is_found_in_20000_games(method: str) -> None:
    make, pairs = MAKERS[method]
    losses = []
    for seed in (1, 2, 3):
        optimiser, random, played = make(seed), Random(seed), 0
        assert elo(tuple(p.start for p in PARAMETERS)) == pytest.approx(-164)
        while trials := optimiser.ask():
            played += 2 * pairs * len(trials)
            if played > GAMES:
                break
            optimiser.tell([outcome(random, trial, pairs) for trial in trials])
        losses.append(-elo(optimiser.best()))
    assert max(losses) < 20, losses
    assert fmean(losses) < 8, losses


@pytest.mark.parametrize("method", MAKERS)
def test_the_same_outcomes_lead_to_the_same_trials(method: str) -> None:
    make, pairs = MAKERS[method]
    one, two, random = make(5), make(5), Random(5)
    for _ in range(4):
        trials = one.ask()
        assert trials == two.ask()
        outcomes = [outcome(random, trial, pairs) for trial in trials]
        one.tell(outcomes)
        two.tell(outcomes)
        assert one.best() == two.best()
    assert make(6).ask() != make(5).ask()


def test_the_gains_of_spsa_are_fishtests() -> None:
    """Compare with fishtest's form of the formulas: c = c_end n^gamma, a = a_end (A + n)^alpha."""
    n, parameter = 1000, PARAMETERS[1]
    spsa = Spsa(PARAMETERS, n)
    assert spsa.gains(parameter, n) == pytest.approx((5, 0.01))
    c = parameter.c_end * n**0.101
    a = parameter.r_end * parameter.c_end**2 * (0.1 * n + n) ** 0.602
    for k in (1, 17, 999):
        c_k = c / k**0.101
        assert spsa.gains(parameter, k) == pytest.approx((c_k, a / (0.1 * n + k) ** 0.602 / c_k**2))


def test_spsa_moves_towards_the_winning_side() -> None:
    parameter = Parameter("a", whole=False, start=0.5, least=0, most=1, c_end=0.05, r_end=0.01)
    spsa = Spsa([parameter], 100, batch=1)
    c, rate = spsa.gains(parameter, 1)
    (trial,) = spsa.ask()
    assert {trial.first[0], trial.second[0]} == {float(f"{0.5 + side * c:.6g}") for side in (1, -1)}
    spsa.tell([2.0])
    up = 1 if trial.first > trial.second else -1
    assert spsa.best() == pytest.approx((0.5 + up * 2 * rate * c,))
    assert len(Spsa([parameter], 3, pairs=2, batch=8).ask()) == 2  # no more than are left


def test_integers_are_rounded_at_random_and_never_leave_their_range() -> None:
    parameter = PARAMETERS[1]
    random = Random(1)
    drawn = [parameter.rounded(30.3, random.random()) for _ in range(4000)]
    assert set(drawn) == {30, 31}
    assert fmean(drawn) == pytest.approx(30.3, abs=0.03)
    assert parameter.rounded(130) == 100
    assert parameter.rounded(-0.1, 0.0) == 0
    assert parameter.rounded(29.5) == 30


def config(seats: int, others: int) -> RunConfig:
    players = [PlayerConfig("first", "bot"), PlayerConfig("second", "bot")]
    players += [PlayerConfig(f"o{i}", f"o{i}") for i in range(others)]
    return RunConfig(game="ataxx" if seats == 2 else "ugolki", players=tuple(players), seed=5)


def written(values: Values) -> str:
    return f"bot:a={values[0]:g}"


def units(match: tuning.TrialGames, number: int) -> list[GameUnit]:
    return [unit for unit in match.units(number, Trial((1.0,), (2.0,))) if unit is not None]


def test_settings_play_both_sides_of_an_opening() -> None:
    played = units(tuning.TrialGames(config(2, 0), written, pairs=2), 3)
    assert [unit.number for unit in played] == [12, 13, 14, 15]
    assert [unit.seed for unit in played] == [11, 11, 12, 12]
    assert [unit.seats for unit in played] == [(0, 1), (1, 0)] * 2
    assert [[p.command for p in unit.players] for unit in played[:2]] == [
        ["bot:a=1", "bot:a=2"],
        ["bot:a=2", "bot:a=1"],
    ]


def test_at_a_table_of_four_both_meet_the_same_opponents_on_every_seat() -> None:
    match = tuning.TrialGames(config(4, 4), written, pairs=1, tables=[(2, 3, 4), (5, 2, 3)])
    played = units(match, 1)
    assert [unit.number for unit in played] == list(range(8, 16))
    assert len({unit.seed for unit in played}) == 1
    first, second = [unit.seats for unit in played[:4]], [unit.seats for unit in played[4:]]
    assert sorted(seats.index(0) for seats in first) == [0, 1, 2, 3]
    as_first = [tuple(0 if player == 1 else player for player in seats) for seats in second]
    assert as_first == first
    assert {player for seats in first for player in seats} == {0, 5, 2, 3}
    assert all("bot:a=1" not in [p.command for p in unit.players] for unit in played[4:])


TUNE = (
    "tune", "ataxx", "--parameter", "reduction=1..4", "--parameter", "window=10..60/10", "--games",
    "24", "--batch", "3", "--in-process", "--nodes", "60", "--option", "opening=4",
    "--oversubscribe",
)  # fmt: skip


def trajectory(folder: Path) -> str:
    return (folder / tuning.TRAJECTORY).read_text()


@pytest.mark.slow
def test_jobs_and_kills_change_nothing(tmp_path: Path) -> None:
    one, two, three = tmp_path / "1", tmp_path / "2", tmp_path / "3"
    done = json.loads(quartet(*TUNE, "--jobs", "1", "--out", str(one), "--json").stdout)
    assert done["games"] == 24
    assert done["player"].startswith("bot:reduction=")
    assert f"quartet sprt ataxx {done['player']} bot --in-process --nodes 60" in done["test"]
    quartet(*TUNE, "--jobs", "2", "--out", str(two))
    assert trajectory(two) == trajectory(one)
    assert trajectory(one).count("\n") == 4
    # As a kill leaves it: half a line of either file, and games that are not on record.
    shutil.copytree(one, three)
    games = (three / "games.jsonl").read_text().splitlines(keepends=True)
    (three / "games.jsonl").write_text("".join(games[:15]) + games[15][:20])
    lines = trajectory(three).splitlines(keepends=True)
    (three / tuning.TRAJECTORY).write_text(lines[0] + lines[1] + lines[2][:9])
    quartet(*TUNE, "--jobs", "1", "--out", str(three))
    assert trajectory(three) == trajectory(one)
    (three / tuning.TRAJECTORY).write_text(lines[0].replace('"games":6', '"games":7'))
    said = refusal(*TUNE, "--jobs", "1", "--out", str(three))
    assert "the same games now lead to other values" in said
    listed = json.loads(quartet("runs", str(tmp_path), "--json").stdout)
    line = next(line for line in listed if line["folder"] == str(one))
    assert (line["kind"], line["games"], line["of"], line["state"]) == ("tune", 24, 24, "finished")
    assert "reduction" in line["outcome"]
    shown = json.loads(quartet("runs", str(one), "--json").stdout)
    assert [step["games"] for step in shown["trajectory"]] == [6, 12, 18, 24]
    assert shown["start"] == {"reduction": 2.0, "window": 30.0}
    assert "24 of 24 games on record" in quartet("runs", str(one)).stdout
    quartet("runs", str(one), "--plot", str(tmp_path / "way.svg"))
    assert "window" in (tmp_path / "way.svg").read_text()


def test_ugolki_is_tuned_against_the_training_set(tmp_path: Path) -> None:
    options = ("--parameter", "exploration=0.2..1.5", "--games", "8", "--batch", "1")
    more = ("--nodes", "30", "--in-process", "--out", str(tmp_path), *ONE_JOB)
    held = pool("ugolki")
    assert held is not None
    test = held.HALVES[held.TEST_HALF][0]
    said = refusal("tune", "ugolki", *options, "--against", test, *more)
    assert "in the test set" in said
    said = refusal("tune", "ugolki", *options, "--against", "greedy", *more)
    assert "--against wants 3 opponents at least" in said
    opponents = [word for name in ("greedy", "greedy", "random") for word in ("--against", name)]
    quartet("tune", "ugolki", *options, *opponents, *more, "--option", "moves=4")
    results = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert len(results) == 8
    assert all({0, 1} & set(result["seats"]) != {0, 1} for result in results)
    assert tune.opponents_of("ugolki", []) == [
        name for half, names in held.HALVES.items() if half != held.TEST_HALF for name in names
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--parameter", "depth"), "has no number 'depth' to tune; there are: hash, patience"),
        (("--parameter", "weights"), "has no number 'weights'"),
        (("--parameter", "window=20"), "wants NAME=LEAST..MOST"),
        (("--parameter", "window=20..x"), "wants NAME=LEAST..MOST"),
        (("--parameter", "window=40..20"), "the least first"),
        (("--parameter", "window=0..90"), "takes 1 .. 30000"),
        (("--parameter", "window=40..90"), "begins at 30, out of the range"),
        (("--parameter", "window=1..90/0"), "must be positive"),
        (("--parameter", "window=1..90/nan"), "must be positive"),
        (("--parameter", "window=1..90/1e300"), "at most the range"),
        (("--parameter", "window", "--alpha", "-900"), "'--alpha'"),
        (("--parameter", "window=1..90/5", "--method", "cma"), "/C_END, is for --method spsa"),
        (
            ("--parameter", "window", "--method", "parzen", "--r-end", "0.002"),
            "--r-end is for --method spsa",
        ),
        (("--parameter", "window", "--parameter", "window"), "a parameter is named twice"),
        (("--parameter", "window", "--player", "greedy"), "greedy has no number 'window'"),
        (("--parameter", "window", "--player", "git:main"), "not a built-in player of ataxx"),
        (("--parameter", "window", "--player", "./mine"), "not a built-in player of ataxx"),
        (
            ("--parameter", "window", "--against", "greedy"),
            "--against is for tables of more than two",
        ),
        (("--parameter", "window", "--method", "cma"), "CMA-ES tunes two parameters at least"),
        (
            ("--parameter", "window", "--parameter", "reduction", "--method", "cma", "--batch=1"),
            "CMA-ES takes two trials per batch at least",
        ),
    ],
)
def test_bad_parameters_give_one_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    assert why in refusal("tune", "ataxx", *arguments, "--games", "8", "--out", str(tmp_path))


def test_the_printed_test_plays_as_the_tuning_did() -> None:
    given = {"seed": 5, "in_process": False, "cores": 2, "megabytes": 90.0, "disqualify": False}
    settings = RunOptions.read(
        {
            **given,
            "replay_overloaded": 0,
            "clock": ["800", "first=900"],
            "nodes": ["second=70"],
            "variants": ["opening=4"],
            **dict.fromkeys(("jobs", "oversubscribe", "cluster", "out", "note", "as_json")),
        }
    )
    assert tune.command_of(settings, "ataxx", "bot:window=9", "bot", 100) == (
        "quartet sprt ataxx bot:window=9 bot --megabytes 90.0 --cores 2 --clock 800 "
        "--option opening=4 --seed 105"
    )


@pytest.mark.parametrize("method", ["cma", "parzen"])
def test_every_seed_starts_an_optimiser(method: str) -> None:
    for seed in (-1, 2**64):
        assert MAKERS[method][0](seed).ask()


def test_a_given_start_and_the_whole_range() -> None:
    found = tune.read_parameter("ataxx", "bot:window=55", "window", 0.002)
    assert (found.start, found.least, found.most, found.whole) == (55, 1, 30000, True)
    assert found.c_end == pytest.approx(29999 / 20)
    assert tune.with_values("ataxx", "bot:hash=8,window=55", [found], (60.0,)) == (
        "bot:hash=8,window=60"
    )
    with pytest.raises(QuartetError, match="no number"):
        tune.read_parameter("ataxx", "random", "window", 0.002)


def test_a_flat_game_keeps_the_values_finite() -> None:
    for make, _ in MAKERS.values():
        optimiser = make(1)
        for _ in range(3):
            optimiser.tell([0.0 for _ in optimiser.ask()])
        assert all(map(math.isfinite, optimiser.best()))
