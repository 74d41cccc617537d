"""The engine of Connexion: Monte Carlo tree search over a learned evaluation while tiles are drawn,
then exact play."""

from libc.stdint cimport uint64_t
from libc.string cimport memmove

from core.native.bits cimport popcount64
from core.native.clock cimport clock_now
from connexion.nn.evaluate cimport Weights
from connexion.ordering cimport Choice, ordered_moves
from connexion.rules cimport CELLS, MAX_MOVES, SETTLED_PLIES, Board, Position
from connexion.search cimport INFINITE, SCALE, TO_THE_END, Search, search_free, search_new, search_start, value_after
from connexion.tree cimport Edge, Tree, best_edge, playout, tree_free, tree_new, tree_start

from connexion.clock import pace
from connexion.nn.evaluate import default_weights
from core.errors import RuleError
from core.limits import Limits, SearchInfo

BENCH_LIMITS = Limits(nodes=2000)
"""Of each search of the fingerprint."""

cdef enum:
    # before this ply the tree search chooses, from it on the search that goes to the end
    TREE_PLIES = 50
    DEFAULT_NODES = 20_000
    AT_A_TIME = 16          # playouts between two looks at the clock
    # What the search to the end spares itself while it does not reach it:
    # moves that are searched at all, the best ones by the evaluation after them
    ROOT = 30
    WIDTH = 24              # moves inside the tree, by gain and threat
    FIRST_DEPTHS = 4        # before everything is searched to the end
    # so many plies are searched to the end at once; more, when a part of the time has gone
    SOON = 10

cdef double PART = 0.1


