"""The scene of every game can be drawn, and a human can choose every move."""

from __future__ import annotations

from itertools import islice, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

from core.errors import TextError
from core.rules import Position
from core.scene import PASS_PART
from quartet import registry
from quartet.cli.terminal import board, human
from quartet.cli.terminal.human import move_chooser
from quartet.cli.terminal.keys import Keyboard
from quartet.cli.terminal.selection import ACROSS, ALONG, ESCAPED, Action, Selection
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.seats.engine import EngineSeat
from quartet.judge.seats.person import PersonSeat
from quartet.judge.table import table_rules
from tests.games import RANDOM_CASES, GameUnderTest, load, random_games

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.rules import Move
    from core.scene import Scene, SceneModule
    from quartet.judge.seats.seat import Seat

STEP = 7


def module_of(game: GameUnderTest) -> SceneModule:
    return cast("SceneModule", registry.load(game.name, "scene"))


def sample(game: GameUnderTest, count: int) -> Iterator[Position]:
    """Return reference positions some plies apart, from random games."""
    positions = (slow for slow, _ in random_games(game, count * STEP, seed=2))
    return islice(positions, 0, count * STEP, STEP)


def open_positions(game: GameUnderTest, count: int) -> Iterator[Position]:
    return (position for position in sample(game, count) if not position.over)


def names(scene: Scene) -> list[str]:
    """Return the names of all cells, including those of hands."""
    return [cell.name for hand in scene.hands for cell in hand.cells] + [
        cell.name for cell in scene.cells
    ]


