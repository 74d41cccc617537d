"""Paths on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class PathType(click.Path):
    """The type of a path. It rejects an empty text, which would mean the current folder."""

    def __init__(self, **conditions: Any) -> None:
        """Take the conditions of click.Path."""
        super().__init__(path_type=Path, **conditions)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path. Raises BadParameter."""
        if not os.fspath(value):
            self.fail("the path is empty; for the current folder, write .", param, ctx)
        return super().convert(value, param, ctx)