cdef class Engine:
    """Chooses moves; it owns the search's memory, in which what was solved lives from choice to
    choice."""

    cdef Search* search
    cdef Tree* tree
    cdef Weights weights
    cdef Choice choices[MAX_MOVES]
    cdef int number

    def __cinit__(self, Weights weights=None):
        self.weights = default_weights() if weights is None else weights
        self.search = search_new(self.weights.values)
        self.tree = tree_new(self.weights.values)
        if self.search == NULL or self.tree == NULL:
            raise MemoryError

    def __dealloc__(self):
        search_free(self.search)
        tree_free(self.tree)

    def pace(self, Position position):
        """For how many moves like this one the clock is to last."""
        return pace(position.board.ply)

    def stop(self):
        """End the search that runs in another thread; it returns what it has found."""
        self.search.stopped = self.tree.stopped = True

    def choose(self, Position position, limits, report=None):
        """The best move found; `report` is called after every iteration. See `core.rules.Searcher`.

        The score is the margin that is expected in the end, in points.

        While tiles are drawn, its depth is that of the longest line looked at and its nodes are
        playouts; at a depth of 1 every move is tried and the evaluation asked. The first iteration
        is finished whatever the limits. Raises RuleError when the game is over.
        """
        cdef Search* s = self.search
        cdef Board board = position.board
        cdef double deadline
        cdef double started = clock_now()
        cdef int seat = board.ply & 1
        cdef int left = popcount64(board.empty)
        cdef int depth = 0, value = 0, best
        cdef int margin = board.score[seat] - board.score[1 - seat]
        if left == 0:
            raise RuleError("the game is over")
        # Only near the end can more time settle everything.
        deadline = (
            limits.deadline if limits.soft is None or board.ply >= SETTLED_PLIES else limits.soft
        ) or 0
        unlimited = limits.nodes is None and limits.deadline is None and limits.depth is None
        if board.ply < TREE_PLIES and limits.depth != 1:
            return self.grow(
                &board, limits.nodes or (DEFAULT_NODES if unlimited else 0), deadline,
                limits.depth or 0, started, report
            )
        search_start(s)
        s.width = WIDTH
        s.max_nodes, s.deadline = 0, 0
        self.number = ordered_moves(&board, self.choices, MAX_MOVES, 1)
        reached = 0
        while reached < left and (limits.depth is None or reached < limits.depth):
            depth = reached + 1
            if depth > FIRST_DEPTHS and board.ply >= SETTLED_PLIES and (
                left <= SOON
                or s.max_nodes and s.nodes > PART * s.max_nodes
                or not s.max_nodes and (
                    not s.deadline or clock_now() - started > PART * (s.deadline - started)
                )
            ):
                depth = left
            with nogil:
                if depth == 1:
                    best = self.sort(&board)
                else:
                    best = self.iterate(&board, depth - 1 if depth < left else TO_THE_END)
            if best > -INFINITE:
                value = best
            if s.stopped:
                break
            reached = depth
            if report is not None:
                report(self.outcome(reached, margin + round(<double>value / SCALE), started))
            if depth == 1 and board.ply < SETTLED_PLIES:
                self.number = min(self.number, ROOT)
            s.max_nodes = DEFAULT_NODES if unlimited else limits.nodes or 0
            s.deadline = deadline
            if s.max_nodes and s.nodes >= s.max_nodes or s.deadline and clock_now() >= s.deadline:
                break
        return self.outcome(reached, margin + round(<double>value / SCALE), started)

    def solve(self, Position position, uint64_t nodes):
        """The margin in the end, for the side to move, when both play best; None where more nodes
        would be needed, or a draw is unknown."""
        cdef int seat = position.board.ply & 1
        if position.board.empty == 0:
            return position.board.score[seat] - position.board.score[1 - seat]
        if position.board.ply < SETTLED_PLIES:
            return None
        found = self.choose(position, Limits(nodes=nodes, depth=CELLS))
        return found.score if found.depth == popcount64(position.board.empty) else None

    cdef outcome(self, int depth, int score, double started):
        move = (self.choices[0].move >> 4, self.choices[0].move & 15)
        return SearchInfo(move, score, depth, self.search.nodes, clock_now() - started, (move,))

    cdef grow(self, Board* b, uint64_t nodes, double deadline, int depth, double started, report):
        """The outcome of a tree search that is bounded where the numbers are not 0; some playouts
        are made whatever the bounds."""
        cdef Tree* t = self.tree
        cdef uint64_t done = 0
        cdef uint64_t next_report = AT_A_TIME
        cdef int _i
        tree_start(t, b)
        while True:
            with nogil:
                for _i in range(
                    AT_A_TIME if nodes == 0 else <int>min(nodes - done, <uint64_t>AT_A_TIME)
                ):
                    playout(t, b)
                    done += 1
            if t.stopped or nodes and done >= nodes or deadline and clock_now() >= deadline or depth and t.deepest >= depth:
                return self.grown(b, done, started)
            if report is not None and done >= next_report:
                next_report *= 2
                report(self.grown(b, done, started))

    cdef grown(self, Board* b, uint64_t done, double started):
        cdef Edge* edge = best_edge(self.tree)
        cdef int seat = b.ply & 1
        move = (edge.move >> 4, edge.move & 15)
        score = b.score[seat] - b.score[1 - seat] + round(edge.total / edge.visits / SCALE)
        return SearchInfo(move, score, self.tree.deepest, done, clock_now() - started, (move,))

    cdef int sort(self, Board* b) noexcept nogil:
        """Sort the moves by what they are worth with no ply after them; the value of the best
        one."""
        cdef Choice choice
        cdef int i, j
        for i in range(self.number):
            choice = self.choices[i]
            choice.order = value_after(self.search, b, &choice, 0, -INFINITE, INFINITE)
            j = i
            while j > 0 and self.choices[j - 1].order < choice.order:
                self.choices[j] = self.choices[j - 1]
                j -= 1
            self.choices[j] = choice
        return self.choices[0].order

    cdef int iterate(self, Board* b, int depth) noexcept nogil:
        """The value of the best move, which comes to lead the list; of what could be searched, or
        -INFINITE where nothing could."""
        cdef Choice better
        cdef int value, i
        cdef int best = -INFINITE
        for i in range(self.number):
            value = value_after(
                self.search, b, &self.choices[i], depth, best, INFINITE if i == 0 else best + 1
            )
            if i > 0 and value > best and not self.search.stopped:
                value = value_after(self.search, b, &self.choices[i], depth, best, INFINITE)
            if self.search.stopped:
                break
            if value > best:
                best = value
                better = self.choices[i]
                memmove(&self.choices[1], &self.choices[0], i * sizeof(Choice))
                self.choices[0] = better
        return best
