"""Self-play has reproducible units, samples with score and result, and folders that resume."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest

from core.errors import QuartetError, TextError
from core.limits import Limits, SearchInfo
from core.nn.contract import FIRST, OFF_PATH, PLAYED
from core.nn.sealed import seal, unseal
from quartet.training import samples, selfplay
from quartet.training.samples import TAIL, SampleStore
from quartet.training.selfplay import SelfplayUnit, play
from tests.commands import quartet, refusal
from tests.games import ROOT

if TYPE_CHECKING:
    from core.rules import Move

SIZE = 16 + TAIL.size


def unit(number: int = 0, nodes: int = 30, games: int = 3) -> SelfplayUnit:
    return SelfplayUnit(number=number, game="ataxx", seed=5, games=games, nodes=nodes)


def tails(data: bytes) -> list[tuple[int, ...]]:
    """Return score, ply, result and flags of every sample."""
    return [TAIL.unpack(data[start + 16 : start + SIZE]) for start in range(0, len(data), SIZE)]


def test_equal_units_give_equal_samples() -> None:
    first, other = play(unit(1)), play(unit(2))
    assert play(unit(1)) == first
    assert first.samples != other.samples
    assert first.result.positions * SIZE == len(first.samples)


def test_a_unit_depends_on_its_number() -> None:
    whole = play(unit(0, games=4)).samples
    assert play(unit(0, games=2)).samples + play(unit(1, games=2)).samples == whole


def test_openings_are_random_and_as_long_as_the_game_says() -> None:
    starts = [tails(play(unit(number, games=1)).samples)[0][1] for number in range(40)]
    assert min(starts) == 8
    assert 16 <= max(starts) <= 18  # one more if the first move is a pass


def test_results_are_of_the_side_to_move() -> None:
    for _, ply, result, flags in tails(play(unit(games=10)).samples):
        assert result in (-1, 0, 1)
        assert flags in (0, PLAYED, FIRST, PLAYED | FIRST, FIRST | OFF_PATH)
        assert 8 <= ply < 400
    by_ply = [
        (ply, result)
        for _, ply, result, flags in tails(play(unit(games=1)).samples)
        if not flags & OFF_PATH
    ]
    first = {result if ply % 2 == 0 else -result for ply, result in by_ply}
    assert len(first) == 1, "one winner in one game"


class ScriptedNim:
    """Nim with one pile and an engine with given scores, as input of `one_game`."""

    OPENING, LOPSIDED, WON, SOLVED = (0, 0), 100, 1000, 5000

    def __init__(self, scores: list[int]) -> None:
        self.told = scores

    def choose(self, position: Pile, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo((1,), self.told[position.ply])

    def encode(self, position: Pile) -> bytes:
        return bytes([position.ply])


class Pile:
    """A position of a game with a fixed number of plies, which the first seat wins."""

    def __init__(self, ply: int, plies: int) -> None:
        self.ply, self.plies = ply, plies
        self.to_move, self.over = ply % 2, ply == plies

    def play(self, move: Move) -> Pile:  # noqa: ARG002
        return Pile(self.ply + 1, self.plies)

    def legal(self) -> list[Move]:
        return [(1,)]

    def scores(self) -> tuple[int, int]:
        return 3, 1


def told(scores: list[int], plies: int = 8, pass_move: Move = (0,)) -> list[tuple[int, ...]]:
    """Return ply, score, result and "played out" of the samples of a game with these scores."""
    game = ScriptedNim(scores)
    found = selfplay.one_game(game, game, Limits(nodes=1), Pile(0, plies), pass_move, Random(1), 0)  # type: ignore[arg-type]
    values = [(sample[0], TAIL.unpack(sample[1:])) for sample in found]
    assert [bool(flags & FIRST) for _, (_, _, _, flags) in values] == [
        True,
        *[False] * (len(values) - 1),
    ][: len(values)]
    return [(ply, score, result, flags & PLAYED) for ply, (score, _, result, flags) in values]


def test_a_game_that_is_played_out_has_its_own_result() -> None:
    assert told([10, -20, 30, -40], plies=4) == [
        (0, 10, 1, 1),
        (1, -20, -1, 1),
        (2, 30, 1, 1),
        (3, -40, -1, 1),
    ]


def test_a_solved_game_ends() -> None:
    assert told([10, 5000, 0, 0]) == [(0, 10, -1, 1)]
    assert told([-5000]) == []


def test_a_lasting_lead_is_adjudicated() -> None:
    assert [line[2:] for line in told([2000, -2000, 2000, -2000])] == [
        (1, 0),
        (-1, 0),
        (1, 0),
        (-1, 0),
    ]
    assert [line[2:] for line in told([-2000, 2000, -2000, 2000])] == [
        (-1, 0),
        (1, 0),
        (-1, 0),
        (1, 0),
    ]
    swinging = told([2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000])
    assert len(swinging) == 8, "each side believes that it wins"
    assert {line[3] for line in swinging} == {1}
    assert len(told([2000, -2000, 2000, 0, 2000, -2000, 2000, 0])) == 8, "it did not last"


def test_off_path_positions_have_a_score_and_no_result() -> None:
    game = ScriptedNim([10, 20, 30, 40, 50, 60, 70, 80, 6000, 100])
    found = selfplay.one_game(game, game, Limits(nodes=1), Pile(0, 10), (0,), Random(1), 1)  # type: ignore[arg-type]
    values = [(sample[0], TAIL.unpack(sample[1:])) for sample in found]
    assert [place for place, _ in values[:8]] == list(range(8))
    off_path = values[8:]
    assert 6 <= len(off_path) <= 8, "one from each position, but for those that are solved"
    for place, (score, ply, result, flags) in off_path:
        assert place != 8
        assert (score, ply, result, flags) == (
            10 * place + 10 if place < 8 else 100,
            place,
            0,
            FIRST | OFF_PATH,
        )
    assert {off_path[0][0], off_path[1][0] - 1, off_path[2][0] - 2} == {1, 2}, (
        "one or two random plies away"
    )


def test_passes_give_no_samples() -> None:
    assert told([1, 2, 3, 4], plies=4, pass_move=(1,)) == []


def test_samples_are_read_back(tmp_path: Path) -> None:
    played = play(unit())
    with SampleStore(tmp_path, "ataxx", {"seed": 5}) as folder:
        folder.add(played)
    with SampleStore(tmp_path, "ataxx", {"seed": 5}) as folder:
        assert folder.done == {0: played.result}
    fields, body = samples.read(tmp_path / "000000.samples", "ataxx")
    assert body == played.samples
    assert fields["nodes"] == "30"


def test_a_folder_belongs_to_one_run_and_one_process(tmp_path: Path) -> None:
    with (
        SampleStore(tmp_path, "ataxx", {"seed": 5}),
        pytest.raises(QuartetError, match="another process"),
    ):
        SampleStore(tmp_path, "ataxx", {"seed": 5})
    with pytest.raises(QuartetError, match="another run"):
        SampleStore(tmp_path, "ataxx", {"seed": 6})
    with pytest.raises(QuartetError, match="not the one of this run"):
        unit(nodes=31).require_same(play(unit()).result)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"quartet samples", b"quartet zamples", "no file of samples"),
        (b"nodes 30", b"nodes 31", "checksum"),
        (b"\n\n", b"\n", "damaged"),
    ],
)
def test_damaged_samples_give_one_line(
    tmp_path: Path, old: bytes, new: bytes, message: str
) -> None:
    played = play(unit())
    with SampleStore(tmp_path, "ataxx", {}) as folder:
        folder.add(played)
    file = tmp_path / "000000.samples"
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    with pytest.raises(TextError, match=message) as caught:
        SampleStore(tmp_path, "ataxx", {})
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_a_batch_is_rejected() -> None:
    with pytest.raises(TextError, match="somewhere"):
        samples.batch_of({"number": "x"}, Path("somewhere"))


def test_the_command_resumes(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    command = ("selfplay", "ataxx", "--nodes", "10", "--seed", "3", "--jobs", "1", "--out")
    assert "of 64 games" in quartet(*command, str(whole), "--games", "64").stdout
    assert "of 32 games" in quartet(*command, str(broken), "--games", "1").stdout
    first = (broken / "000000.samples").stat().st_mtime_ns
    assert "of 64 games" in quartet(*command, str(broken), "--games", "33").stdout
    assert (broken / "000000.samples").stat().st_mtime_ns == first, (
        "what is there is not played again"
    )
    for file in samples.files(whole):
        assert (broken / file.name).read_bytes() == file.read_bytes()
    again = refusal("selfplay", "ataxx", "--nodes", "11", "--games", "1", "--out", str(whole))
    assert "another run" in again


def test_a_run_belongs_to_the_weights_of_its_player(tmp_path: Path) -> None:
    mine = tmp_path / "mine.bin"
    mine.write_bytes((ROOT / "ataxx" / "nn" / "weights.bin").read_bytes())
    command = ("selfplay", "ataxx", "--nodes", "10", "--jobs", "1", "--out", str(tmp_path / "run"))
    more = ("--player", f"bot:weights={mine}", "--games")
    quartet(*command, *more, "1")
    fields, body = unseal("weights", mine.read_bytes(), "ataxx")
    other = {name: text for name, text in fields.items() if name not in {"bytes", "crc32"}}
    mine.write_bytes(seal("weights", other | {"seed": "changed"}, body))
    assert "another run" in refusal(*command, *more, "64")


@pytest.mark.parametrize("game", ["applegame", "connexion"])
def test_a_game_without_training_is_rejected(game: str) -> None:
    said = refusal("selfplay", game, "--games", "1", "--out", "nowhere")
    assert f"{game} has no self-play for training: write {game}/train/selfplay.py" in said
    said = refusal("train", game, ".", "--out", "nowhere")
    assert f"{game} has a separate training command: python -m {game}.train" in said


def test_the_share_of_off_path_samples_can_be_set() -> None:
    on_path = play(msgspec.structs.replace(unit(), off_path=0.0)).samples
    usual = play(unit()).samples
    assert not any(flags & OFF_PATH for *_, flags in tails(on_path))
    assert any(flags & OFF_PATH for *_, flags in tails(usual))
    with pytest.raises(QuartetError, match="the share of off-path samples of ugolki is fixed"):
        play(SelfplayUnit(number=0, game="ugolki", seed=1, games=0, nodes=1, off_path=0.5))


def test_a_player_that_is_no_engine_is_rejected() -> None:
    with pytest.raises(QuartetError, match="'random' is not an engine and gives no samples"):
        play(msgspec.structs.replace(unit(), player="random"))
