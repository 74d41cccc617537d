"""Every exception of the project. The message is always one line, meant for the person at the
terminal.

A *text* error means that something could not be read at all; a *rule* error means that it was read
and is against the rules.
"""


class QuartetError(Exception):
    """Base of all errors that a user can cause; the command line prints the message and exits
    non-zero. What a terminal cannot show of a message becomes question marks: it may quote anything.

    Attributes:
        code: the word by which the game's real judge calls a foul, as its log has it; empty where
            it has none.
    """

    def __init__(self, message: str = "", code: str = "") -> None:
        super().__init__(message if message.isprintable() else printable(message))
        self.code = code


def printable(text: str) -> str:
    """A text as one line that cannot disturb a terminal."""
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else "?" for character in line)


class TextError(QuartetError, ValueError):
    """A text (position, move, log, answer) that cannot be parsed; the message says what is wrong
    and where."""


class RuleError(QuartetError, ValueError):
    """A text that was understood, but says something that the rules forbid."""


class IllegalMoveError(RuleError):
    """A well-formed move that is not legal in the position."""


class UnknownNameError(QuartetError, LookupError):
    """No game, player or option of that name; the message lists the names there are."""


class NotBuiltError(QuartetError, ImportError):
    """The compiled modules of a game are missing; the message says how to build them."""
