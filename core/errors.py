"""All exceptions of the project. A message is one line for the user at the terminal.

A *text* error means that something could not be read. A *rule* error means that it was read and
breaks the rules.
"""


class QuartetError(Exception):
    """Base of all errors that a user can cause. The command line prints the message and exits with
    a non-zero status. Unprintable characters in a message become question marks, because it may
    quote anything.

    Attributes:
        code: The real judge's word for the error, as in its logs; "" if it has none.
    """

    def __init__(self, message: str = "", code: str = "") -> None:
        super().__init__(message if message.isprintable() else printable(message))
        self.code = code


def printable(text: str) -> str:
    """Return a text as one line without control characters."""
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else "?" for character in line)


class TextError(QuartetError, ValueError):
    """A text (position, move, log, answer) that cannot be parsed. The message says what is wrong
    and where."""


class RuleError(QuartetError, ValueError):
    """A text that was parsed but breaks the rules."""


class IllegalMoveError(RuleError):
    """A well-formed move that is not legal in the position."""


class UnknownNameError(QuartetError, LookupError):
    """An unknown game, player or option. The message lists the known names."""


class NotBuiltError(QuartetError, ImportError):
    """A game's compiled modules are missing. The message says how to build them."""
