"""The evaluation network of Ataxx computes the same number on every CPU level, and its files are
checked."""

from __future__ import annotations

import functools
import platform
import struct
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from ataxx import rules
from ataxx.engine import Engine
from ataxx.nn.evaluate import LEVELS, Weights, default_weights
from ataxx.reference import Position
from core.errors import TextError
from core.limits import Limits
from core.nn.sealed import seal, unseal
from tests.games import ROOT

HIDDEN = 128
INPUTS = 2916

Numbers = tuple[list[list[int]], list[int], list[list[int]], list[int]]
"""Rows of the first layer and its bias; output weights and output bias of each bucket."""


def random_numbers(
    random: Random, hidden: int = HIDDEN, most: int = 90, buckets: int = 8
) -> Numbers:
    def numbers(count: int, most: int) -> list[int]:
        return [random.randint(-most, most) for _ in range(count)]

    rows, bias = [numbers(hidden, most) for _ in range(INPUTS)], numbers(hidden, 200)
    return rows, bias, [numbers(hidden, 127) for _ in range(buckets)], numbers(buckets, 9999)


def file(
    rows: list[list[int]],
    bias: list[int],
    output: list[list[int]],
    output_bias: list[int],
    **changed: str,
) -> bytes:
    fields = {
        "game": "ataxx",
        "inputs": str(INPUTS),
        "hidden": str(len(bias)),
        "buckets": str(len(output)),
        "activation": "screlu",
        **changed,
    }
    fields = {name: value for name, value in fields.items() if value}
    numbers = [struct.pack(f"<{len(words)}h", *words) for words in (*rows, bias, *output)]
    last = struct.pack(f"<{len(output_bias)}i", *output_bias)
    return seal("weights", fields, b"".join([*numbers, last]))


def cells(position: Position) -> list[list[int]]:
    """Return rows of labels: 0 empty, 1 the side to move, 2 the opponent."""
    labels = {0: 0, 1 + position.to_move: 1, 2 - position.to_move: 2, 3: 0}
    return [[labels[label] for label in position.cells[7 * row : 7 * row + 7]] for row in range(7)]


def bits(board: list[list[int]], label: int) -> int:
    return sum(
        1 << (8 * row + column)
        for row in range(7)
        for column in range(7)
        if board[row][column] == label
    )


def plain_value(
    board: list[list[int]],
    rows: list[list[int]],
    bias: list[int],
    output: list[list[int]],
    output_bias: list[int],
) -> int:
    """Compute the network of network.h in plain Python."""
    pieces = sum(cell > 0 for row in board for cell in row)
    bucket = pieces * len(output) // 50
    sums = list(bias)
    for row in range(6):
        for column in range(6):
            a, b, c, d = (
                board[row][column],
                board[row][column + 1],
                board[row + 1][column],
                board[row + 1][column + 1],
            )
            weights = rows[81 * (6 * row + column) + a + 3 * b + 9 * c + 27 * d]
            sums = [s + w for s, w in zip(sums, weights, strict=True)]
    total = sum(min(max(s, 0), 255) ** 2 * w for s, w in zip(sums, output[bucket], strict=True))
    scaled = (int(total / 255) + output_bias[bucket]) * 400
    return max(-8000, min(8000, int(scaled / (255 * 64))))


def positions(random: Random, count: int) -> list[Position]:
    """Return positions from random games, some of them with walls."""
    found: list[Position] = []
    starts = ["x5o/7/7/7/7/7/o5x x 0 1", "x5o/7/2-1-2/7/2-1-2/7/o5x x 0 1"]
    while len(found) < count:
        position = Position.parse(random.choice(starts))
        while not position.over:
            position = position.play(random.choice(position.legal()))
            found.append(position)
    return random.sample(found, count)


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_agrees_with_plain_arithmetic(level: str) -> None:
    random = Random(1)
    # the last one cuts off many hidden units at the top, and the score too
    for most, buckets in ((20, 8), (20, 1), (90, 2)):
        numbers = random_numbers(random, most=most, buckets=buckets)
        weights = Weights(file(*numbers))
        if not weights.use(level):
            assert level not in {"plain", "sse2"} or "x86" not in platform.machine()
            continue
        for position in positions(random, 40):
            board = cells(position)
            assert weights.value(bits(board, 1), bits(board, 2)) == plain_value(board, *numbers)


def test_files_without_buckets_are_read() -> None:
    numbers = random_numbers(Random(8), 64, most=20, buckets=1)
    old, new = Weights(file(*numbers, buckets="")), Weights(file(*numbers))
    assert "buckets" not in old.fields
    assert old.value(1, 2) == new.value(1, 2) != 0


def test_sums_overflow_alike_on_every_level() -> None:
    random = Random(2)
    weights = Weights(file(*random_numbers(random, most=32767)))
    for position in positions(random, 200):
        board = cells(position)
        values = {
            weights.value(bits(board, 1), bits(board, 2)) for level in LEVELS if weights.use(level)
        }
        assert len(values) == 1


