/* What the evaluation takes for equal. */
#ifndef CONNEXION_BUCKETS_H
#define CONNEXION_BUCKETS_H

#include <stdint.h>

/* By how much a margin changes, from -64 on: up to -16, -9, -4, -1, 0, 3, 6, 10, 15, 22, 31, and
   more. */
static const uint8_t LEAD_BUCKET[128] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
    0,  0,  0,  0,  0,  1,  1,  1,  1,  1,  1,  1,  2,  2,  2,  2,  2,  3,  3,  3,  4,  5,
    5,  5,  6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  8,  9,  9,  9,  9,  9,  9,  9,  10,
    10, 10, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
};

/* The tiles of a pattern, and of a colour, in a multiset of tiles (see rules.pxd). */
static const uint32_t ALIKE[2][4] = {
    {0x03030303, 0x0c0c0c0c, 0x30303030, 0xc0c0c0c0},
    {0x000000ff, 0x0000ff00, 0x00ff0000, 0xff000000},
};

#endif
