"""The fast rules of Connexion: groups in a union-find structure with rollback.

    graph   0 connects equal patterns (FIRST's score), 1 connects equal colours (SECOND's score)
    tile    4 * colour + pattern, 0 .. 15; its attribute in a graph is 0 .. 3
    tiles   a multiset of tiles with at most two of a kind: two bits per kind, in 32 bits
    move    cell << 4 | tile

A Board has only public information: bags are multisets. Only the referee's Position knows the order
of draws, in fields that no search may read.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from core.native.bits cimport lowest_bit32, lowest_bit64, popcount32, popcount64
from core.native.rng cimport mix64

cdef extern from "connexion/neighbours.h" nogil:
    const uint8_t NEIGHBOUR[64][3]

ctypedef uint16_t Move
ctypedef uint32_t Tiles

cdef enum:
    CELLS = 64
    KINDS = 16
    HAND = 5
    BAG = 32
    MAX_MOVES = CELLS * HAND
    NOWHERE = 64            # a missing neighbour; never has a tile
    NO_TILE = 7             # attribute of an empty cell
    SINGLES = 0x55555555    # the lower bit of each kind
    DRAWING_PLIES = 54      # from this ply on no tile is drawn
    SETTLED_PLIES = 52      # from this ply on all draws are known

cdef struct Board:
    uint64_t empty              # bit per cell
    uint64_t cells_key          # Zobrist hash of the tiles on the board
    Tiles hand[2]               # [seat]
    Tiles bag[2]
    int score[2]                # [graph], which is the seat
    int ply
    uint8_t attribute[2][65]    # [graph][cell], NO_TILE if empty
    uint8_t parent[2][65]       # a cell of the same group, closer to its root; the root's is itself
    uint8_t size[2][65]         # tiles of the group; valid at its root only

cdef struct Link:               # how a tile joined the groups of one graph
    uint8_t root                # root of its group
    uint8_t size                # size of that group before; 0: the tile is a new root
    uint8_t joined              # number of other groups that were merged into it
    uint8_t others[3]           # their roots

cdef struct Undo:
    Link links[2]
    int score[2]


cdef inline int attribute_of(int graph, int tile) noexcept nogil:
    return tile & 3 if graph == 0 else tile >> 2


cdef inline Tiles one(int tile) noexcept nogil:
    """Return the multiset of one tile."""
    return <Tiles>1 << (2 * tile)


cdef inline Tiles kinds(Tiles tiles) noexcept nogil:
    """Return a bit, at twice the number, for each kind present."""
    return (tiles | tiles >> 1) & <Tiles>SINGLES


cdef inline int count(Tiles tiles) noexcept nogil:
    """Return the number of tiles."""
    return popcount32(tiles & <Tiles>SINGLES) + 2 * popcount32(tiles >> 1 & <Tiles>SINGLES)


cdef inline int copies(Tiles tiles, int tile) noexcept nogil:
    """Return the number of tiles of this kind."""
    return tiles >> (2 * tile) & 3


cdef inline uint64_t tile_key(int cell, int tile) noexcept nogil:
    return mix64(<uint64_t>(cell << 4 | tile))


cdef inline uint64_t board_key(const Board* b) noexcept nogil:
    """Return the hash of all public information, which includes the side to move."""
    return b.cells_key ^ mix64(<uint64_t>b.hand[0] << 32 | b.hand[1]) ^ mix64(
        ~(<uint64_t>b.bag[0] << 32 | b.bag[1])
    )


cdef inline int find(const Board* b, int graph, int cell) noexcept nogil:
    """Return the root of the group. Union by size, so it is at most four steps away."""
    while b.parent[graph][cell] != cell:
        cell = b.parent[graph][cell]
    return cell


cdef inline int gain(const Board* b, int graph, int cell, int attribute) noexcept nogil:
    """Return the growth of the graph's score if a tile of this attribute is put on the empty
    cell."""
    cdef int roots[3]
    cdef int total = 1, squares = 0, found = 0
    cdef int i, j, root, size
    for i in range(3):
        if b.attribute[graph][NEIGHBOUR[cell][i]] != attribute:
            continue
        root = find(b, graph, NEIGHBOUR[cell][i])
        for j in range(found):
            if roots[j] == root:
                break
        else:
            roots[found] = root
            found += 1
            size = b.size[graph][root]
            total += size
            squares += size * size
    return total * total - squares


cdef inline void gains(const Board* b, int graph, int cell, int* by_attribute) noexcept nogil:
    """Write `gain` for all four attributes."""
    cdef int roots[3]
    cdef int sums[4]
    cdef int squares[4]
    cdef int found = 0
    cdef int i, j, root, size, attribute, neighbour
    for i in range(4):
        sums[i] = 1
        squares[i] = 0
    for i in range(3):
        neighbour = NEIGHBOUR[cell][i]
        attribute = b.attribute[graph][neighbour]
        if attribute == NO_TILE:
            continue
        root = find(b, graph, neighbour)
        for j in range(found):
            if roots[j] == root:
                break
        else:
            roots[found] = root
            found += 1
            size = b.size[graph][root]
            sums[attribute] += size
            squares[attribute] += size * size
    for i in range(4):
        by_attribute[i] = sums[i] * sums[i] - squares[i]


cdef inline void join(Board* b, int graph, int cell, int attribute, Link* link) noexcept nogil:
    """Put a tile into one graph; update its score and its groups."""
    cdef int roots[3]
    cdef int total = 1, squares = 0, found = 0, largest = 0
    cdef int i, j, root, size
    for i in range(3):
        if b.attribute[graph][NEIGHBOUR[cell][i]] != attribute:
            continue
        root = find(b, graph, NEIGHBOUR[cell][i])
        for j in range(found):
            if roots[j] == root:
                break
        else:
            size = b.size[graph][root]
            if found and size > b.size[graph][roots[largest]]:
                largest = found
            roots[found] = root
            found += 1
            total += size
            squares += size * size
    b.attribute[graph][cell] = <uint8_t>attribute
    b.score[graph] += total * total - squares
    link.joined = 0
    if found == 0:
        link.root, link.size = <uint8_t>cell, 0
        b.parent[graph][cell] = <uint8_t>cell
        b.size[graph][cell] = 1
        return
    root = roots[largest]
    link.root, link.size = <uint8_t>root, b.size[graph][root]
    b.parent[graph][cell] = <uint8_t>root
    b.size[graph][root] = <uint8_t>total
    for i in range(found):
        if i != largest:
            b.parent[graph][roots[i]] = <uint8_t>root
            link.others[link.joined] = <uint8_t>roots[i]
            link.joined += 1


cdef inline void part(Board* b, int graph, int cell, const Link* link) noexcept nogil:
    """Undo what `join` did to the groups."""
    cdef int i
    b.attribute[graph][cell] = NO_TILE
    if link.size:
        b.size[graph][link.root] = link.size
    for i in range(link.joined):
        b.parent[graph][link.others[i]] = link.others[i]


cdef inline void make(Board* b, int cell, int tile, Undo* undo) noexcept nogil:
    """Put a tile of the hand of the side to move on an empty cell; `draw` is separate."""
    cdef int seat = b.ply & 1
    undo.score[0], undo.score[1] = b.score[0], b.score[1]
    join(b, 0, cell, tile & 3, &undo.links[0])
    join(b, 1, cell, tile >> 2, &undo.links[1])
    b.empty ^= <uint64_t>1 << cell
    b.cells_key ^= tile_key(cell, tile)
    b.hand[seat] -= one(tile)
    b.ply += 1


cdef inline void unmake(Board* b, int cell, int tile, const Undo* undo) noexcept nogil:
    """Undo `make`; `put_back` must have undone the draw."""
    b.ply -= 1
    b.hand[b.ply & 1] += one(tile)
    b.cells_key ^= tile_key(cell, tile)
    b.empty ^= <uint64_t>1 << cell
    part(b, 1, cell, &undo.links[1])
    part(b, 0, cell, &undo.links[0])
    b.score[0], b.score[1] = undo.score[0], undo.score[1]


cdef inline void draw(Board* b, int seat, int tile) noexcept nogil:
    """Move a tile from the bag to the hand."""
    b.bag[seat] -= one(tile)
    b.hand[seat] += one(tile)


cdef inline void put_back(Board* b, int seat, int tile) noexcept nogil:
    """Undo `draw`."""
    b.hand[seat] -= one(tile)
    b.bag[seat] += one(tile)


cdef inline int move_count(const Board* b) noexcept nogil:
    """Return the number of moves of the side to move."""
    return popcount64(b.empty) * popcount32(kinds(b.hand[b.ply & 1]))


cdef inline int generate(const Board* b, Move* moves) noexcept nogil:
    """Write the moves of the side to move to `moves` (room for MAX_MOVES), in ascending order;
    return their number."""
    cdef int number = 0
    cdef int cell
    cdef uint64_t cells = b.empty
    cdef Tiles hand = kinds(b.hand[b.ply & 1])
    cdef Tiles left
    while cells:
        cell = lowest_bit64(cells)
        cells &= cells - 1
        left = hand
        while left:
            moves[number] = <Move>(cell << 4 | lowest_bit32(left) >> 1)
            number += 1
            left &= left - 1
    return number


cdef void clear(Board* b) noexcept nogil


cdef class Position:
    cdef Board board                # public information
    cdef uint8_t open[2][5]         # the hands, in the order of the draws
    # the referee's: the bags in the order of the draws, last tile first
    cdef uint8_t hidden[2][32]
    cdef Position _copy(self)
