"""How many threads of this process can run at once."""

cdef extern from "core/native/cores.h" nogil:
    int cores_usable() noexcept
