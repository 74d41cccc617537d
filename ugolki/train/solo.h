/* The solo distance of every placement of six pieces: the number of moves home of a player who is
   alone on the board. A breadth-first search from all placements at home computes it.

   Every move can be taken back by a move, so the shortest path home is as long as the path from
   home. A cell is 10 * row + column in the player's view. The number of a placement is the sum of
   C(cell, i + 1) over its cells in ascending order, i = 0 .. 5. There are C(100, 6) placements. */
#ifndef UGOLKI_SOLO_H
#define UGOLKI_SOLO_H

#include <stdint.h>
#include <string.h>

enum {
    SOLO_PIECES = 6,
    SOLO_CELLS = 100,
    SOLO_PLACEMENTS = 1192052400,
    SOLO_UNKNOWN = 255,
    SOLO_MAX_MOVES = 168
};

#if defined(__GNUC__)
#define SOLO_FETCH(address) __builtin_prefetch(address)
#else
#define SOLO_FETCH(address) ((void)(address))
#endif

static uint32_t solo_choose[SOLO_PIECES + 1][SOLO_CELLS + 1];
static uint8_t solo_neighbours[SOLO_CELLS][4]; /* 255: the board's edge */

static void solo_fill(void) {
    int n, k;
    for (n = 0; n <= SOLO_CELLS; n++) {
        solo_choose[0][n] = 1;
        for (k = 1; k <= SOLO_PIECES; k++) {
            /* C(n, k) = C(n - 1, k - 1) + C(n - 1, k) */
            solo_choose[k][n] = n == 0 ? 0 : solo_choose[k - 1][n - 1] + solo_choose[k][n - 1];
        }
    }
    for (n = 0; n < SOLO_CELLS; n++) {
        solo_neighbours[n][0] = (uint8_t)(n % 10 < 9 ? n + 1 : 255);
        solo_neighbours[n][1] = (uint8_t)(n % 10 > 0 ? n - 1 : 255);
        solo_neighbours[n][2] = (uint8_t)(n < 90 ? n + 10 : 255);
        solo_neighbours[n][3] = (uint8_t)(n >= 10 ? n - 10 : 255);
    }
}

static inline uint32_t solo_number(const uint8_t* cells) {
    uint32_t number = 0;
    int i;
    for (i = 0; i < SOLO_PIECES; i++) {
        number += solo_choose[i + 1][cells[i]];
    }
    return number;
}

static inline void solo_cells(uint32_t number, uint8_t* cells) {
    int i, cell = SOLO_CELLS - 1;
    for (i = SOLO_PIECES; i > 0; i--) {
        while (solo_choose[i][cell] > number) {
            cell--;
        }
        cells[i - 1] = (uint8_t)cell;
        number -= solo_choose[i][cell];
    }
}

/* Write the numbers of the placements one move away. Return the number of placements. */
static inline int solo_next(const uint8_t* cells, uint32_t* numbers) {
    uint8_t taken[SOLO_CELLS], moved[SOLO_PIECES], ends[SOLO_CELLS];
    int count = 0, piece, way;
    memset(taken, 0, sizeof taken);
    for (piece = 0; piece < SOLO_PIECES; piece++) {
        taken[cells[piece]] = 1;
    }
    for (piece = 0; piece < SOLO_PIECES; piece++) {
        const int start = cells[piece];
        uint8_t seen[SOLO_CELLS];
        int found = 0, next = 0;
        memset(seen, 0, sizeof seen);
        seen[start] = 1;
        ends[found++] = (uint8_t)start;
        while (next < found) { /* jumps from the start and from every cell that they reach */
            const int from = ends[next++];
            for (way = 0; way < 4; way++) {
                const int over = solo_neighbours[from][way];
                const int to = over == 255 ? 255 : solo_neighbours[over][way];
                if (to != 255 && over != start && taken[over] && !taken[to] && !seen[to]) {
                    seen[to] = 1;
                    ends[found++] = (uint8_t)to;
                }
            }
        }
        for (way = 0; way < 4; way++) {
            const int to = solo_neighbours[start][way];
            if (to != 255 && !taken[to]) {
                ends[found++] = (uint8_t)to; /* jumps never end next to their start: parity */
            }
        }
        for (next = 1; next < found; next++) {
            const int to = ends[next];
            int at = piece;
            memcpy(moved, cells, sizeof moved);
            while (at < SOLO_PIECES - 1 && moved[at + 1] < to) {
                moved[at] = moved[at + 1];
                at++;
            }
            while (at > 0 && moved[at - 1] > to) {
                moved[at] = moved[at - 1];
                at--;
            }
            moved[at] = (uint8_t)to;
            numbers[count++] = solo_number(moved);
        }
    }
    return count;
}

/* Search one level for the placements first .. end - 1: set the unknown neighbours of those at
   `distance` to `distance` + 1. Return the number of placements set. */
static uint64_t solo_level(uint8_t* distances, uint32_t first, uint32_t end, int distance) {
    uint32_t numbers[SOLO_MAX_MOVES], number;
    uint64_t found = 0;
    uint8_t cells[SOLO_PIECES];
    int count, i;
    for (number = first; number < end; number++) {
        if (distances[number] != distance) {
            continue;
        }
        solo_cells(number, cells);
        count = solo_next(cells, numbers);
        for (i = 0; i < count; i++) {
            SOLO_FETCH(distances + numbers[i]);
        }
        for (i = 0; i < count; i++) {
            if (distances[numbers[i]] == SOLO_UNKNOWN) {
                distances[numbers[i]] = (uint8_t)(distance + 1);
                found++;
            }
        }
    }
    return found;
}

/* Set all placements at home to 0, and all others to unknown. */
static void solo_home(uint8_t* distances) {
    uint8_t cells[SOLO_PIECES];
    int a, b, c, d, e, f;
    memset(distances, SOLO_UNKNOWN, SOLO_PLACEMENTS);
#define SOLO_AT(i) (uint8_t)(66 + (i) / 4 * 10 + (i) % 4)
    for (a = 0; a < 16; a++) {
        for (b = a + 1; b < 16; b++) {
            for (c = b + 1; c < 16; c++) {
                for (d = c + 1; d < 16; d++) {
                    for (e = d + 1; e < 16; e++) {
                        for (f = e + 1; f < 16; f++) {
                            cells[0] = SOLO_AT(a), cells[1] = SOLO_AT(b), cells[2] = SOLO_AT(c);
                            cells[3] = SOLO_AT(d), cells[4] = SOLO_AT(e), cells[5] = SOLO_AT(f);
                            distances[solo_number(cells)] = 0;
                        }
                    }
                }
            }
        }
    }
#undef SOLO_AT
}

#endif
