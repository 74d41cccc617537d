"""Every game tells what can be seen of it: it is drawn, and a person chooses any of its moves."""

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
from quartet.cli import board
from quartet.cli.keys import Keyboard
from quartet.cli.person import ACROSS, ALONG, ESCAPED, Action, PersonView, Selection, TerminalPerson
from tests.games import RANDOM_CASES, Game, load, random_games

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.rules import Move
    from core.scene import Scene, SceneModule

STEP = 7


def module_of(game: Game) -> SceneModule:
    return cast("SceneModule", registry.load(game.name, "scene"))


def sample(game: Game, count: int) -> Iterator[Position]:
    """So many reference positions, some plies apart, from random games."""
    positions = (slow for slow, _ in random_games(game, count * STEP, seed=2))
    return islice(positions, 0, count * STEP, STEP)


def open_positions(game: Game, count: int) -> Iterator[Position]:
    return (position for position in sample(game, count) if not position.over)


def names(scene: Scene) -> list[str]:
    """Of all cells, those of hands included."""
    return [cell.name for hand in scene.hands for cell in hand.cells] + [
        cell.name for cell in scene.cells
    ]


def test_cells_and_pieces(game: Game) -> None:
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


def test_what_a_move_changes_is_seen(game: Game) -> None:
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


def test_parts_lead_to_every_move_and_to_no_other(game: Game) -> None:
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


def test_what_is_written_is_read(game: Game) -> None:
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


def test_lenses_name_what_is_there(game: Game) -> None:
    module: Any = module_of(game)
    for position in sample(game, RANDOM_CASES // 200):
        known = set(names(module.scene(position)))
        shown = module.lenses(position) if hasattr(module, "lenses") else ()
        assert tuple(dict.fromkeys(lens.name for lens in shown)) == getattr(module, "LENSES", ())
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


@pytest.mark.parametrize("text", ["", "hello", "1", "9999999 1", "x" * 999, "²", "pass pass", "-"])
def test_nonsense_is_no_move(game: Game, text: str) -> None:
    with pytest.raises(TextError):
        module_of(game).read(text, game.reference.start())


def test_every_piece_is_drawn(game: Game) -> None:
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
        assert max(map(len, lines)) < 72, "who is who stands beside it"


def test_marks_change_no_text(game: Game) -> None:
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
    """Arrow keys that bring the cursor from where it is to a part."""
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
    """Feed keys; gives what the last one brought."""
    outcomes = [selection.feed(key) for key in keys]
    assert outcomes[:-1] == [None] * (len(keys) - 1)
    return outcomes[-1]


def typed(text: str) -> list[str]:
    return ["space" if character == " " else character for character in text.lower()]


def choosing(game: Game, count: int) -> Iterator[tuple[SceneModule, Position, Random]]:
    """Positions in which a person could be asked."""
    random = Random(4)
    for position in open_positions(game, count):
        yield module_of(game), position, random


def test_every_move_is_reached_by_arrow_keys(game: Game) -> None:
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


def test_every_move_is_reached_by_tab_and_by_typing(game: Game) -> None:
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


def test_escape_goes_back_at_every_depth(game: Game) -> None:
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


def test_what_cannot_be_played_is_told(game: Game) -> None:
    module, position = module_of(game), game.reference.start()
    selection = Selection(module, position)
    for text in ("hello", "1", "9 9 9 9", "-7 5"):
        assert feed(selection, *typed(text), "enter") is None
        assert selection.complaint
        assert selection.typed == text, "it can be corrected"
        assert feed(selection, *["backspace"] * len(text), "backspace") is None
        assert (selection.typed, selection.complaint) == ("", "")
    selection.feed("space")
    assert feed(selection, "tab", "backspace") is None


def test_commands_stand_in_no_moves_way(game: Game) -> None:
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


def test_letters_that_begin_a_move_are_typed(game: Game) -> None:
    module = cast("SceneModule", Initials(module_of(game)))
    selection = Selection(module, game.reference.start())
    assert feed(selection, *"ulq") is None
    assert selection.typed == "ulq"
    selection.feed("escape")
    assert selection.key_of(Action.LEAVE) == f"{ESCAPED}q"
    assert feed(selection, ESCAPED, "q") is Action.LEAVE


class Keys(Keyboard):
    """A keyboard on which these keys are pressed, then Ctrl-C."""

    def __init__(self, *keys: str) -> None:
        super().__init__()
        self._keys = list(keys)

    def key(self) -> str:
        if not self._keys:
            raise KeyboardInterrupt
        return self._keys.pop(0)


def ask(view: PersonView, *keys: str) -> tuple[Move | Action, str]:
    """What a person who presses these keys chooses, and what is on the screen until then."""
    console = Console(width=120, height=60, record=True, force_terminal=True, highlight=False)
    with console.capture() as screen:
        answer = TerminalPerson(console, Keys(*keys)).choose(view)
    return answer, screen.get()


def test_a_person_asks_and_plays(game: Game) -> None:
    module, position = module_of(game), game.reference.start()
    first = position.legal()[-1]
    after = position.play(first)
    move = after.legal()[-1]
    view = PersonView(
        title=game.info.title,
        module=module,
        position=after,
        name="2 human",
        headline="scores",
        last=module.parts(first, position),
        last_seat=position.to_move,
        history=[module.write(first, position)],
        hint=lambda: move,
    )
    answer, screen = ask(view, "?", "l", "u", *typed(module.write(move, after)), "enter")
    assert answer == move
    for words in (
        game.info.title,
        "2 human",
        "scores",
        f"hint: {module.write(move, after)}",
        f"0. {module.write(first, position)}",
        "no move can be taken back here",
    ):
        assert words in screen
    answer, _ = ask(PersonView(game.info.title, module, after, "2", can_undo=True), "u")
    assert answer is Action.UNDO
    answer, screen = ask(PersonView(game.info.title, module, after, "2"), "?", "l", *["enter"] * 3)
    assert "there are no hints here" in screen
    assert "no move has been made yet" in screen
    for leaving in (["q"], []):
        with pytest.raises(KeyboardInterrupt):
            ask(view, *leaving)
