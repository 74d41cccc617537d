"""Learning the evaluation's numbers from self-play, by temporal differences (Sutton 1988)."""

from libc.math cimport sqrt
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from core.native.rng cimport mix64
from connexion.nn.evaluate cimport FACTORS, NUMBERS, Terms, collect
from connexion.ordering cimport Choice, ordered_moves
from connexion.rules cimport BAG, CELLS, HAND, KINDS, MAX_MOVES, Board, Undo, clear, draw, make

from array import array

cdef enum:
    FIRST_PLIES = 2         # random plies at the start of a game


cdef class Learner:
    """The evaluation's numbers during learning, all 0 at first. A seed makes them reproducible."""

    cdef double* weights
    cdef int times[NUMBERS]         # scratch: how often a position has each; all 0
    cdef uint64_t random
    cdef public double td_lambda, explore
    cdef public int width

    def __cinit__(self, uint64_t seed, double td_lambda=0.5, double explore=0.1, int width=16):
        """Start with all numbers 0; learner.pyi describes the options."""
        self.weights = <double*>calloc(NUMBERS, sizeof(double))
        if self.weights == NULL:
            raise MemoryError
        self.random = mix64(seed)
        self.td_lambda, self.explore, self.width = td_lambda, explore, width

    def __dealloc__(self):
        free(self.weights)

    def play(self, int games, double rate):
        """Learn from self-play and return the root mean square error, in points.

        Args:
            games: Number of games.
            rate: Learning rate, 0 to 1.
        """
        cdef int _game
        cdef double squares = 0
        with nogil:
            for _game in range(games):
                squares += self.game(rate)
        return sqrt(squares / games / CELLS)

    def numbers(self):
        """Return the numbers in 1/64 points, as 16-bit words in native byte order."""
        cdef int i
        return array(
            "h", [max(-32768, min(32767, round(64 * self.weights[i]))) for i in range(NUMBERS)]
        )

    cdef uint64_t below(self, uint64_t bound) noexcept nogil:
        """Return a random number from 0 to bound - 1."""
        self.random += 1
        return mix64(self.random) % bound

    cdef double value(self, const Terms* terms) noexcept nogil:
        cdef double total = 0
        cdef int i
        for i in range(terms.count):
            total += self.weights[terms.number[i]]
        for i in range(FACTORS):
            total += self.weights[terms.first_factor + i] * terms.value[i]
        return total

    cdef int pick(self, Board* b, const Choice* choices, int number) noexcept nogil:
        """Return the index of the best choice by gain and evaluation, or of a random one."""
        cdef Undo undo
        cdef Terms terms
        cdef double value
        cdef double best = -1e9
        cdef int i, best_move = 0
        cdef Board after
        if b.ply < FIRST_PLIES or self.below(1 << 16) < self.explore * (1 << 16):
            return <int>self.below(number)
        for i in range(number):
            value = choices[i].gain
            if b.ply < CELLS - 1:
                after = b[0]
                make(&after, choices[i].move >> 4, choices[i].move & 15, &undo)
                collect(&after, &terms)
                value -= self.value(&terms)
            if value > best:
                best, best_move = value, i
        return best_move

    cdef double game(self, double rate) noexcept nogil:
        """Play a game, learn from its end to its start, and return the sum of squared errors."""
        cdef Board b
        cdef Undo undo
        cdef Choice choices[MAX_MOVES]
        cdef Terms terms[CELLS]
        cdef double values[CELLS + 1]
        cdef int gained[CELLS]
        cdef uint8_t bags[2][BAG]
        cdef uint8_t tile
        cdef int i, j, ply, seat, move, number
        cdef double outcome = 0
        cdef double squares = 0
        cdef double error, size
        clear(&b)
        for seat in range(2):
            for i in range(BAG):
                bags[seat][i] = <uint8_t>(i % KINDS)
                b.bag[seat] += <unsigned int>1 << 2 * (i % KINDS)
            for i in range(BAG - 1, 0, -1):
                j = <int>self.below(i + 1)
                tile = bags[seat][i]
                bags[seat][i] = bags[seat][j]
                bags[seat][j] = tile
            for i in range(HAND):
                draw(&b, seat, bags[seat][i])
        for ply in range(CELLS):
            seat = ply & 1
            collect(&b, &terms[ply])
            values[ply] = self.value(&terms[ply])
            number = ordered_moves(&b, choices, self.width, 1)
            move = self.pick(&b, choices, number)
            gained[ply] = choices[move].gain
            make(&b, choices[move].move >> 4, choices[move].move & 15, &undo)
            if HAND + ply // 2 < BAG:
                draw(&b, seat, bags[seat][HAND + ply // 2])
        values[CELLS] = 0
        for ply in range(CELLS - 1, -1, -1):
            outcome = gained[ply] - (
                (1 - self.td_lambda) * values[ply + 1] + self.td_lambda * outcome
            )
            error = outcome - values[ply]
            squares += error * error
            # Normalise the step by the squared input, in which numbers may occur several times.
            # Factors count less, because their multipliers are large.
            size = 0
            for i in range(terms[ply].count):
                self.times[terms[ply].number[i]] += 1
                size += 2 * self.times[terms[ply].number[i]] - 1
            for i in range(terms[ply].count):
                self.times[terms[ply].number[i]] = 0
            for i in range(FACTORS):
                size += 0.02 * terms[ply].value[i] * terms[ply].value[i]
            error *= rate / size
            for i in range(terms[ply].count):
                self.weights[terms[ply].number[i]] += error
            for i in range(FACTORS):
                self.weights[terms[ply].first_factor + i] += 0.02 * error * terms[ply].value[i]
        return squares
