"""Inputs of the networks from samples of self-play. ugolki/train/selfplay.py describes the samples,
ugolki/nn/network.h the inputs.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ugolki.nn.network cimport (
    NETWORK_ACTIVE, NETWORK_HIDDEN, NETWORK_INPUTS, NETWORK_MAX_OUTPUT, NETWORK_MAX_ROW,
    NETWORK_ONE, NETWORK_OUTPUT_ONE, NETWORK_STEPS, SOLO_INPUTS, SOLO_OUTPUT_ONE, SOLO_STEPS,
    BoardFeatures, Network, SoloNetwork, network_features, network_fill, network_inputs,
    network_logit, network_seen, network_sum, solo_output
)
from ugolki.rules cimport (
    MAX_MOVES, SEATS, Board, Move, cell_code, generate, make
)

from core.errors import TextError

cdef extern from "ugolki/train/solo.h" nogil:
    enum:
        SOLO_PIECES
        SOLO_PLACEMENTS
        SOLO_MAX_MOVES
    void solo_fill()
    uint32_t solo_number(const uint8_t* cells)
    void solo_cells(uint32_t number, uint8_t* cells)
    int solo_next(const uint8_t* cells, uint32_t* numbers)
    uint64_t solo_level(uint8_t* distances, uint32_t first, uint32_t end, int distance)
    void solo_home(uint8_t* distances)

INPUTS = NETWORK_INPUTS
ACTIVE = NETWORK_ACTIVE
HIDDEN = NETWORK_HIDDEN
ONE, OUTPUT_ONE = NETWORK_ONE, NETWORK_OUTPUT_ONE
MAX_ROW, MAX_OUTPUT = NETWORK_MAX_ROW / NETWORK_ONE, NETWORK_MAX_OUTPUT / NETWORK_OUTPUT_ONE
PLACEMENTS = SOLO_PLACEMENTS
CELLS = SOLO_INPUTS
SOLO_ONE = SOLO_OUTPUT_ONE
SOLO_STEPS_A_MOVE = SOLO_STEPS

cdef enum:
    PLY = 0
    LAST_PLY = 1
    MOVES = 3
    PIECES = 4
    PER_SEAT = 6
    NOWHERE = 255
    VISITS = 40

network_fill()
solo_fill()


cdef void read_board(const uint8_t* record, Board* b) noexcept nogil:
    """Read the pieces and the plies of a sample; key and penalties stay 0."""
    cdef int i, cell, code
    memset(b, 0, sizeof(Board))
    b.ply, b.last_ply = record[PLY], record[LAST_PLY]
    for i in range(SEATS * PER_SEAT):
        cell = record[PIECES + i]
        if cell != NOWHERE:
            code = cell_code(cell % 10, cell // 10)
            b.own[i // PER_SEAT][code >> 5] |= <uint32_t>1 << (code & 31)
            b.occupied[code >> 5] |= <uint32_t>1 << (code & 31)


cdef take_solo(bytes body, SoloNetwork* network):
    if len(body) != sizeof(SoloNetwork):
        raise TextError(f"a solo network takes {sizeof(SoloNetwork)} bytes, not {len(body)}")
    memcpy(network, <const char*>body, sizeof(SoloNetwork))


def solo_moves(bytes body, const uint8_t[:, ::1] placements, float[::1] moves):
    """Predict the solo distances of placements.

    Args:
        body: Integers of the solo network.
        placements: Six cells each, in the owner's view.
        moves: Output, in moves.

    Raises:
        TextError: `body` has the wrong size.
    """
    cdef SoloNetwork network
    cdef int16_t sums[NETWORK_HIDDEN]
    cdef uint16_t inputs[SOLO_PIECES]
    cdef Py_ssize_t i
    cdef int k
    take_solo(body, &network)
    if placements.shape[1] != SOLO_PIECES or moves.shape[0] != placements.shape[0]:
        raise ValueError("a placement is six cells, and has one number")
    for i in range(placements.shape[0]):
        for k in range(SOLO_PIECES):
            inputs[k] = placements[i, k]
            if inputs[k] >= SOLO_INPUTS:
                raise ValueError(f"there is no cell {inputs[k]}")
        network_sum(network.rows, network.bias, inputs, SOLO_PIECES, sums)
        moves[i] = <float>solo_output(&network, sums) / SOLO_STEPS


def logits(bytes body, const uint16_t[:, ::1] inputs, float[::1] outputs):
    """Compute the outputs of a value or policy network for rows of inputs.

    Args:
        body: Integers of the network.
        inputs: Numbers of the active inputs, a row each.
        outputs: Output, one logit per row.

    Raises:
        TextError: `body` has the wrong size.
    """
    cdef Network network
    cdef int16_t sums[NETWORK_HIDDEN]
    cdef Py_ssize_t i
    if len(body) != sizeof(Network):
        raise TextError(f"a network takes {sizeof(Network)} bytes, not {len(body)}")
    if inputs.shape[1] != NETWORK_ACTIVE or outputs.shape[0] != inputs.shape[0]:
        raise ValueError(f"a row has {NETWORK_ACTIVE} inputs, and one output")
    memcpy(&network, <const char*>body, sizeof(Network))
    for i in range(inputs.shape[0]):
        network_sum(network.rows, network.bias, &inputs[i, 0], NETWORK_ACTIVE, sums)
        outputs[i] = <float>network_logit(&network, sums) / NETWORK_STEPS


def table_begin(uint8_t[::1] distances):
    """Initialise the table of solo distances: 0 for the placements at home, unknown for all others.
    Raises ValueError for a wrong size."""
    if distances.shape[0] != SOLO_PLACEMENTS:
        raise ValueError(f"there are {SOLO_PLACEMENTS} placements, not {distances.shape[0]}")
    with nogil:
        solo_home(&distances[0])


def table_level(uint8_t[::1] distances, uint32_t first, uint32_t end, int distance):
    """Set the unknown neighbours of the placements first .. end - 1 at `distance` to `distance` +
    1. Return True if there was one.

    Threads may work on different parts of one level: they all write the same number.
    """
    cdef uint64_t found
    if distances.shape[0] != SOLO_PLACEMENTS or end > SOLO_PLACEMENTS:
        raise ValueError(f"there are {SOLO_PLACEMENTS} placements")
    with nogil:
        found = solo_level(&distances[0], first, end, distance)
    return found > 0


def numbers_of(const uint8_t[:, ::1] placements, uint32_t[::1] numbers):
    """Write the numbers of placements, each six different cells in ascending order."""
    cdef Py_ssize_t i
    if placements.shape[1] != SOLO_PIECES or numbers.shape[0] != placements.shape[0]:
        raise ValueError("a placement is six cells, and has one number")
    for i in range(placements.shape[0]):
        numbers[i] = solo_number(&placements[i, 0])


def neighbours(cells):
    """Return the placements one move away, as sorted tuples; for tests."""
    cdef uint8_t own[SOLO_PIECES]
    cdef uint32_t numbers[SOLO_MAX_MOVES]
    cdef int i, count
    for i in range(SOLO_PIECES):
        own[i] = cells[i]
    count = solo_next(own, numbers)
    found = []
    for i in range(count):
        solo_cells(numbers[i], own)
        found.append(tuple([own[k] for k in range(SOLO_PIECES)]))
    return found


def seats_of(
    bytes solo, const uint8_t[:, ::1] records, const long long[::1] chosen, uint8_t[:, ::1] playing,
    uint16_t[:, ::1] inputs
):
    """Write the inputs of the value network, one row per seat that plays. Return the number of
    rows.

    Args:
        solo: Integers of the solo network.
        records: The samples.
        chosen: Numbers of the samples to read.
        playing: Output, shape (chosen, 4): 1 for a seat that plays.
        inputs: Output, with room for four rows per position.

    Raises:
        TextError: `solo` has the wrong size.
    """
    cdef SoloNetwork network
    cdef BoardFeatures board_features
    cdef Board board
    cdef Py_ssize_t i
    cdef int seat
    cdef int count = 0
    take_solo(solo, &network)
    with nogil:
        for i in range(chosen.shape[0]):
            read_board(&records[chosen[i], 0], &board)
            network_features(&network, board.own, &board_features)
            for seat in range(SEATS):
                playing[i, seat] = records[chosen[i], PIECES + PER_SEAT * seat] != NOWHERE
                if playing[i, seat]:
                    network_inputs(
                        &board_features, seat, board.ply, board.last_ply, &inputs[count, 0]
                    )
                    count += 1
    return count


def moves_of(
    bytes solo, const uint8_t[:, ::1] records, const long long[
        ::1
    ] chosen, int[::1] sizes, float[::1] visits, uint16_t[:, ::1] inputs
):
    """Write the inputs of the policy network, one row per legal move: the position after it, in the
    mover's view. Return the number of rows.

    Args:
        solo: Integers of the solo network.
        records: The samples.
        chosen: Numbers of the samples to read.
        sizes: Output, the number of moves per position; 0 if `inputs` has no room for them.
        visits: Output, the visits of each move, not normalised.
        inputs: Output, the rows.

    Raises:
        TextError: `solo` has the wrong size.
    """
    cdef SoloNetwork network
    cdef BoardFeatures board_features
    cdef Board board
    cdef Board child
    cdef Move moves[MAX_MOVES]
    cdef const uint8_t* record
    cdef Py_ssize_t i
    cdef int seat, number, move, j, start, end
    cdef int count = 0
    take_solo(solo, &network)
    with nogil:
        for i in range(chosen.shape[0]):
            record = &records[chosen[i], 0]
            read_board(record, &board)
            seat = board.ply & 3
            number = generate(&board, seat, moves)
            if count + number > inputs.shape[0]:
                sizes[i] = 0
                continue
            sizes[i] = number
            for move in range(number):
                child = board
                make(&child, moves[move])
                network_features(&network, child.own, &board_features)
                network_inputs(&board_features, seat, child.ply, child.last_ply, &inputs[count, 0])
                start, end = network_seen[0][moves[move] >> 8], network_seen[0][moves[move] & 0xFF]
                visits[count] = 0
                for j in range(record[MOVES]):
                    if record[VISITS + 3 * j] == start and record[VISITS + 3 * j + 1] == end:
                        visits[count] = record[VISITS + 3 * j + 2]
                count += 1
    return count
