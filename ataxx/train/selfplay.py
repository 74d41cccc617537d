"""Ataxx for self-play and training. `core.nn.contract.Training` describes the names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ataxx import players
from ataxx.engine import Engine
from ataxx.nn.evaluate import Weights
from ataxx.nn.features import encode, features
from core.engine import parse_player, write_player
from core.errors import QuartetError
from core.nn.sealed import unseal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ACTIVE",
    "INPUTS",
    "LOPSIDED",
    "OFF_PATH_SHARE",
    "OPENING",
    "OWN_SAMPLES",
    "POSITION_BYTES",
    "SHARED",
    "SOLVED",
    "SYMMETRIES",
    "WON",
]
__all__ += ["POINTS", "encode", "engine", "features", "floats", "quantised"]

OWN_SAMPLES: Literal[False] = False
INPUTS, ACTIVE, SHARED = 2916, 36, 81
SYMMETRIES = 8
POSITION_BYTES = 16
OPENING = (8, 17)
OFF_PATH_SHARE = 1.0
LOPSIDED = 500
WON = 1600
SOLVED = 29_000

TABLE = 1
"""Megabytes of the engine's table in self-play: it fits the processor's cache and holds the few
thousand nodes of a search."""


def engine(player: str) -> Engine:
    name, settings = parse_player(player)
    found = players.player(write_player(name, {"hash": str(TABLE), **settings}))
    if not isinstance(found, Engine):
        raise QuartetError(f"{player!r} is not an engine and gives no samples")
    return found


ONE, OUTPUT_ONE, POINTS = 255, 64, 400
"""The integers for 1.0 in the first layer and in the output, and the score for an output of 1.0, as
in network.h. Training keeps weights within 127 / 64."""


def floats(
    data: bytes,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], float]:
    import numpy as np  # noqa: PLC0415  (self-play does not need it)

    hidden = int(Weights(data).fields["hidden"])
    _, body = unseal("weights", data, "ataxx")
    numbers = np.frombuffer(body[:-4], "<i2").astype(np.float32)
    numbers[:-hidden] /= ONE
    numbers[-hidden:] /= OUTPUT_ONE
    rows, bias, output = np.split(numbers, [INPUTS * hidden, (INPUTS + 1) * hidden])
    last = int.from_bytes(body[-4:], "little", signed=True) / (ONE * OUTPUT_ONE)
    return rows.reshape(-1, hidden), bias, output, last


def quantised(
    rows: NDArray[np.float32],
    bias: NDArray[np.float32],
    output: NDArray[np.float32],
    output_bias: float,
) -> tuple[dict[str, str], bytes, NDArray[np.float32]]:
    import numpy as np  # noqa: PLC0415  (self-play does not need it)

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
