"""`quartet`: run a sub-command, and print every error as one line."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys

import click

from core.commands.values import CheckedContext
from core.errors import QuartetError, printable
from core.signals import exit_on_signal
from quartet import registry

GROUPS = {
    "Play": ("serve", "match", "games", "analyse", "perft"),
    "Measure": ("tournament", "sprt", "tune", "exam", "gauntlet", "runs", "lost", "bench"),
    "Review": ("review", "replay", "calibrate"),
    "Train": ("selfplay", "train"),
    "Submit, extend": ("pack", "new-game", "report", "completion"),
}
"""The commands by group, as in the help. Each is a module here with a `command`, which is imported
when it is needed."""
COMMANDS = tuple(name for group in GROUPS.values() for name in group)

FAILED, INTERRUPTED = 2, 130


class Commands(click.Group):
    """Sub-commands that are imported one by one, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups."""
        for title, names in GROUPS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [(name, made.get_short_help_str(90)) for name, made in found if made]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = cmd_name.replace("-", "_")
        try:
            command: click.Command = importlib.import_module(f"quartet.cli.{module}").command
        except ModuleNotFoundError as error:
            raise registry.not_built(error) from error
        command.context_class = CheckedContext
        return command


def _print_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if value and not context.resilient_parsing:
        from quartet.cli.version import version  # noqa: PLC0415  (it asks git)

        print(version())
        context.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show version, build and commit, and exit.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Play, measure, review, train and pack bots for contest board games.

    Results go to standard output, progress and errors to standard error. Exit status: 0 success, 1
    a check failed, 2 bad input (with one line on standard error), 130 interrupted.

    \b
    quartet serve --open                                play, watch and review in a browser
    quartet match ugolki human bot bot bot              play against the bot
    quartet sprt ugolki ./new.exe ./old.exe             is the new version stronger?
    quartet review game.log --html game.html            find the mistakes
    quartet pack nypc connexion --out dist              make a submission
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command line and exit."""
    _prepare_output()
    exit_on_signal("SIGTERM")
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        exit_on_signal("SIGHUP")  # an ignored one stays ignored: nohup
    try:
        status = cli.main(prog_name="quartet", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        status = _complain(_in_one_line(error))
    except QuartetError as error:
        status = _complain(str(error))
    except ModuleNotFoundError as error:  # players import their engines late
        known = registry.not_built(error)
        if known is error:
            raise
        status = _complain(str(known))
    except (click.Abort, KeyboardInterrupt):
        status = INTERRUPTED
    except BrokenPipeError:
        _silence()  # the reader of the output has gone
        status = 0
    except OSError as error:
        _silence()
        place = f"{error.filename}: " if error.filename else ""
        status = _complain(f"cannot continue: {place}{error.strerror or error}")
    sys.exit(status if isinstance(status, int) else 0)


def _prepare_output() -> None:
    """Make output possible anywhere: a closed stream discards it, and a character that the stream's
    encoding lacks (locale C, Windows code pages, file names that are no text) becomes "?"."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _in_one_line(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f" (see {error.ctx.command_path} --help)"
    return message


def _silence() -> None:
    """Discard the rest of the output, so that Python does not try to flush it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> int:
    print(f"quartet: {printable(message)}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    main()
