# What a position costs a seat of the pool, and what its moves change. Costs are in 64ths of a move.
#
# A cost is a blend of three, by the player's row: a number for each piece's cell (steps, squares,
# ladders, staying at home), the table of triples, and the solo network.

cdef enum:
    CELLS = 100
    PIECES = 6
    PAIRS = 4950            # C(100, 2)
    ONE_MOVE = 64           # the unit of costs
    NOT_HOME = ONE_MOVE     # whoever is not at home needs one move at least
    WEIGHT_ONE = 16         # of the parts of a blend

cdef struct Tables:
    # pair[a][b] -> number of the row of the two cells; rows[pair][c] is the triple's share of
    # the moves home, in 64ths
    int16_t pair[CELLS][CELLS]
    int16_t rows[PAIRS][CELLS]
    PoolSolo solo
    uint8_t seen[SEATS][128]    # a cell code as each seat sees it: 10 * row + column

cdef struct Evaluation:
    int32_t cell[CELLS]     # as the owner sees it
    int32_t triples         # weight, in sixteenths
    int32_t solo            # weight, in sixteenths

cdef struct State:
    Board board             # its key is kept by `shift` only where asked
    int32_t cost[SEATS]
    uint8_t cells[SEATS][PIECES]    # as the owner sees them, in any order
    uint8_t count[SEATS]

cdef Tables TABLES


cdef inline int32_t triples_cost(const uint8_t* cells) noexcept nogil:
    """Moves home of six pieces by the table of triples."""
    cdef int a, b, c
    cdef int32_t total = 0
    cdef const int16_t* row
    for a in range(PIECES):
        for b in range(a):
            row = TABLES.rows[TABLES.pair[cells[a]][cells[b]]]
            for c in range(b):
                total += row[cells[c]]
    return total


cdef inline int32_t full_cost(const Evaluation* e, const State* s, int seat) noexcept nogil:
    """The seat's cost, from nothing."""
    cdef int16_t sums[POOL_HIDDEN]
    cdef int32_t total = 0
    cdef int32_t parts = 0
    cdef int i
    cdef const uint8_t* cells = s.cells[seat]
    for i in range(s.count[seat]):
        total += e.cell[cells[i]]
    if s.count[seat] == PIECES:
        if e.triples:
            parts += e.triples * triples_cost(cells)
        if e.solo:
            pool_solo_sum(&TABLES.solo, cells, PIECES, sums)
            parts += e.solo * pool_solo_moved(&TABLES.solo, sums, 0, 0)
    return total + (parts >> 4)


cdef inline void take_position(const Evaluation* e, const Board* b, State* s) noexcept nogil:
    """The state of a position."""
    cdef int seat, k, n
    cdef uint32_t pieces
    s.board = b[0]
    for seat in range(SEATS):
        n = 0
        for k in range(4):
            pieces = b.own[seat][k]
            while pieces:
                s.cells[seat][n] = TABLES.seen[seat][k << 5 | lowest_bit32(pieces)]
                n += 1
                pieces &= pieces - 1
        s.count[seat] = <uint8_t>n
        s.cost[seat] = full_cost(e, s, seat)


cdef inline int piece_at(const State* s, int seat, int cell) noexcept nogil:
    """The number of the seat's piece on a cell as it sees it."""
    cdef int i = 0
    while s.cells[seat][i] != cell:
        i += 1
    return i


cdef inline void changes(
    const Evaluation* e, const State* s, int seat, const Move* moves, int count, int32_t* change
) noexcept nogil:
    """What each of the seat's moves changes its cost by, less being better. Home is more than
    anything."""
    cdef const int16_t* rows[10]
    cdef int16_t sums[POOL_HIDDEN]
    cdef uint8_t others[PIECES]
    cdef int i, k, n, a, b, piece, start, end
    cdef int code = -1
    cdef int32_t before = 0, solo_before = 0, part
    cdef bint known = s.count[seat] == PIECES
    cdef const uint8_t* seen = TABLES.seen[seat]
    start = 0
    if known and e.solo:
        pool_solo_sum(&TABLES.solo, s.cells[seat], PIECES, sums)
        solo_before = pool_solo_moved(&TABLES.solo, sums, 0, 0)
    for i in range(count):
        if moves[i] >> 8 != code:
            code = moves[i] >> 8
            start = seen[code]
            if known and e.triples:
                piece = piece_at(s, seat, start)
                n = 0
                for k in range(PIECES):
                    if k != piece:
                        others[n] = s.cells[seat][k]
                        n += 1
                n = 0
                before = 0
                for a in range(1, PIECES - 1):
                    for b in range(a):
                        rows[n] = TABLES.rows[TABLES.pair[others[a]][others[b]]]
                        before += rows[n][start]
                        n += 1
        end = seen[moves[i] & 0xFF]
        part = 0
        if known:
            if e.triples:
                part = e.triples * (
                    rows[0][end] + rows[1][end] + rows[2][end] + rows[3][end] + rows[4][end]
                    + rows[5][end] + rows[6][end] + rows[7][end] + rows[8][end] + rows[9][end]
                    - before
                )
            if e.solo:
                part += e.solo * (
                    pool_solo_moved(&TABLES.solo, sums, start, end) - solo_before
                )
        change[i] = e.cell[end] - e.cell[start] + (part >> 4)
        if (
            s.board.penalty[seat] + <int>DISTANCE[seat][moves[i] & 0xFF]
            == <int>DISTANCE[seat][code]
        ):
            change[i] = min(change[i], -s.cost[seat]) - 2 * ONE_MOVE


cdef inline void carry(State* s, int seat, Move move, int32_t change) noexcept nogil:
    """Carry a piece of the seat; neither the turn nor the key changes."""
    cdef int start = move >> 8
    cdef int end = move & 0xFF
    cdef Board* b = &s.board
    cdef uint32_t lifted = <uint32_t>1 << (start & 31)
    cdef uint32_t placed = <uint32_t>1 << (end & 31)
    b.own[seat][start >> 5] ^= lifted
    b.occupied[start >> 5] ^= lifted
    b.own[seat][end >> 5] ^= placed
    b.occupied[end >> 5] ^= placed
    b.penalty[seat] += <int>DISTANCE[seat][end] - <int>DISTANCE[seat][start]
    s.cells[seat][piece_at(s, seat, TABLES.seen[seat][start])] = TABLES.seen[seat][end]
    s.cost[seat] += change


cdef inline void advance(State* s, Move move, int32_t change) noexcept nogil:
    """Play a move of the seat to move, or PASS_MOVE."""
    if move != PASS_MOVE:
        carry(s, s.board.ply & 3, move, change)
    s.board.ply += 1


cdef inline uint32_t chance(uint64_t* random) noexcept nogil:
    """Knuth's MMIX generator; its high bits are good enough for noise."""
    random[0] = random[0] * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
    return <uint32_t>(random[0] >> 33)
