"""Weights of the network. See evaluate.pyi, evaluate.pxd and network.h."""

import os
import sys
from array import array

from libc.stdlib cimport abs

from core.native.pages cimport table_free

from core.errors import TextError
from core.nn.sealed import unseal
from core.resource import resource

LEVELS = ("plain", "sse2", "avx2", "avx512")

cdef enum:
    MAX_OUTPUT = 127       # of output weights: 255 * 127 fits int16


cdef class Weights:
    """See evaluate.pyi."""

    def __init__(self, bytes data):
        cdef const int16_t* numbers     # no memoryview: the limited API has none
        cdef bytes native
        cdef int i, hidden, buckets, bucket
        cdef long total
        self.fields, body = unseal("weights", data, "ataxx")
        shape = {name: self.fields.get(name) for name in ("inputs", "activation")}
        if shape != {"inputs": str(NETWORK_INPUTS), "activation": "screlu"}:
            raise TextError(f"the weights are for another network: {shape}")
        hidden = _count(self.fields.get("hidden"))
        if hidden == 0 or hidden % NETWORK_CHUNK or hidden > NETWORK_MAX_HIDDEN:
            raise TextError(
                f"the network has {hidden} hidden units, not a multiple of {NETWORK_CHUNK} up to "
                f"{<int>NETWORK_MAX_HIDDEN}"
            )
        buckets = _count(self.fields.get("buckets", "1"))
        if buckets == 0 or NETWORK_MAX_BUCKETS % buckets:
            raise TextError(
                f"the network has {buckets} buckets, which do not divide {<int>NETWORK_MAX_BUCKETS}"
            )
        words = 2 * hidden * (NETWORK_INPUTS + 1 + buckets)
        size = words + 4 * buckets
        if len(body) != size:
            raise TextError(
                f"the weights of {hidden} hidden units and {buckets} buckets take {size} bytes, "
                f"not {len(body)}"
            )
        native = _words(body[:words])
        numbers = <const int16_t*><const char*>native
        for bucket in range(buckets):
            total = 0
            first = hidden * (NETWORK_INPUTS + 1 + bucket)
            for i in range(first, first + hidden):
                total += abs(numbers[i])
                if abs(numbers[i]) > MAX_OUTPUT:
                    raise TextError(f"an output weight is {numbers[i]}: beyond +-{MAX_OUTPUT}")
            if total * NETWORK_ONE * NETWORK_ONE >= <long long>1 << 31:
                raise TextError(f"the output weights add up to {total}, which overflows")
        if self.network.memory != NULL:
            raise RuntimeError("weights are read once")
        if not network_take(&self.network, numbers, hidden, buckets):
            raise MemoryError
        for bucket in range(buckets):
            last = body[words + 4 * bucket : words + 4 * bucket + 4]
            self.network.output_bias[bucket] = int.from_bytes(last, "little", signed=True)
        self.use(None)

    def __dealloc__(self):
        table_free(self.network.memory, self.network.bytes)

    def use(self, level):
        cdef network_level found = NULL
        cdef int number = NETWORK_LEVELS if level is None else LEVELS.index(level) + 1
        while found == NULL and number > 0:
            number -= 1
            found = network_at(number)
            if level is not None:
                break
        if found == NULL:
            return False
        self.network.level = found
        return True

    def value(self, uint64_t own, uint64_t other):
        return evaluate(&self.network, own, other)

    def values(self, positions):
        cdef NetworkBase base
        forget_base(&base)
        return [
            evaluate_near(&self.network, &base, own, other, i % 2)
            for i, (own, other) in enumerate(positions)
        ]


def default_weights():
    global _default
    if _default is None:
        _default = Weights(resource(os.path.join(os.path.dirname(__file__), "weights.bin")))
    return _default


cdef object _default = None


def _count(text):
    return int(
        text
    ) if text is not None and text.isascii() and text.isdigit() and len(text) < 6 else 0


def _words(body):
    """Convert little-endian words to the machine's byte order."""
    if sys.byteorder == "little":
        return body
    words = array("h", body)
    words.byteswap()
    return words.tobytes()
