"""Numbers that no option can mean: nan, infinity, integers beyond 64 bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

UNBOUNDED = "seed"
"""The parameter whose integers may have any size: a seed is only hashed."""


class CheckedContext(click.Context):
    """The context of a command that rejects such numbers before it runs.

    The types of click accept them: nan is in every range.
    """

    def invoke(self, callback: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Check the values of all parameters, then run the command. Raises BadParameter."""
        for parameter in self.command.params:
            value = self.params.get(parameter.name or "")
            if isinstance(value, float) and not math.isfinite(value):
                raise click.BadParameter(f"{value} is not a finite number", self, parameter)
            if isinstance(value, int) and parameter.name != UNBOUNDED and abs(value) >= 2**63:
                raise click.BadParameter(f"{value} does not fit into 64 bits", self, parameter)
        return super().invoke(callback, *args, **kwargs)
