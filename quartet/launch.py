"""How to start what was named on the command line as a player."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import registry


def command(game: str, program: str, *arguments: str) -> tuple[str | list[str], dict[str, str]]:
    """The command of a program (a string for the shell, or a list) and its environment, on top of ours.

    `program` is a built-in player, which gets `arguments`, an executable file, or a shell command.
    """
    if registry.has(game, "players") and registry.is_player(game, program):
        # The program may run in another folder and must find our packages all the same.
        home = str(Path(registry.__file__).resolve().parent)
        path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        return [sys.executable, "-m", registry.GAMES[game], "--player", program, *arguments], {"PYTHONPATH": path}
    # The program may run in another folder, where a relative path would lead nowhere.
    file = Path(program)
    return ([str(file.resolve())] if file.is_file() else program), {}
