"""Positions of Ataxx for training (bytes, network inputs, the eight symmetries) equal those of
plain Python."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ataxx.nn.features import encode, features
from ataxx.rules import Position

Rows = tuple[tuple[int, ...], ...]


def random_positions(seed: int, count: int) -> list[Position]:
    random = Random(seed)
    found: list[Position] = []
    while len(found) < count:
        position = Position.start()
        while not position.over:
            found.append(position)
            position = position.play(random.choice(position.legal()))
    return random.sample(found, count)


def board(encoded: bytes) -> Rows:
    """Return the labels: 0 empty, 1 the side to move, 2 the opponent."""
    own, other = (int.from_bytes(part, "little") for part in (encoded[:8], encoded[8:]))
    return tuple(
        tuple((own >> 8 * r + c & 1) + 2 * (other >> 8 * r + c & 1) for c in range(7))
        for r in range(7)
    )


def inputs_of(cells: Rows) -> list[int]:
    return [
        81 * (6 * r + c)
        + cells[r][c]
        + 3 * cells[r][c + 1]
        + 9 * cells[r + 1][c]
        + 27 * cells[r + 1][c + 1]
        for r in range(6)
        for c in range(6)
    ]


def images(cells: Rows) -> set[Rows]:
    """Return the eight rotations and reflections of the board."""
    found = set()
    for _ in range(4):
        cells = tuple(zip(*cells[::-1], strict=True))
        found |= {cells, cells[::-1]}
    return found


def looked_at(encoded: list[bytes], chosen: list[int], symmetries: list[int]) -> list[list[int]]:
    positions = np.frombuffer(b"".join(encoded), np.uint8).reshape(-1, 16)
    rows, buckets = np.zeros((len(chosen), 36), np.uint16), np.zeros(len(chosen), np.uint8)
    features(positions, np.array(chosen, np.int64), np.array(symmetries, np.uint8), rows, buckets)
    pieces = np.unpackbits(positions[chosen], axis=1).sum(1)
    assert buckets.tolist() == (pieces * 8 // 50).tolist()
    found: list[list[int]] = rows.tolist()
    return found


def test_a_position_is_encoded_from_the_side_to_move() -> None:
    for position in random_positions(1, 50):
        row = position.text().split("/")[0]
        labels = [
            label
            for letter in row
            for label in (
                [0] * int(letter) if letter.isdigit() else [1 + ("xo"[position.to_move] != letter)]
            )
        ]
        assert list(board(encode(position))[0]) == labels


def test_inputs_are_the_states_of_the_windows() -> None:
    encoded = [encode(position) for position in random_positions(2, 100)]
    chosen = [7, 99, 0, 7]
    assert looked_at(encoded, chosen, [0] * 4) == [
        inputs_of(board(encoded[number])) for number in chosen
    ]


def test_symmetries_are_those_of_the_square() -> None:
    encoded = [encode(position) for position in random_positions(3, 100)]
    for number, position in enumerate(encoded):
        seen = looked_at(encoded, [number] * 8, list(range(8)))
        assert {tuple(row) for row in seen} == {
            tuple(inputs_of(image)) for image in images(board(position))
        }
    lopsided = encode(Position.parse("xx5/6o/7/7/7/7/7 x 0 1"))
    assert len({tuple(row) for row in looked_at([lopsided], [0] * 8, list(range(8)))}) == 8


def test_inconsistent_arguments_are_rejected() -> None:
    encoded = [encode(Position.start())]
    with pytest.raises(IndexError, match="no position 1"):
        looked_at(encoded, [1], [0])
    with pytest.raises(IndexError, match="no position -1"):
        looked_at(encoded, [-1], [0])
    with pytest.raises(ValueError, match="symmetries"):
        looked_at(encoded, [0, 0], [0])
