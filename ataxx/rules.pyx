
from ataxx import reference as R

cdef tuple move_tuple(Move move):
    if move == PASS_MOVE:
        return (-1, -1, -1, -1)
    return ((move >> 9) + 1, (move >> 6 & 7) + 1, (move >> 3 & 7) + 1, (move & 7) + 1)

cdef class Position:

    @staticmethod
    def parse(text, plies=400, halfmove_limit=0):
        return Position.of(R.Position.parse(text, plies, halfmove_limit))
    @staticmethod
    def start(seed=0, plies=400, halfmove_limit=0):
        return Position.of(R.Position.start(seed, plies, halfmove_limit))
    @staticmethod
    def of(ref):
        cdef Position p = Position.__new__(Position)
        cdef Board* b = &p.board
        p.ref = ref
        for i, c in enumerate(ref.cells):
            if c in (1, 2): b.pieces[c - 1] |= <uint64_t>1 << (i // 7 * 8 + i % 7)
            if c == 3: b.closed |= <uint64_t>1 << (i // 7 * 8 + i % 7)
        b.ply = ref.ply; b.halfmoves = ref.halfmoves; b.last_ply = ref.plies; b.halfmove_limit = ref.halfmove_limit
        return p
    @property
    def ply(self): return self.board.ply
    @property
    def to_move(self): return self.board.ply & 1
    @property
    def over(self): return bool(over(&self.board))
    def text(self): return self.ref.text()
    def legal(self): return self.ref.legal()
    def scores(self): return self.ref.scores()
    def play(self, move):
        return Position.of(self.ref._after(self.ref.canonical(move)))
