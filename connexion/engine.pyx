"""The engine of Connexion: Monte Carlo tree search with a trained evaluation while players draw
tiles, then exact play."""

from libc.stdint cimport uint64_t
from libc.string cimport memmove

from core.native.bits cimport popcount64
from core.native.clock cimport clock_now
from connexion.nn.evaluate cimport EvaluationWeights
from connexion.ordering cimport Choice, ordered_moves
from connexion.rules cimport CELLS, MAX_MOVES, SETTLED_PLIES, Board, Position
from connexion.search cimport (
    INFINITE, SCALE, TO_THE_END, Search, search_forget, search_free, search_new, search_start,
    value_after,
)
from connexion.tree cimport Edge, Tree, best_edge, playout, tree_free, tree_new, tree_start

from connexion.clock import moves_to_go
from connexion.nn.evaluate import default_weights
from core.engine import NEW_GAME, MULTIPV, MOVES_TO_GO, SOLVE, STOP, Option, settled
from core.errors import RuleError
from core.limits import Limits, SearchInfo
from core.resource import resource

BENCH_LIMITS = Limits(nodes=2000)   # of each search of the fingerprint

cdef enum:
    # the tree search plays before this ply, the endgame search from it on
    TREE_PLIES = 50
    DEFAULT_NODES = 20_000
    AT_A_TIME = 16          # playouts between two checks of the clock; not tuned
    # limits of the endgame search before it reaches the end; not tuned:
    # root moves, the best ones by the evaluation after them
    ROOT = 30
    WIDTH = 24              # moves at other nodes, by gain and threat
    FIRST_DEPTHS = 4        # iterations before the exhaustive search
    # with this many plies left, search to the end at once; with more, after PART of the time
    SOON = 10

cdef double PART = 0.1


cdef class Engine:
    """See engine.pyi."""

    CAPABILITIES = frozenset({STOP, NEW_GAME, MOVES_TO_GO, SOLVE, MULTIPV})
    SCORE_UNIT = "points of margin in the end"
    OPTIONS = (
        Option("weights", str, "", "file of the evaluation's weights [default: the package's own]"),
        Option("hash", int, 32, "size of the endgame's transposition table, in MB", 1, 65536),
        # both: docs/experiments/011
        Option(
            "exploration", float, 10.0, "PUCT: factor of the priors, in points", 0, 1000
        ),
        Option(
            "temper", float, 10.0,
            "gap to the best move, in points of gain plus threat, at which the prior is a quarter",
            0.1, 1000
        ),
    )

    cdef Search* search
    cdef Tree* tree
    cdef EvaluationWeights weights
    cdef Choice choices[MAX_MOVES]
    cdef int values[MAX_MOVES]      # of the first choices, by the last complete iteration
    cdef int number

    def __cinit__(self, **options):
        settings = settled(Engine.OPTIONS, options)
        weights = settings["weights"]
        if weights == "":
            self.weights = default_weights()
        else:
            self.weights = EvaluationWeights(
                resource(weights) if isinstance(weights, str) else weights
            )
        self.search = search_new(self.weights.values, <uint64_t>settings["hash"] << 20)
        self.tree = tree_new(self.weights.values, settings["exploration"], settings["temper"])
        if self.search == NULL or self.tree == NULL:
            raise MemoryError

    def __dealloc__(self):
        search_free(self.search)
        tree_free(self.tree)

    def moves_to_go(self, Position position):
        # see clock.py
        return moves_to_go(position.board.ply)

    def new_game(self):
        # see engine.pyi
        search_forget(self.search)

    def stop(self):
        # see engine.pyi
        self.search.stopped = self.tree.stopped = True

    def choose(self, Position position, limits, report=None):
        # Depth: longest line of the tree; nodes: playouts. At depth 1 each move is evaluated. The
        # first iteration is always completed.
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
        # only near the end can more time decide everything
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
        # see engine.pyi
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
        """Search the tree within bounds (0: none) and return the result; some playouts are always
        made."""
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
        """Return the most visited moves of the root, by rank."""
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
        """Return the line of a move of the root."""
        cdef int seat = b.ply & 1
        move = (edge.move >> 4, edge.move & 15)
        score = b.score[seat] - b.score[1 - seat] + round(edge.total / edge.visits / SCALE)
        return SearchInfo(
            move, score, self.tree.deepest, done, clock_now() - started, (move,), rank, edge.visits
        )

    cdef int sort(self, Board* b) noexcept nogil:
        """Sort the moves by their values at depth 0, and return the value of the best one."""
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
        """Search the best moves after the first one, and move `wanted` of them to the front,
        sorted. Invalid if the search was stopped."""
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
        """Return the value of the best move from place `first` on, and move it there. If stopped:
        of the moves searched, or -INFINITE if there is none."""
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