@pytest.mark.parametrize("hidden", [64, 320])
def test_an_incremental_value_equals_one_from_scratch(hidden: int) -> None:
    random = Random(5)
    weights = Weights(file(*random_numbers(random, hidden, most=32767)))
    position, seen = Position.start(), []
    for _ in range(300):  # a walk, with moves of one ply, of several, and new games
        if position.over or random.random() < 0.02:
            position = Position.start()
        for _ in range(random.choice([1, 1, 2, 5])):
            if not position.over:
                position = position.play(random.choice(position.legal()))
        board = cells(position)
        seen.append((bits(board, 1), bits(board, 2)))
    for level in LEVELS:
        if weights.use(level):
            assert weights.values(seen) == [weights.value(*pieces) for pieces in seen]


def test_the_sides_are_distinguished() -> None:
    weights = Weights(file(*random_numbers(Random(3), most=20)))
    board = cells(positions(Random(3), 1)[0])
    assert weights.value(bits(board, 1), bits(board, 2)) != weights.value(
        bits(board, 2), bits(board, 1)
    )


def test_fields_are_read_back() -> None:
    data = seal("weights", {"game": "ataxx", "command": "quartet train"}, b"\n\nnumbers")
    assert unseal("weights", data, "ataxx")[1] == b"\n\nnumbers"
    assert unseal("weights", data, "ataxx")[0]["command"] == "quartet train"
    assert data.startswith(b"quartet weights 1\ngame ataxx\n")


@functools.cache
def damaged() -> dict[str, tuple[bytes, str]]:
    """Return damaged files, each with its error message."""
    rows, bias, output, output_bias = random_numbers(Random(4), 64)
    whole = file(rows, bias, output, output_bias)
    flipped = bytearray(whole)
    flipped[-1000] ^= 1
    return {
        "empty": (b"", "no file of weights"),
        "another kind": (zlib.compress(whole), "no file of weights"),
        "cut off": (whole[:-1], "damaged"),
        "only the text": (whole[: whole.index(b"\n\n") + 2], "damaged"),
        "half the text": (whole[:30], "damaged"),
        "a bit flipped": (bytes(flipped), "checksum"),
        "the text changed": (whole.replace(b"hidden 64", b"hidden 65"), "checksum"),
        "another game": (file(rows, bias, output, output_bias, game="chess"), "for 'chess'"),
        "another activation": (
            file(rows, bias, output, output_bias, activation="relu"),
            "another network",
        ),
        "odd width": (file(rows, bias, output, output_bias, hidden="65"), "65 hidden units"),
        "no width": (file(rows, bias, output, output_bias, hidden="x"), "0 hidden units"),
        "another width": (file(rows, bias, output, output_bias, hidden="128"), "bytes"),
        "odd buckets": (file(rows, bias, output[:3], output_bias[:3]), "3 buckets"),
        "no buckets": (file(rows, bias, output, output_bias, buckets="x"), "0 buckets"),
        "output too heavy": (
            file(rows, bias, [*output[:-1], [128] * 64], output_bias),
            "output weight is 128",
        ),
    }


@pytest.mark.parametrize("what", damaged())
def test_a_damaged_file_gives_one_clear_line(what: str) -> None:
    data, message = damaged()[what]
    with pytest.raises(TextError, match=message) as caught:
        Weights(data)
    assert "\n" not in str(caught.value)


def test_an_overflow_is_reported() -> None:
    hidden = 320
    data = file([[0] * hidden] * INPUTS, [0] * hidden, [[0] * hidden, [127] * hidden], [0, 0])
    with pytest.raises(TextError, match="overflows"):
        Weights(data)


def test_fields_must_fit_on_lines() -> None:
    with pytest.raises(TextError, match="one line"):
        seal("weights", {"command": "a\nb"}, b"")


def test_shipped_weights_are_valid() -> None:
    weights = default_weights()
    assert {"seed", "data", "command"} <= weights.fields.keys()
    assert default_weights() is weights
    for text, sign in (
        ("xxxx3/xxxx3/xxxx3/7/7/7/6o x 0 1", 1),
        ("xxxx3/xxxx3/xxxx3/7/7/7/6o o 0 1", -1),
    ):
        board = cells(Position.parse(text))
        assert sign * weights.value(bits(board, 1), bits(board, 2)) > 300, (
            "eleven cells ahead is good"
        )


def test_missing_weights_are_reported() -> None:
    program = (
        "import os, ataxx.nn.evaluate as e; os.path.dirname = lambda path: 'nowhere'; "
        "e.default_weights()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1].startswith("core.errors.TextError: cannot read nowhere")


def test_simultaneous_engines_have_separate_weights() -> None:
    random = Random(7)
    engines = [Engine(hash=1, weights=file(*random_numbers(random, most=9))) for _ in range(2)]
    start, limits = rules.Position.start(), Limits(nodes=20_000)
    alone = [engine.choose(start, limits) for engine in engines]
    assert alone[0].score != alone[1].score
    for engine in engines:
        engine.new_game()
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda engine: engine.choose(start, limits), engines))
    assert [(found.move, found.score, found.nodes) for found in together] == [
        (found.move, found.score, found.nodes) for found in alone
    ]
