"""`quartet completion`: print a shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script for SHELL that completes commands and options.

    \b
    bash  eval "$(quartet completion bash)"         in ~/.bashrc (4.4 or newer)
    zsh   eval "$(quartet completion zsh)"          in ~/.zshrc
    fish  quartet completion fish | source          in ~/.config/fish/config.fish
    """
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101  (click knows all three)
    print(made(context.find_root().command, {}, "quartet", "_QUARTET_COMPLETE").source())
