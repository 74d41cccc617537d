"""Each option of a run has one field and one flag, and the plan on disk holds it."""

from __future__ import annotations

import click
import msgspec
import pytest

from core.errors import TextError
from quartet.arena.config import IN_EVERY_PLAN, PlayerConfig, RunConfig
from quartet.arena.outcome import usual_test
from quartet.arena.sprt import expected_score
from quartet.cli import run_options
from quartet.cli.run_options import RunOptions

CONFIG = RunConfig(
    game="ataxx",
    players=(PlayerConfig("a", "bot", nodes=5), PlayerConfig("b", "greedy", ms=10.5)),
    seed=3,
    options={"opening": 4},
    megabytes=64.0,
    cores=2,
)


def test_a_plan_holds_all_settings() -> None:
    plan = msgspec.json.decode(msgspec.json.encode(CONFIG.plan()))
    assert RunConfig.read(plan) == CONFIG
    assert RunConfig.read({**plan, "kind": "sprt", "tables": []}) == CONFIG
    with pytest.raises(TextError, match="no plan of a run"):
        RunConfig.read({**plan, "seed": "x"})


def test_an_option_that_is_not_used_leaves_old_plans_unchanged() -> None:
    default = msgspec.structs.replace(CONFIG, cores=1)
    assert set(CONFIG.plan()) == IN_EVERY_PLAN | {"cores"}
    assert set(default.plan()) == IN_EVERY_PLAN


def test_every_setting_has_a_flag_that_fills_it() -> None:
    """Check that a new option touches RunConfig and OPTIONS, nothing else."""

    @run_options.options
    def command() -> None: ...

    params = command.__click_params__  # type: ignore[attr-defined]
    flags = [option.name for option in params if option.expose_value]
    own = set(RunConfig.__struct_fields__) - {"game", "players", "options"}
    assert own <= set(flags)
    given = RunOptions.read({**dict.fromkeys(flags), **dict.fromkeys(own, 7)})
    assert set(given.fields) == own


def test_former_names_of_options_are_not_in_the_help() -> None:
    option = run_options.RenamedOption(["--new", "--old", "new"], is_flag=True, help="Help.")
    context = click.Context(click.Command("x", params=[option]))
    assert option.get_help_record(context) == ("--new", "Help.")
    assert option.opts == ["--new", "--old"]


def test_the_usual_hypotheses_of_a_sequential_test() -> None:
    two, four = usual_test(2), usual_test(4)
    assert (two.s0, two.s1) == (0.5, expected_score(10))
    assert four.s0 == 0.25
    assert four.s1 == pytest.approx(0.3)
