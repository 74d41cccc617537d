"""Self-play at scale, by compiled games: `quartet selfplay ugolki --player gumbel --nodes 32`.

The seats of a game are drawn from one or several files of weights and, as an option, from the
training set: `gumbel:weights=new.bin+old.bin,outsiders=0.2`. Samples have the format of
ugolki/train/selfplay.py.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from core.engine import Option, configured
from core.errors import QuartetError
from core.limits import Limits
from core.nn.sealed import resource
from ugolki.geometry import SEATS
from ugolki.train import selfplay
from ugolki.train.generate import Generator

if TYPE_CHECKING:
    from core.engine import Searcher
    from core.rules import Move
    from ugolki.rules import Position

FIELD = (*selfplay.FIELD, "ucb")
"""The outsiders: the training set and other frozen players."""
OUTSIDER_NODES = (50, 200, 800)
"""Nodes per move of the outsiders; one of them for each game."""
NEWEST = 0.5
"""Share of the seats with the first weights, if there are several; the others draw any."""
PACKAGE_WEIGHTS = Path(__file__).parents[1] / "nn" / "weights.bin"


class Settings:
    """What the player `gumbel` takes as options."""

    OPTIONS = (
        Option("weights", str, "", "files of weights, the newest first, with + between them"),
        Option("considered", int, 16, "moves of the root that are searched at most", 1, 168),
        Option("percent", int, 40, "percent of the policy network's logits", 0, 1000),
        Option("scale", float, 1.0, "weight of values against logits", 0, 100),
        Option("playouts", bool, True, "play a leaf out before the value network judges it"),
        Option("off_path_share", float, 0.25, "off-path positions per position of a game", 0, 1),
        Option(
            "outsiders", float, 0.0, "share of the seats with players of the training set", 0, 1
        ),
    )

    def __init__(self, **given: Any) -> None:
        """Take options by keyword, checked by their `Option`."""
        self.values = {option.name: option.default for option in self.OPTIONS} | given


def play_games(games: range, seed: int, nodes: int, player: str) -> list[bytes]:
    """Return the samples of the games with these numbers; pure, see `core.nn.contract.OwnSamples`.

    Raises:
        QuartetError: An option is wrong, or a file of weights cannot be read.
    """
    settings: dict[str, Any] = configured(player, lambda _: Settings).values
    files = str(settings["weights"]).split("+") if settings["weights"] else [str(PACKAGE_WEIGHTS)]
    try:
        generator = Generator(
            [resource(file) for file in files],
            iterations=nodes,
            considered=settings["considered"],
            percent=settings["percent"],
            scale=settings["scale"],
            playouts=settings["playouts"],
        )
    except ValueError as error:
        raise QuartetError(str(error)) from None
    seated = selfplay.Seated(seed)
    found: list[bytes] = []
    for number in games:
        random = Random(f"{seed} {number}")
        start = selfplay.opening(random)
        limits = Limits(nodes=random.choice(OUTSIDER_NODES))
        others = {
            seat: partial(chosen, seated.at(random.choice(FIELD), seat), limits, random)
            for seat in range(SEATS)
            if random.random() < settings["outsiders"]
        }
        found += generator.game(
            start,
            random.getrandbits(64),
            off_path_share=settings["off_path_share"],
            seats=[
                0 if random.random() < NEWEST else random.randrange(len(files))
                for _ in range(SEATS)
            ],
            others=others,
        )
    return found


def chosen(player: Searcher[Position], limits: Limits, random: Random, position: Position) -> Move:
    """Return an outsider's move, now and then a random one."""
    if random.random() < selfplay.RANDOM_MOVES:
        return random.choice(position.legal())
    return player.choose(position, limits).move
