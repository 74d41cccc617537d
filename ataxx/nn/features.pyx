"""Positions of training samples, the network's inputs, and the board's eight symmetries."""

# A position has 16 bytes: the pieces of the side to move, then those of the other side, as
# little-endian words of bits row * 8 + column.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t

from ataxx.nn.evaluate cimport NETWORK_MAX_BUCKETS, NETWORK_WINDOWS, network_bucket, network_states
from ataxx.rules cimport Position


def encode(Position position):
    """See features.pyi."""
    cdef int seat = position.board.ply & 1
    cdef uint64_t own = position.board.pieces[seat]
    cdef uint64_t other = position.board.pieces[1 - seat]
    return int(own).to_bytes(8, "little") + int(other).to_bytes(8, "little")


cdef inline uint64_t word(const uint8_t* bytes) noexcept nogil:
    cdef uint64_t value = 0
    cdef int i
    for i in range(8):
        value |= <uint64_t>bytes[i] << (8 * i)
    return value


cdef inline uint64_t swap(uint64_t board, uint64_t mask, int distance) noexcept nogil:
    """Exchange the bits of `mask` with those `distance` places above them."""
    cdef uint64_t moved = (board ^ (board >> distance)) & mask
    return board ^ moved ^ (moved << distance)


cdef inline uint64_t upside_down(uint64_t board) noexcept nogil:
    """Mirror the rows: row 0 becomes row 6."""
    board = swap(board, <uint64_t>0xFF, 48)
    board = swap(board, <uint64_t>0xFF00, 32)
    return swap(board, <uint64_t>0xFF0000, 16)


cdef inline uint64_t transposed(uint64_t board) noexcept nogil:
    """Exchange rows and columns (Warren, "Hacker's Delight", 7-3)."""
    board = swap(board, <uint64_t>0x00AA00AA00AA00AA, 7)
    board = swap(board, <uint64_t>0x0000CCCC0000CCCC, 14)
    return swap(board, <uint64_t>0x00000000F0F0F0F0, 28)


cdef inline uint64_t seen(uint64_t board, int symmetry) noexcept nogil:
    """Return the board under a symmetry: bit 0 mirrors rows, bit 1 columns, bit 2 transposes."""
    if symmetry & 1:
        board = upside_down(board)
    if symmetry & 2:
        board = transposed(upside_down(transposed(board)))
    if symmetry & 4:
        board = transposed(board)
    return board


def features(
    const uint8_t[:, ::1] positions, const int64_t[::1] chosen, const uint8_t[::1] symmetries,
    uint16_t[:, ::1] inputs, uint8_t[::1] buckets
):
    """See features.pyi."""
    cdef int64_t count = chosen.shape[0]
    cdef int64_t i
    cdef int window
    cdef const uint8_t* position
    cdef uint8_t states[NETWORK_WINDOWS]
    if positions.shape[1] != 16 or inputs.shape[1] != NETWORK_WINDOWS:
        raise ValueError(f"a position must have 16 bytes and {NETWORK_WINDOWS} inputs")
    if not count == symmetries.shape[0] == inputs.shape[0] == buckets.shape[0]:
        raise ValueError("chosen positions, symmetries, inputs and buckets differ in number")
    for i in range(count):
        if not 0 <= chosen[i] < positions.shape[0]:
            raise IndexError(f"there is no position {chosen[i]}")
    with nogil:
        for i in range(count):
            position = &positions[chosen[i], 0]
            buckets[i] = <uint8_t>network_bucket(
                NETWORK_MAX_BUCKETS, word(position) | word(position + 8)
            )
            network_states(
                seen(word(position), symmetries[i]), seen(word(position + 8), symmetries[i]), states
            )
            for window in range(NETWORK_WINDOWS):
                inputs[i, window] = <uint16_t>(81 * window + states[window])
