"""The engine of Connexion: Monte Carlo tree search over a learned evaluation while tiles are drawn,
then exact play."""

from libc.stdint cimport uint64_t
from libc.string cimport memmove

from core.native.bits cimport popcount64
from core.native.clock cimport clock_now
from connexion.nn.evaluate cimport Weights
from connexion.ordering cimport Choice, ordered_moves
from connexion.rules cimport CELLS, MAX_MOVES, SETTLED_PLIES, Board, Position
from connexion.search cimport (
    INFINITE, SCALE, TO_THE_END, Search, search_forget, search_free, search_new, search_start,
    value_after,
)
from connexion.tree cimport Edge, Tree, best_edge, playout, tree_free, tree_new, tree_start

from connexion.clock import pace
from connexion.nn.evaluate import default_weights
from core.engine import FORGET, MULTIPV, PACE, SOLVE, STOP, Option, settled
from core.errors import RuleError
from core.limits import Limits, SearchInfo
from core.resource import resource

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

    CAPABILITIES = frozenset({STOP, FORGET, PACE, SOLVE, MULTIPV})
    SCORE_UNIT = "points of margin in the end"
    OPTIONS = (
        Option("weights", str, "", "file of weights"),
        Option("hash", int, 32, "transposition table of the search to the end, in MB", 1, 65536),
        Option(
            "exploration", float, 10.0, "PUCT: what a prior is multiplied by, in points", 0, 1000
        ),
        Option(
            "temper", float, 10.0,
            "points of gain and threat less by which a move's prior is a quarter", 0.1, 1000
        ),
    )

    cdef Search* search
    cdef Tree* tree
    cdef Weights weights
    cdef Choice choices[MAX_MOVES]
    cdef int values[MAX_MOVES]      # of the first choices, by the iteration that has ended
    cdef int number

    def __cinit__(self, **options):
        settings = settled(Engine.OPTIONS, options)
        weights = settings["weights"]
        if weights == "":
            self.weights = default_weights()
        else:
            self.weights = Weights(resource(weights) if isinstance(weights, str) else weights)
        self.search = search_new(self.weights.values, <uint64_t>settings["hash"] << 20)
        self.tree = tree_new(self.weights.values, settings["exploration"], settings["temper"])
        if self.search == NULL or self.tree == NULL:
            raise MemoryError

    def __dealloc__(self):
        search_free(self.search)
        tree_free(self.tree)

    def pace(self, Position position):
        """For how many moves like this one the clock is to last."""
        return pace(position.board.ply)

    def forget(self):
        """Begin a new game: nothing is known of what was solved before."""
        search_forget(self.search)

    def stop(self):
        """End the search that runs in another thread; it returns what it has found."""
        self.search.stopped = self.tree.stopped = True

    def choose(self, Position position, limits, report=None):
        """The best move found; `report` is called after every iteration. See `core.engine.Engine`.

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
        cdef int wanted
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
                limits.depth or 0, limits.multipv, started, report
            )
        search_start(s)
        s.width = WIDTH
        s.max_nodes, s.deadline = 0, 0
        self.number = ordered_moves(&board, self.choices, MAX_MOVES, 1)
        wanted = min(limits.multipv, self.number)
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
                    best = self.iterate(&board, depth - 1 if depth < left else TO_THE_END, 0)
                    if wanted > 1:
                        self.find_further(
                            &board, depth - 1 if depth < left else TO_THE_END, wanted
                        )
            if best > -INFINITE:
                value = best if wanted == 1 else self.values[0]
            if s.stopped:
                break
            reached = depth
            if report is not None:
                report(self.outcome(reached, margin + round(<double>value / SCALE), started))
                for i in range(1, wanted):
                    report(
                        self.outcome(
                            reached, margin + round(<double>self.values[i] / SCALE), started, i
                        )
                    )
            if depth == 1 and board.ply < SETTLED_PLIES:
                self.number = min(self.number, ROOT)
                wanted = min(wanted, self.number)
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

    cdef outcome(self, int depth, int score, double started, int index=0):
        move = (self.choices[index].move >> 4, self.choices[index].move & 15)
        return SearchInfo(
            move, score, depth, self.search.nodes, clock_now() - started, (move,), index + 1
        )

    cdef grow(
        self, Board* b, uint64_t nodes, double deadline, int depth, int wanted, double started,
        report
    ):
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
            if (
                t.stopped or nodes and done >= nodes or deadline and clock_now() >= deadline
                or depth and t.deepest >= depth
            ):
                if report is not None and wanted > 1:
                    for line in self.lines(b, wanted, done, started):
                        report(line)
                return self.grown(b, best_edge(t), 1, done, started)
            if report is not None and done >= next_report:
                next_report *= 2
                for line in self.lines(b, wanted, done, started):
                    report(line)

    cdef list lines(self, Board* b, int wanted, uint64_t done, double started):
        """The root's moves that were visited most, by their ranks."""
        cdef Tree* t = self.tree
        cdef int i
        if wanted <= 1:
            return [self.grown(b, best_edge(t), 1, done, started)]
        edges = sorted([
            (-t.edges[i].visits, i)
            for i in range(t.nodes[0].first, t.nodes[0].first + t.nodes[0].count)
            if t.edges[i].visits
        ])
        return [
            self.grown(b, &t.edges[<int>edge], rank, done, started)
            for rank, (_, edge) in enumerate(edges[:wanted], start=1)
        ]

    cdef grown(self, Board* b, Edge* edge, int rank, uint64_t done, double started):
        """The line of a move of the root."""
        cdef int seat = b.ply & 1
        move = (edge.move >> 4, edge.move & 15)
        score = b.score[seat] - b.score[1 - seat] + round(edge.total / edge.visits / SCALE)
        return SearchInfo(
            move, score, self.tree.deepest, done, clock_now() - started, (move,), rank
        )

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
        for i in range(self.number):
            self.values[i] = self.choices[i].order
        return self.choices[0].order

    cdef void find_further(self, Board* b, int depth, int wanted) noexcept nogil:
        """Search for the best moves beside the first, and bring as many as are wanted to the head
        of the list, sorted; worthless when the search is stopped."""
        cdef Choice choice
        cdef int i, j, value
        for i in range(1, wanted):
            value = self.iterate(b, depth, i)
            if self.search.stopped:
                return
            choice = self.choices[i]
            j = i
            while j > 0 and self.values[j - 1] < value:
                self.choices[j], self.values[j] = self.choices[j - 1], self.values[j - 1]
                j -= 1
            self.choices[j], self.values[j] = choice, value

    cdef int iterate(self, Board* b, int depth, int first) noexcept nogil:
        """The value of the best move from the place `first` on, to which it comes; of what could be
        searched, or -INFINITE where nothing could."""
        cdef Choice better
        cdef int value, i
        cdef int best = -INFINITE
        for i in range(first, self.number):
            value = value_after(
                self.search, b, &self.choices[i], depth, best, INFINITE if i == first else best + 1
            )
            if i > first and value > best and not self.search.stopped:
                value = value_after(self.search, b, &self.choices[i], depth, best, INFINITE)
            if self.search.stopped:
                break
            if value > best:
                best = value
                better = self.choices[i]
                memmove(
                    &self.choices[first + 1], &self.choices[first], (i - first) * sizeof(Choice)
                )
                self.choices[first] = better
        if best > -INFINITE:
            self.values[first] = best
        return best
