"""The fast rules of noughts and crosses."""

from libc.stdint cimport uint16_t, uint64_t

from core.native.rng cimport mix64

from core.errors import IllegalMoveError
from noughts.protocol import PASS, format_input, parse_input

cdef uint16_t LINES[8]
LINES[:] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124]
cdef enum:
    TURNS = 9
    ALL = 0o777


cdef bint has_line(uint16_t own) noexcept nogil:
    cdef int i
    for i in range(8):
        if own & LINES[i] == LINES[i]:
            return True
    return False


cdef bint over(const Board* b) noexcept nogil:
    return b.ply >= TURNS or has_line(b.own[0]) or has_line(b.own[1])


cdef void make(Board* b, int cell) noexcept nogil:
    cdef int seat = b.ply & 1
    if cell >= 0:
        b.own[seat] |= <uint16_t>(1 << cell)
        b.key ^= mix64(9 * seat + cell)
    b.key ^= mix64(18)
    b.ply += 1


cdef uint64_t full_key(const Board* b) noexcept nogil:
    cdef uint64_t key = mix64(18) if b.ply & 1 else 0
    cdef int cell, seat
    for cell in range(9):
        for seat in range(2):
            if b.own[seat] >> cell & 1:
                key ^= mix64(9 * seat + cell)
    return key


cdef uint64_t leaves(const Board* b, int depth) noexcept nogil:
    cdef Board child
    cdef uint64_t count = 0
    cdef int cell
    if depth == 0:
        return 1
    for cell in range(9):
        if not over(b) and not (b.own[0] | b.own[1]) >> cell & 1:
            child = b[0]
            make(&child, cell)
            count += leaves(&child, depth - 1)
    return count


cdef class Position:
    """An immutable position."""

    @staticmethod
    def start(int seed=0):
        return Position.__new__(Position)

    @staticmethod
    def parse(str text):
        cdef Position position = Position.__new__(Position)
        position.board.ply, cells = parse_input(text)
        for i, label in enumerate(cells):
            if label:
                position.board.own[label - 1] |= <uint16_t>(1 << <int>i)
        position.board.key = full_key(&position.board)
        return position

    @property
    def ply(self):
        return self.board.ply

    @property
    def to_move(self):
        return self.board.ply & 1

    @property
    def over(self):
        return bool(over(&self.board))

    @property
    def key(self):
        return self.board.key

    def recomputed_key(self):
        return full_key(&self.board)

    def text(self):
        first, second = self.board.own[0], self.board.own[1]
        cells = [1 if first >> i & 1 else 2 * (second >> i & 1) for i in range(9)]
        return format_input(cells, self.board.ply)

    def legal(self):
        return [] if over(&self.board) else self.pseudolegal() or [PASS]

    def pseudolegal(self):
        free = ALL & ~(self.board.own[0] | self.board.own[1])
        cells = ((column, row) for column in range(3) for row in range(3))
        return [(column, row) for column, row in cells if free >> (3 * row + column) & 1]

    def play(self, tuple move):
        cdef Position position = self.lose_turn()
        if move not in self.legal():
            raise IllegalMoveError(f"{move} is not legal here")
        if move != PASS:
            position.board = self.board
            make(&position.board, 3 * move[1] + move[0])
        return position

    def lose_turn(self):
        cdef Position position = Position.__new__(Position)
        position.board = self.board
        make(&position.board, -1)
        return position

    def scores(self):
        return int(has_line(self.board.own[0])), int(has_line(self.board.own[1]))

    def perft(self, int depth):
        return leaves(&self.board, depth)
