/* The columns c1 .. c2 of a rectangle as a mask, bit c for column c. The index is
   c1 * (33 - c1) / 2 + c2, which ascends in (c1, c2). */
#ifndef QUARTET_APPLEGAME_COLUMNS_H
#define QUARTET_APPLEGAME_COLUMNS_H

#include <stdint.h>

#define TO(c1, c2) ((2u << (c2)) - (1u << (c1)))
static const uint32_t COLUMNS_MASK[153] = {
    TO(0, 0),   TO(0, 1),   TO(0, 2),   TO(0, 3),   TO(0, 4),   TO(0, 5),   TO(0, 6),   TO(0, 7),
    TO(0, 8),   TO(0, 9),   TO(0, 10),  TO(0, 11),  TO(0, 12),  TO(0, 13),  TO(0, 14),  TO(0, 15),
    TO(0, 16),  TO(1, 1),   TO(1, 2),   TO(1, 3),   TO(1, 4),   TO(1, 5),   TO(1, 6),   TO(1, 7),
    TO(1, 8),   TO(1, 9),   TO(1, 10),  TO(1, 11),  TO(1, 12),  TO(1, 13),  TO(1, 14),  TO(1, 15),
    TO(1, 16),  TO(2, 2),   TO(2, 3),   TO(2, 4),   TO(2, 5),   TO(2, 6),   TO(2, 7),   TO(2, 8),
    TO(2, 9),   TO(2, 10),  TO(2, 11),  TO(2, 12),  TO(2, 13),  TO(2, 14),  TO(2, 15),  TO(2, 16),
    TO(3, 3),   TO(3, 4),   TO(3, 5),   TO(3, 6),   TO(3, 7),   TO(3, 8),   TO(3, 9),   TO(3, 10),
    TO(3, 11),  TO(3, 12),  TO(3, 13),  TO(3, 14),  TO(3, 15),  TO(3, 16),  TO(4, 4),   TO(4, 5),
    TO(4, 6),   TO(4, 7),   TO(4, 8),   TO(4, 9),   TO(4, 10),  TO(4, 11),  TO(4, 12),  TO(4, 13),
    TO(4, 14),  TO(4, 15),  TO(4, 16),  TO(5, 5),   TO(5, 6),   TO(5, 7),   TO(5, 8),   TO(5, 9),
    TO(5, 10),  TO(5, 11),  TO(5, 12),  TO(5, 13),  TO(5, 14),  TO(5, 15),  TO(5, 16),  TO(6, 6),
    TO(6, 7),   TO(6, 8),   TO(6, 9),   TO(6, 10),  TO(6, 11),  TO(6, 12),  TO(6, 13),  TO(6, 14),
    TO(6, 15),  TO(6, 16),  TO(7, 7),   TO(7, 8),   TO(7, 9),   TO(7, 10),  TO(7, 11),  TO(7, 12),
    TO(7, 13),  TO(7, 14),  TO(7, 15),  TO(7, 16),  TO(8, 8),   TO(8, 9),   TO(8, 10),  TO(8, 11),
    TO(8, 12),  TO(8, 13),  TO(8, 14),  TO(8, 15),  TO(8, 16),  TO(9, 9),   TO(9, 10),  TO(9, 11),
    TO(9, 12),  TO(9, 13),  TO(9, 14),  TO(9, 15),  TO(9, 16),  TO(10, 10), TO(10, 11), TO(10, 12),
    TO(10, 13), TO(10, 14), TO(10, 15), TO(10, 16), TO(11, 11), TO(11, 12), TO(11, 13), TO(11, 14),
    TO(11, 15), TO(11, 16), TO(12, 12), TO(12, 13), TO(12, 14), TO(12, 15), TO(12, 16), TO(13, 13),
    TO(13, 14), TO(13, 15), TO(13, 16), TO(14, 14), TO(14, 15), TO(14, 16), TO(15, 15), TO(15, 16),
    TO(16, 16),
};
#undef TO

#endif
