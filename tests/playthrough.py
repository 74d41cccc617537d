"""Golden playthroughs: a full record of one random game per game, so that no rule changes
unnoticed.

`python -m tests.playthrough GAME` prints it by the current reference rules; `--write` records it.
"""

from __future__ import annotations

import argparse
from random import Random
from typing import TYPE_CHECKING

from core.rules import places
from tests.games import GameUnderTest, load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core.rules import Position

SEED = 1


def playthrough(game: GameUnderTest, position: Position) -> str:
    """Return a random game from `position`, played by its rules."""
    random = Random(SEED)
    lines = [f"game: {game.name}", f"seed: {SEED}"]
    while not position.over:
        legal = position.legal()
        move = random.choice(legal)
        lines += [
            *_standing(position),
            f"legal: {', '.join(map(_words, legal))}",
            f"move: {_words(move)}",
        ]
        position = position.play(move)
    final = places(position.scores(), lower_wins=game.info.lower_wins)
    return "\n".join([*lines, *_standing(position), f"places: {_words(final)}", ""])


def _standing(position: Position) -> list[str]:
    over = ", over" if position.over else ""
    return [
        "",
        f"ply {position.ply}, seat {position.to_move}{over}",
        position.text().rstrip("\n"),
        f"scores: {_words(position.scores())}",
    ]


def _words(values: Iterable[object]) -> str:
    return " ".join(map(str, values))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.playthrough", description="The golden playthrough of a game."
    )
    parser.add_argument("game")
    parser.add_argument(
        "--write",
        action="store_true",
        help="record it; look at the difference before you commit it",
    )
    arguments = parser.parse_args()
    game = load(arguments.game)
    text = playthrough(game, game.reference.start(SEED))
    if arguments.write:
        game.data.mkdir(parents=True, exist_ok=True)
        (game.data / "playthrough.txt").write_text(text, encoding="utf-8", newline="\n")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
