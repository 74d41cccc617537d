"""Whole programs survive damaged conversations; `tests.long.trials` has more of them."""

from __future__ import annotations

from random import Random

import pytest

from core.errors import QuartetError
from tests.linegames import NAMES
from tests.long import torture


@pytest.mark.parametrize("program", [*NAMES, torture.UAI])
def test_a_program_survives_lines_in_any_order(program: str) -> None:
    random = Random(1)
    lines = torture.talk(program, random)
    torture.check(program, b"\n".join(lines) + b"\n", random)
    torture.check(program, b"\n".join(reversed(lines)), random)
    torture.check(program, b"stop\n" + b"A" * torture.LONG + b"\n" + b"\n".join(lines), random)


def test_another_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torture, "READY_ANSWER", "SURE")
    with pytest.raises(QuartetError, match="a move is four integers"):
        torture.check("applegame", b"READY FIRST\n", Random(1))
