# A transposition table: one memory, one way to look, one way to replace. Entries differ by game.
#
# Who includes this file defines before:
#   TableEntry       a struct with uint64_t key, uint8_t depth, uint8_t mark, and whatever else is
#                    kept; with 16 bytes a bucket fills a cache line
#
# `mark` is the age of the search that wrote the entry << 2 | TT_EXACT, TT_AT_LEAST or TT_AT_MOST;
# a bound of 0 means that the entry is empty.
#
# It offers Table, tt_new, tt_free, tt_clear, tt_begin, tt_probe, tt_place, tt_bound, tt_mark.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from core.native.pages cimport prefetch, table_free, table_new

cdef enum:
    TT_EXACT = 1
    TT_AT_LEAST = 2
    TT_AT_MOST = 3
    TT_BUCKET = 4               # entries that share a cache line
    TT_AGES = 64
    TT_AGED = 4                 # plies that an entry counts as shallower for each later search

cdef struct Table:
    TableEntry* entries
    uint64_t buckets            # their number is a power of two
    uint8_t age                 # of the search at work, 0 .. TT_AGES - 1


cdef inline bint tt_new(Table* t, uint64_t bytes) noexcept nogil:
    """An empty table of at most that size, but for one bucket; False where memory is short. Its
    pages are touched only as a search grows."""
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
    """Make the table as good as new."""
    memset(t.entries, 0, t.buckets * TT_BUCKET * sizeof(TableEntry))
    t.age = 0


cdef inline void tt_begin(Table* t) noexcept nogil:
    """Another search begins: what is there grows older."""
    t.age = (t.age + 1) % TT_AGES


cdef inline int tt_bound(const TableEntry* entry) noexcept nogil:
    return entry.mark & 3


cdef inline uint8_t tt_mark(const Table* t, int bound) noexcept nogil:
    """The mark of an entry that the search at work writes."""
    return <uint8_t>(t.age << 2 | bound)


cdef inline void tt_prefetch(const Table* t, uint64_t key) noexcept nogil:
    """The position's bucket is wanted soon."""
    prefetch(&t.entries[(key & (t.buckets - 1)) * TT_BUCKET])


cdef inline TableEntry* tt_probe(const Table* t, uint64_t key) noexcept nogil:
    """The entry of a position, or NULL."""
    cdef TableEntry* bucket = &t.entries[(key & (t.buckets - 1)) * TT_BUCKET]
    cdef int i
    for i in range(TT_BUCKET):
        if bucket[i].key == key and bucket[i].mark & 3:
            return &bucket[i]
    return NULL


cdef inline TableEntry* tt_place(const Table* t, uint64_t key) noexcept nogil:
    """Where to write what is known of a position: its entry, or an empty one, or the shallowest of
    the bucket, where an entry of an older search counts as shallower."""
    cdef TableEntry* bucket = &t.entries[(key & (t.buckets - 1)) * TT_BUCKET]
    cdef TableEntry* entry = bucket
    cdef int i, worth, least = 1 << 20
    for i in range(TT_BUCKET):
        if bucket[i].key == key or bucket[i].mark & 3 == 0:
            return &bucket[i]
        worth = bucket[i].depth - TT_AGED * ((t.age - (bucket[i].mark >> 2)) & (TT_AGES - 1))
        if worth < least:
            least, entry = worth, &bucket[i]
    return entry
