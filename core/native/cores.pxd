"""Number of threads of this process that can run at once."""

cdef extern from "core/native/cores.h" nogil:
    int cores_usable() noexcept