def test_cells_and_pieces(game: GameUnderTest) -> None:
    module = module_of(game)
    cells = None
    for position in sample(game, RANDOM_CASES // 100):
        scene = module.scene(position)
        assert len(set(names(scene))) == len(names(scene))
        assert PASS_PART not in names(scene)
        assert len({(cell.x, cell.y) for cell in scene.cells}) == len(scene.cells)
        for those, pieces in [
            (scene.cells, scene.pieces),
            *((hand.cells, hand.pieces) for hand in scene.hands),
        ]:
            taken = [piece.cell for piece in pieces]
            assert len(set(taken)) == len(taken)
            assert set(taken) <= {cell.name for cell in those}
            assert all(0 < len(piece.text) <= 2 for piece in pieces)
        # the same board all the time
        assert cells in (None, scene.cells)
        cells = scene.cells


def test_changes_of_a_move_are_visible(game: GameUnderTest) -> None:
    module = module_of(game)
    for position in open_positions(game, RANDOM_CASES // 100):
        before = module.scene(position).pieces
        for move in position.legal():
            after = position.play(move)
            is_pass = module.parts(move, position) == (PASS_PART,)
            assert (module.scene(after).pieces == before) == is_pass
            if not is_pass:
                end = module.parts(move, position)[-1]
                assert end in {piece.cell for piece in module.scene(after).pieces}


def test_parts_lead_to_every_move_and_to_no_other(game: GameUnderTest) -> None:
    module = module_of(game)
    for position in open_positions(game, RANDOM_CASES // 100):
        choices = module.choices(position)
        known = {*names(module.scene(position)), PASS_PART}
        legal = position.legal()
        assert {choices[module.parts(move, position)]: 0 for move in legal} == dict.fromkeys(
            legal, 0
        )
        for parts in choices:
            assert parts
            assert set(parts) <= known
            assert (PASS_PART in parts) == (choices[parts] == game.pass_move)
            assert not any(parts[:depth] in choices for depth in range(len(parts)))
        outcomes = {position.play(move).text() for move in legal}
        for move in set(choices.values()) - set(legal):
            assert position.play(move).text() in outcomes
        assert module.choices(position) == choices


def test_written_values_are_read_back(game: GameUnderTest) -> None:
    module, protocol = module_of(game), registry.load(game.name, "protocol")
    for position in open_positions(game, RANDOM_CASES // 100):
        written = [module.write(move, position) for move in position.legal()]
        assert len(set(written)) == len(written)
        for text, move in zip(written, position.legal(), strict=True):
            assert "\n" not in text
            for typed in (text, text.lower(), f" {text} "):
                assert module.read(typed, position) == move
            if game.info.lines is not None and text != PASS_PART:
                assert protocol.parse_answer(text, position.to_move) == move


@pytest.mark.parametrize(
    ("name", "text"),
    [("ataxx", "x--4/---4/---4/7/7/7/oooooo1 x 0 1"), ("applegame", None), ("ugolki", None)],
)
def test_a_pass_can_be_typed(name: str, text: str | None) -> None:
    game = games.load(name)
    position = Start(0, {}, text).position(game.position)
    for typed in (PASS_PART, " Pass "):
        assert games.scene(name).read(typed, position) == game.pass_move
    if name != "ugolki":
        assert game.pass_move in position.legal()


def test_examples_show_rules(game: GameUnderTest) -> None:
    """Their moves are legal, and they show cells that there are."""
    module = module_of(game)
    examples = module.examples()
    assert examples
    for example in examples:
        assert 0 < len(example.text) < 260
        if example.position is None:
            assert (example.move, example.cells, example.lens) == (None, (), None)
            continue
        known = {cell.name for cell in module.scene(example.position).cells}
        assert set(example.cells) <= known
        shown = set(example.cells) or known
        if example.move is not None:
            assert example.move in example.position.legal()
            parts = module.parts(example.move, example.position)
            assert parts[-1] in {*shown, PASS_PART}
        if example.lens is not None:
            lens = example.lens
            named = {cell for cell, _ in lens.values} | {c for path in lens.paths for c in path}
            assert named | {c for region in lens.regions for c in region.cells} <= shown


def test_a_score_is_the_sum_of_its_parts(game: GameUnderTest) -> None:
    module = module_of(game)
    for position in sample(game, RANDOM_CASES // 100):
        counted = module.counted(position)
        sums = [sum(part.count * part.points for part in parts) for parts in counted]
        assert sums == [score or 0 for score in position.scores()]
        assert all(part.count > 0 or len(parts) == 1 for parts in counted for part in parts)


def test_lenses_name_existing_cells(game: GameUnderTest) -> None:
    module: Any = module_of(game)
    for position in sample(game, RANDOM_CASES // 200):
        known = set(names(module.scene(position)))
        shown = module.lenses(position) if game.info.lenses else ()
        assert tuple(dict.fromkeys(lens.name for lens in shown)) == game.info.lenses
        assert len({(lens.name, lens.seat) for lens in shown}) == len(shown)
        for lens in shown:
            assert {cell for cell, _ in lens.values} <= known
            assert {cell for region in lens.regions for cell in region.cells} <= known
            assert {cell for path in lens.paths for cell in path} <= known
            assert lens.title


def test_connexion_shows_groups_and_what_a_cell_gains() -> None:
    game = load("connexion")
    module: Any = module_of(game)
    for position in open_positions(game, 20):
        seat = position.to_move
        *groups, first, second = module.lenses(position)
        for lens, score in zip(groups, position.scores(), strict=True):
            grouped = sum(len(region.cells) for region in lens.regions)
            assert sum(region.value for region in lens.regions) + position.ply - grouped == score
        best: dict[str, int] = {}
        for move in position.legal():
            _, cell = module.parts(move, position)
            gain = (position.play(move).scores()[seat] or 0) - (position.scores()[seat] or 0)
            best[cell] = max(gain, best.get(cell, 0))
        assert dict((first, second)[seat].values) == best


def test_the_apple_game_shows_rectangles_with_their_swing() -> None:
    game = load("applegame")
    module: Any = module_of(game)
    for position in open_positions(game, 20):
        (lens,) = module.lenses(position)
        moves = [move for move in position.legal() if move != game.pass_move]
        assert len(lens.regions) == len(moves)
        swings = {region.cells: region.value for region in lens.regions}
        for r1, c1, r2, c2 in moves:
            cells = tuple(f"{r} {c}" for r in range(r1, r2 + 1) for c in range(c1, c2 + 1))
            mine, theirs = position.play((r1, c1, r2, c2)).scores()
            assert mine is not None
            assert theirs is not None
            before = position.scores()
            swing = (mine - (before[0] or 0)) - (theirs - (before[1] or 0))
            assert swings[cells] == (-swing if position.to_move else swing)


def test_ugolki_shows_paths_of_jumps() -> None:
    game = load("ugolki")
    module: Any = module_of(game)
    for position in open_positions(game, 20):
        (lens,) = module.lenses(position)
        pieces = {p.cell: p.owner for p in module.scene(position).pieces}
        ends: set[tuple[str, str]] = set()
        for path in lens.paths:
            ends.add((path[0], path[-1]))
            assert pieces[path[0]] == position.to_move
            for here, there in pairwise(path):
                (a, b), (c, d) = (map(int, cell.split()) for cell in (here, there))
                assert sorted((abs(a - c), abs(b - d))) == [0, 2]
                assert f"{(a + c) // 2} {(b + d) // 2}" in pieces
        legal = {module.parts(move, position) for move in position.legal()}
        far = {
            (start, end)
            for start, end in legal
            if sum(abs(int(a) - int(b)) for a, b in zip(start.split(), end.split(), strict=True))
            > 1
        }
        assert far <= ends <= legal


def is_move(game: GameUnderTest, text: str, position: Position) -> bool:
    """Return True if a text names a legal move; in some games "1" does."""
    try:
        return module_of(game).read(text, position) in position.legal()
    except TextError:
        return False


@pytest.mark.parametrize("text", ["", "hello", "1", "9999999 1", "x" * 999, "²", "pass pass", "-"])
def test_nonsense_is_rejected(game: GameUnderTest, text: str) -> None:
    if any(is_move(game, text, position) for position in open_positions(game, 10)):
        pytest.skip(f"{text!r} is a move of this game")
    with pytest.raises(TextError):
        module_of(game).read(text, game.reference.start())


def test_every_piece_is_drawn(game: GameUnderTest) -> None:
    for position in sample(game, RANDOM_CASES // 100):
        scene = module_of(game).scene(position)
        drawn = board.draw(scene)
        lines = drawn.plain.splitlines()
        hands = len(scene.hands)
        body = lines[bool(scene.columns) : len(lines) - hands]
        assert len(body) == len({cell.y for cell in scene.cells})
        pieces = {piece.cell: piece for piece in scene.pieces}
        for line, y in zip(body, sorted({cell.y for cell in scene.cells}), strict=True):
            texts = [text for at, text in scene.rows if at == y]
            for cell in sorted((c for c in scene.cells if c.y == y), key=lambda c: c.x):
                if cell.name in pieces:
                    texts.append(pieces[cell.name].text)
                elif cell.ground == "wall":
                    texts.append(board.WALL)
                else:
                    texts.append(board.EMPTY if scene.columns else cell.name)
            assert line.split() == " ".join(texts).split()
        for hand, line in zip(scene.hands, lines[len(lines) - hands :], strict=True):
            assert line.split()[3:] == [piece.text for piece in hand.pieces]
        assert max(map(len, lines)) < 72, "the standing is next to it"


def test_marks_change_no_text(game: GameUnderTest) -> None:
    module = module_of(game)
    for position in open_positions(game, 20):
        for parts in list(module.choices(position))[:5]:
            after = module.scene(position.play(module.choices(position)[parts]))
            marks = board.move_marks(after, parts, position.to_move)
            assert "to" in marks[parts[-1]]
            plain, marked = board.draw(after), board.draw(after, marks)
            assert marked.plain.removesuffix(f"\n{PASS_PART}") == plain.plain
            assert marked.spans != plain.spans


def by_arrows(selection: Selection, part: str) -> list[str]:
    """Return arrow keys that move the cursor to a part."""
    ways: dict[str, list[str]] = {selection.cursor: []}
    start = selection.cursor
    for at in (todo := [start]):
        for key in (*ACROSS, *ALONG):
            selection.cursor = at
            selection.feed(key)
            if selection.cursor not in ways:
                ways[selection.cursor] = [*ways[at], key]
                todo.append(selection.cursor)
    selection.cursor = start
    return ways[part]


def feed(selection: Selection, *keys: str) -> object:
    """Feed keys; return the result of the last one."""
    outcomes = [selection.feed(key) for key in keys]
    assert outcomes[:-1] == [None] * (len(keys) - 1)
    return outcomes[-1]


def typed(text: str) -> list[str]:
    return ["space" if character == " " else character for character in text.lower()]


def choosing(game: GameUnderTest, count: int) -> Iterator[tuple[SceneModule, Position, Random]]:
    """Yield positions in which a human could be asked."""
    random = Random(4)
    for position in open_positions(game, count):
        yield module_of(game), position, random


def test_every_move_is_reached_by_arrow_keys(game: GameUnderTest) -> None:
    for module, position, random in choosing(game, max(4, RANDOM_CASES // 1000)):
        choices = module.choices(position)
        for parts in random.sample(sorted(choices), min(10, len(choices))):
            selection = Selection(module, position)
            for depth, part in enumerate(parts):
                assert selection.taken == parts[:depth]
                feed(selection, *by_arrows(selection, part), "")
                assert selection.cursor == part
                answer = selection.feed("enter")
            assert answer == choices[parts]


def test_every_move_is_reached_by_tab_and_by_typing(game: GameUnderTest) -> None:
    for module, position, random in choosing(game, max(4, RANDOM_CASES // 1000)):
        choices = module.choices(position)
        for parts in random.sample(sorted(choices), min(10, len(choices))):
            selection = Selection(module, position)
            answer = None
            for part in parts:
                for _ in selection.options:
                    if selection.cursor != part:
                        selection.feed("tab")
                answer = selection.feed("enter")
            assert answer == choices[parts]
        for move in position.legal():
            selection = Selection(module, position)
            assert feed(selection, *typed(module.write(move, position)), "enter") == move
        if game.pass_move in position.legal():
            assert feed(Selection(module, position), *"pass", "enter") == game.pass_move
        else:
            selection = Selection(module, position)
            assert feed(selection, *"pass", "enter") is None
            assert selection.complaint


def test_escape_goes_back_at_every_depth(game: GameUnderTest) -> None:
    for module, position, _ in choosing(game, 10):
        parts = max(module.choices(position), key=len)
        selection = Selection(module, position)
        for depth in range(len(parts)):
            for part in parts[:depth]:
                feed(selection, *by_arrows(selection, part), "enter")
            selection.typed = "12"
            selection.feed("escape")
            assert (selection.typed, selection.taken) == ("", parts[:depth])
            for length in reversed(range(depth)):
                selection.feed("escape")
                assert (selection.taken, selection.cursor) == (parts[:length], parts[length])
        selection.feed("escape")
        assert selection.taken == ()


def test_illegal_moves_are_explained(game: GameUnderTest) -> None:
    module, position = module_of(game), game.reference.start()
    selection = Selection(module, position)
    texts = ("hello", "1", "9 9 9 9", "-7 5")
    for text in (text for text in texts if not is_move(game, text, position)):
        assert feed(selection, *typed(text), "enter") is None
        assert selection.complaint
        assert selection.typed == text, "it can be corrected"
        assert feed(selection, *["backspace"] * len(text), "backspace") is None
        assert (selection.typed, selection.complaint) == ("", "")
    selection.feed("space")
    assert feed(selection, "tab", "backspace") is None


def test_commands_do_not_hide_moves(game: GameUnderTest) -> None:
    for module, position, _ in choosing(game, 5):
        for command in Action:
            selection = Selection(module, position)
            assert feed(selection, *selection.key_of(command)) is command
            assert selection.typed == ""
            selection.typed = "1"
            assert feed(selection, selection.key_of(command)[-1]) is None


class Initials:
    """A game's scene with moves that begin with the letters of commands."""

    def __init__(self, module: SceneModule) -> None:
        for name in ("scene", "parts", "choices", "read"):
            setattr(self, name, getattr(module, name))
        self._write = module.write

    def write(self, move: Move, position: Position) -> str:
        return f"Q U L {self._write(move, position)}"


def test_letters_that_begin_a_move_are_typed(game: GameUnderTest) -> None:
    module = cast("SceneModule", Initials(module_of(game)))
    selection = Selection(module, game.reference.start())
    assert feed(selection, *"ulq") is None
    assert selection.typed == "ulq"
    selection.feed("escape")
    assert selection.key_of(Action.LEAVE) == f"{ESCAPED}q"
    assert feed(selection, ESCAPED, "q") is Action.LEAVE


class Keys(Keyboard):
    """A keyboard with these key presses, then Ctrl-C."""

    def __init__(self, *keys: str) -> None:
        super().__init__()
        self._keys = list(keys)

    def key(self) -> str:
        if not self._keys:
            raise KeyboardInterrupt
        return self._keys.pop(0)


def test_a_human_asks_for_help_and_plays(
    game: GameUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, position = module_of(game), game.reference.start()
    first = position.legal()[-1]
    after = position.play(first)
    move = after.legal()[-1]
    monkeypatch.setattr(human, "hint", lambda *_: move)
    wanted = [  # by the human on each turn
        [*typed(module.write(first, position)), "enter"],
        ["?", "l", "u", "u", "q"],
    ]
    known = games.load(game.name)
    console = Console(width=120, height=60, record=True, force_terminal=True, highlight=False)
    choose = move_chooser(console, Keys(*(key for keys in wanted for key in keys)))
    seats = [PersonSeat(choose) for _ in range(known.info.players)]
    names = ["human"] * len(seats)
    with (
        Match(known, seats, names, table_rules(known.info), Start(0, {})) as match,
        console.capture() as screen,
        pytest.raises(KeyboardInterrupt),
    ):
        match.play_out()
    assert match.turns == []
    shown = screen.get()
    for words in (
        game.info.title,
        "human",
        f"hint: {module.write(move, after)}",
        f"0. {known.label(position.to_move)} human: {module.write(first, position)}",
        "no move can be taken back here",
    ):
        assert words in shown


def test_a_human_takes_moves_back_and_leaves(game: GameUnderTest) -> None:
    module, known = module_of(game), games.load(game.name)
    text = [*typed(module.write(game.reference.start().legal()[-1], game.reference.start()))]
    console = Console(width=120, height=60, record=True, force_terminal=True, highlight=False)
    seats: list[Seat | None] = [
        PersonSeat(move_chooser(console, Keys("l", *text, "enter", "u", "l")))
    ]
    seats += [EngineSeat(game.name, "random", 1) for _ in range(known.info.players - 1)]
    names = ["human"] * len(seats)
    with Match(known, seats, names, table_rules(known.info), Start(0, {})) as match:
        with console.capture() as screen, pytest.raises(KeyboardInterrupt):
            match.play_out()
        assert match.turns == []
    assert screen.get().count("no move has been made yet") == 2
