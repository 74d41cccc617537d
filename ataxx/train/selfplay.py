"""What self-play and training must know of Ataxx; `core.nn.contract.Training` says what the names
mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ataxx import players
from ataxx.engine import Engine
from ataxx.nn.features import encode, features
from core.engine import parse_player, write_player
from core.errors import QuartetError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ACTIVE",
    "ASIDE",
    "INPUTS",
    "LOPSIDED",
    "OPENING",
    "POSITION_BYTES",
    "SHARED",
    "SOLVED",
    "SYMMETRIES",
    "WON",
]
__all__ += ["encode", "engine", "features", "open_positions", "quantised"]

INPUTS, ACTIVE, SHARED = 2916, 36, 81
SYMMETRIES = 8
POSITION_BYTES = 16
OPENING = (8, 17)
ASIDE = 1.0
LOPSIDED = 500
WON = 1600
SOLVED = 29_000

TABLE = 1
"""Megabytes of the engine's table in self-play: it stays in the processor's cache, and a few
thousand nodes fit."""


def engine(player: str) -> Engine:
    name, settings = parse_player(player)
    found = players.player(write_player(name, {"hash": str(TABLE), **settings}))
    if not isinstance(found, Engine):
        raise QuartetError(f"{player!r} is no engine, and gives no samples")
    return found


MOST_PIECES = 45
"""On the board of a position that is learned from."""


def open_positions(positions: NDArray[np.uint8]) -> NDArray[np.bool_]:
    import numpy as np  # noqa: PLC0415  (self-play does without)

    bits = np.array([number.bit_count() for number in range(256)], np.uint8)
    mask: NDArray[np.bool_] = bits[positions].sum(1, dtype=np.uint8) <= MOST_PIECES
    return mask


ONE, OUTPUT_ONE = 255, 64
"""Of the first layer and of the output in integers, as in network.h; training keeps weights within
127 / 64."""


def quantised(
    rows: NDArray[np.float32],
    bias: NDArray[np.float32],
    output: NDArray[np.float32],
    output_bias: float,
) -> tuple[dict[str, str], bytes, NDArray[np.float32]]:
    import numpy as np  # noqa: PLC0415  (self-play does without)

    integers = [
        (part * scale).round() for part, scale in ((rows, ONE), (bias, ONE), (output, OUTPUT_ONE))
    ]
    last = round(output_bias * ONE * OUTPUT_ONE)
    body = b"".join(part.astype("<i2").tobytes() for part in integers) + last.to_bytes(
        4, "little", signed=True
    )
    rounded = np.concatenate(
        [
            (integers[0] / ONE).ravel(),
            integers[1] / ONE,
            integers[2] / OUTPUT_ONE,
            [last / (ONE * OUTPUT_ONE)],
        ]
    )
    return (
        {"inputs": str(len(rows)), "hidden": str(len(bias)), "activation": "screlu"},
        body,
        rounded.astype(np.float32),
    )
