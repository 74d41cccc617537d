"""Ataxx for self-play and training. `core.nn.contract.Training` describes the names."""

from __future__ import annotations

import math
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

    from core.nn.contract import Network

__all__ = [
    "ACTIVE",
    "BUCKETS",
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
SYMMETRIES, BUCKETS = 8, 8
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
    if name == "bot":
        settings = {"hash": str(TABLE), **settings}
    found = players.player(write_player(name, settings))
    if not isinstance(found, Engine):
        raise QuartetError(f"{player!r} is not an engine and gives no samples")
    return found


ONE, OUTPUT_ONE, POINTS = 255, 64, 400
"""The integers for 1.0 in the first layer and in the output, and the score for an output of 1.0, as
in network.h. Training keeps weights within 127 / 64."""
SCALES = (ONE, ONE, OUTPUT_ONE, ONE * OUTPUT_ONE)
"""The integers for 1.0 in rows, bias, output and output bias."""
TYPES = ("<i2", "<i2", "<i2", "<i4")
"""Their types in a file."""


def floats(data: bytes) -> Network:
    import numpy as np  # noqa: PLC0415  (self-play does not need it)

    fields = Weights(data).fields
    hidden, buckets = int(fields["hidden"]), int(fields.get("buckets", "1"))
    _, body = unseal("weights", data, "ataxx")
    shapes = ((INPUTS, hidden), (hidden,), (buckets, hidden), (buckets,))
    parts, start = [], 0
    for kind, shape, scale in zip(TYPES, shapes, SCALES, strict=True):
        numbers = np.frombuffer(body, kind, math.prod(shape), start)
        start += numbers.nbytes
        parts.append(numbers.reshape(shape).astype(np.float32) / np.float32(scale))
    # a file without buckets has the same output for all of them
    parts[2:] = [np.repeat(part, BUCKETS // buckets, axis=0) for part in parts[2:]]
    return parts[0], parts[1], parts[2], parts[3]


def quantised(
    rows: NDArray[np.float32],
    bias: NDArray[np.float32],
    output: NDArray[np.float32],
    output_bias: NDArray[np.float32],
) -> tuple[dict[str, str], bytes, Network]:
    import numpy as np  # noqa: PLC0415  (self-play does not need it)

    parts = (rows, bias, output, output_bias)
    integers = [
        (part * np.float32(scale)).round() for part, scale in zip(parts, SCALES, strict=True)
    ]
    body = b"".join(part.astype(kind).tobytes() for part, kind in zip(integers, TYPES, strict=True))
    rounded = [part / np.float32(scale) for part, scale in zip(integers, SCALES, strict=True)]
    fields = {
        "inputs": str(len(rows)),
        "hidden": str(len(bias)),
        "buckets": str(len(output_bias)),
        "activation": "screlu",
    }
    return fields, body, (rounded[0], rounded[1], rounded[2], rounded[3])
