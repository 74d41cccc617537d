# Transposition table: buckets of 4 entries; replaces the shallowest, older ones first.
#
# A file that includes this one first defines:
#   TableEntry       struct with uint64_t key, uint8_t depth, uint8_t mark and other data; with 16
#                    bytes, a bucket fills a cache line
#
# `mark` is age << 2 | bound: the age of the search that wrote the entry, and TT_EXACT, TT_LOWER or
# TT_UPPER. A bound of 0 marks an empty entry. The whole key is stored, so only a collision of all
# 64 bits returns another position's entry. The search plays a table move only if it is legal.
#
# It offers Table, tt_new, tt_free, tt_clear, tt_begin, tt_probe, tt_place, tt_bound, tt_mark.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from core.native.pages cimport prefetch, table_free, table_new

cdef enum:
    TT_EXACT = 1
    TT_LOWER = 2                # the value is at least the stored one (fail high)
    TT_UPPER = 3                # the value is at most the stored one (fail low)
    TT_BUCKET = 4               # entries that share a cache line
    TT_AGES = 64
    TT_AGED = 4                 # depth penalty of an entry per later search, in plies; not tuned

cdef struct Table:
    TableEntry* entries
    uint64_t buckets            # number of buckets, a power of two
    uint8_t age                 # number of the current search, 0 .. TT_AGES - 1


cdef inline bint tt_new(Table* t, uint64_t bytes) noexcept nogil:
    """Allocate an empty table of at most `bytes`, and at least one bucket. False: out of memory.

    The system provides pages as the search touches them.
    """
    t.buckets = 1
    t.age = 0
    while 2 * t.buckets * TT_BUCKET * sizeof(TableEntry) <= bytes:
        t.buckets *= 2
    t.entries = <TableEntry*>table_new(t.buckets * TT_BUCKET * sizeof(TableEntry))
    return t.entries != NULL


cdef inline void tt_free(Table* t) noexcept nogil:
    if t.entries != NULL:
        table_free(t.entries, t.buckets * TT_BUCKET * sizeof(TableEntry))


cdef inline void tt_clear(Table* t) noexcept nogil:
    """Empty the table."""
    memset(t.entries, 0, t.buckets * TT_BUCKET * sizeof(TableEntry))
    t.age = 0


cdef inline void tt_begin(Table* t) noexcept nogil:
    """Start a new search: all entries age."""
    t.age = (t.age + 1) % TT_AGES


cdef inline int tt_bound(const TableEntry* entry) noexcept nogil:
    return entry.mark & 3


cdef inline uint8_t tt_mark(const Table* t, int bound) noexcept nogil:
    """Return the mark of an entry that the current search writes."""
    return <uint8_t>(t.age << 2 | bound)


cdef inline void tt_prefetch(const Table* t, uint64_t key) noexcept nogil:
    """Prefetch the bucket of a position."""
    prefetch(&t.entries[(key & (t.buckets - 1)) * TT_BUCKET])


cdef inline TableEntry* tt_probe(const Table* t, uint64_t key) noexcept nogil:
    """Return the entry of a position, or NULL."""
    cdef TableEntry* bucket = &t.entries[(key & (t.buckets - 1)) * TT_BUCKET]
    cdef int i
    for i in range(TT_BUCKET):
        if bucket[i].key == key and bucket[i].mark & 3:
            return &bucket[i]
    return NULL


cdef inline TableEntry* tt_place(const Table* t, uint64_t key) noexcept nogil:
    """Return the entry to write for a position: its own, an empty one, or the shallowest of the
    bucket, with TT_AGED plies less per search of age."""
    cdef TableEntry* bucket = &t.entries[(key & (t.buckets - 1)) * TT_BUCKET]
    cdef TableEntry* entry = bucket
    cdef int i, rank, least = 1 << 20
    for i in range(TT_BUCKET):
        if bucket[i].key == key or bucket[i].mark & 3 == 0:
            return &bucket[i]
        rank = bucket[i].depth - TT_AGED * ((t.age - (bucket[i].mark >> 2)) & (TT_AGES - 1))
        if rank < least:
            least, entry = rank, &bucket[i]
    return entry
