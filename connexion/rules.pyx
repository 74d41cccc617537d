"""The fast rules of Connexion for Python, and perft; searches use rules.pxd."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from connexion.geometry import TILES
from connexion.protocol import NOT_CELL, NOT_IN_HAND, NOT_PUT, NOT_TILE, OCCUPIED
from connexion.text import format_position, parse_position
from core.errors import IllegalMoveError, RuleError


cdef void clear(Board* b) noexcept nogil:
    """Empty the board, the hands and the bags."""
    memset(b, 0, sizeof(Board))
    b.empty = ~<uint64_t>0
    memset(b.attribute, NO_TILE, sizeof(b.attribute))


cdef uint64_t full_key(const Board* b) noexcept nogil:
    """Return the key, computed from scratch."""
    cdef Board fresh = b[0]
    cdef int cell
    fresh.cells_key = 0
    for cell in range(CELLS):
        if not b.empty >> cell & 1:
            fresh.cells_key ^= tile_key(cell, b.attribute[1][cell] << 2 | b.attribute[0][cell])
    return board_key(&fresh)


cdef uint64_t count_leaves(Board* b, int depth, const uint8_t* will_draw) noexcept nogil:
    """Perft with bulk counting: moves of the last ply are counted, not made. depth >= 1.

    `will_draw` has the tile drawn after each ply from this one on, KINDS: none.
    """
    cdef Move moves[MAX_MOVES]
    cdef Undo undo
    cdef uint64_t leaves = 0
    cdef int number, i
    cdef int seat = b.ply & 1
    if depth == 1:
        return move_count(b)
    number = generate(b, moves)
    for i in range(number):
        make(b, moves[i] >> 4, moves[i] & 15, &undo)
        if will_draw[0] < KINDS:
            draw(b, seat, will_draw[0])
        leaves += count_leaves(b, depth - 1, will_draw + 1)
        if will_draw[0] < KINDS:
            put_back(b, seat, will_draw[0])
        unmake(b, moves[i] >> 4, moves[i] & 15, &undo)
    return leaves


cdef class Position:
    """An immutable position of Connexion; see rules.pyi."""

    @staticmethod
    def start(seed=0):
        from random import Random  # agents never use it: it is slow to import

        from connexion.geometry import fresh_bag
        random = Random(seed)
        bags = fresh_bag(()), fresh_bag(())
        for bag in bags:
            random.shuffle(bag)
        return Position.from_tiles((None,) * CELLS, bags)

    @staticmethod
    def parse(str text):
        return Position.from_tiles(*parse_position(text))

    @staticmethod
    def from_tiles(cells, tiles):
        # these tiles must be possible, see reference.Position
        cdef Position position = Position.__new__(Position)
        cdef Board* b = &position.board
        cdef Undo undo
        cdef int seat, cell, i, size
        clear(b)
        for cell in range(CELLS):
            if cells[cell] is not None:
                # a tile's origin does not matter: it passes through the hand of the side to move
                b.hand[b.ply & 1] += one(cells[cell])
                make(b, cell, cells[cell], &undo)
        for seat in range(2):
            size = len(tiles[seat])
            for i in range(size):
                if i < HAND:
                    position.open[seat][i] = tiles[seat][i]
                    b.hand[seat] += one(tiles[seat][i])
                else:
                    position.hidden[seat][size - 1 - i] = tiles[seat][i]
                    b.bag[seat] += one(tiles[seat][i])
        return position

    cdef Position _copy(self):
        cdef Position position = Position.__new__(Position)
        position.board = self.board
        memcpy(position.open, self.open, sizeof(self.open))
        memcpy(position.hidden, self.hidden, sizeof(self.hidden))
        return position

    @property
    def cells(self):
        cdef Board* b = &self.board
        return tuple([
            None if b.empty >> cell & 1 else b.attribute[1][cell] << 2 | b.attribute[0][cell]
            for cell in range(CELLS)
        ])

    @property
    def hands(self):
        return tuple([
            tuple([self.open[seat][i] for i in range(count(self.board.hand[seat]))])
            for seat in range(2)
        ])

    @property
    def bags(self):
        return tuple([
            tuple([i for i in range(KINDS) for _ in range(copies(self.board.bag[seat], i))])
            for seat in range(2)
        ])

    @property
    def ply(self):
        return self.board.ply

    @property
    def to_move(self):
        return self.board.ply & 1

    @property
    def over(self):
        return self.board.empty == 0

    @property
    def key(self):
        return board_key(&self.board)

    def recomputed_key(self):
        return full_key(&self.board)

    def text(self):
        hands = self.hands
        bags = [
            [self.hidden[seat][i] for i in reversed(range(count(self.board.bag[seat])))]
            for seat in range(2)
        ]
        return format_position(self.cells, ((*hands[0], *bags[0]), (*hands[1], *bags[1])))

    def legal(self):
        return self.pseudolegal()  # on a full board there are no moves

    def pseudolegal(self):
        cdef Move moves[MAX_MOVES]
        cdef int number = generate(&self.board, moves)
        return [(moves[i] >> 4, moves[i] & 15) for i in range(number)]

    def play(self, tuple move):
        cdef Position position
        cdef Board* b = &self.board
        cdef Undo undo
        cdef int seat = b.ply & 1
        cdef int held, i
        if b.empty == 0:
            raise IllegalMoveError("the game is over")
        if len(move) != 2:
            raise IllegalMoveError(f"a move is a cell and a tile, not {len(move)} numbers", NOT_PUT)
        cell, tile = move
        if cell not in range(CELLS):
            raise IllegalMoveError(f"there is no cell {cell}", NOT_CELL)
        if tile not in range(KINDS):
            raise IllegalMoveError(f"there is no tile {tile}", NOT_TILE)
        if not b.empty >> <int>cell & 1:
            raise IllegalMoveError(f"cell {cell} is not empty", OCCUPIED)
        if not copies(b.hand[seat], tile):
            raise IllegalMoveError(f"there is no {TILES[tile]} in the mover's hand", NOT_IN_HAND)
        position = self._copy()
        b = &position.board
        held = count(b.hand[seat])
        make(b, cell, tile, &undo)
        i = 0
        while position.open[seat][i] != tile:
            i += 1
        while i + 1 < held:
            position.open[seat][i] = position.open[seat][i + 1]
            i += 1
        if b.bag[seat]:
            position.open[seat][held - 1] = position.hidden[seat][count(b.bag[seat]) - 1]
            draw(b, seat, position.open[seat][held - 1])
        return position

    def lose_turn(self):
        raise RuleError("Connexion has no forfeited turns: an illegal move loses the game")

    @property
    def drawn(self):
        cdef int seat = ~self.board.ply & 1
        return self.open[seat][HAND - 1] if 0 < self.board.ply <= DRAWING_PLIES else None

    def reveal(self, drawn):
        cdef Position position
        cdef int seat = ~self.board.ply & 1
        cdef int left = count(self.board.bag[seat])
        cdef int before, i
        told = self.drawn
        if drawn == told:
            return self
        if drawn is None or told is None:
            raise RuleError(
                f"the seat that moved draws {'a tile' if drawn is None else 'nothing'} here"
            )
        if drawn not in range(KINDS):
            raise RuleError(f"there is no tile {drawn}")
        if not copies(self.board.bag[seat], drawn):
            raise RuleError(f"there is no {TILES[drawn]} left in the bag")
        position = self._copy()
        before = told
        i = left - 1
        while position.hidden[seat][i] != drawn:
            i -= 1
        position.hidden[seat][i] = before
        position.open[seat][HAND - 1] = drawn
        put_back(&position.board, seat, before)
        draw(&position.board, seat, drawn)
        return position

    def scores(self):
        return self.board.score[0], self.board.score[1]

    def perft(self, int depth):
        cdef Board board = self.board
        cdef uint8_t will_draw[64]
        cdef int left[2]
        cdef int seat, i
        if depth == 0:
            return 1
        left[0], left[1] = count(board.bag[0]), count(board.bag[1])
        for i in range(64):
            seat = (board.ply + i) & 1
            left[seat] -= 1
            will_draw[i] = self.hidden[seat][left[seat]] if left[seat] >= 0 else KINDS
        return count_leaves(&board, depth, will_draw)
