"""Training of sparse networks; see sparse_net.h and sparse_net.pyi."""

# Libraries have no kernel for it: docs/experiments/002 compares numpy, scipy and PyTorch.
# Arrays are any buffers. All functions release the GIL.

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.stdlib cimport free, malloc

cdef extern from "core/nn/sparse_net.h" nogil:
    enum:
        SPARSE_MAX_HIDDEN
        SPARSE_BLOCK
        SPARSE_MAX_GROUP
    size_t sparse_bytes(int inputs, int hidden)
    double sparse_pass(
        const float* parameters, float* gradient, int inputs, int hidden,
        const uint16_t* active_inputs, int active, const uint8_t* buckets,
        const float* targets, int samples, float* outputs, void* buffer
    ) noexcept
    double sparse_softmax(
        const float* parameters, float* gradient, int inputs, int hidden,
        const uint16_t* active_inputs, int active,
        const float* targets, const int32_t* sizes, int groups, void* buffer
    ) noexcept
    void sparse_step(
        float* parameters, const float* gradient, float* first, float* second, size_t count,
        float rate, float decay, float most
    ) noexcept

BLOCK = SPARSE_BLOCK
MAX_HIDDEN = SPARSE_MAX_HIDDEN


cdef int rows_of(
    const float[::1] parameters, const float[::1] gradient, int hidden,
    const uint16_t[:, ::1] inputs, int bucket_count
) except -1:
    """Return the number of inputs. Raises ValueError if the arrays do not match, or an input is
    out of range."""
    cdef Py_ssize_t outputs = bucket_count * (<Py_ssize_t>hidden + 1)
    cdef Py_ssize_t sample, k
    cdef int rows, most = 0
    if hidden < 1 or hidden % SPARSE_BLOCK or hidden > SPARSE_MAX_HIDDEN:
        raise ValueError(
            f"hidden units: {hidden}, not a multiple of {SPARSE_BLOCK} up to {SPARSE_MAX_HIDDEN}"
        )
    rows = <int>((parameters.shape[0] - outputs) // hidden - 1)
    if rows < 1 or (rows + 1) * <Py_ssize_t>hidden + outputs != parameters.shape[0]:
        raise ValueError(
            f"{parameters.shape[0]} parameters do not fit a network of {hidden} hidden units"
        )
    if gradient is not None and gradient.shape[0] != parameters.shape[0]:
        raise ValueError("gradient and parameters differ in length")
    with nogil:
        for sample in range(inputs.shape[0]):
            for k in range(inputs.shape[1]):
                most = max(most, <int>inputs[sample, k])
    if inputs.shape[0] and most >= rows:
        raise ValueError(f"input {most} is out of range: there are {rows}")
    return rows


cdef void* memory(int rows, int hidden) except NULL:
    """Return working memory, to be freed by the caller. Raises MemoryError."""
    cdef void* buffer = malloc(sparse_bytes(rows, hidden))
    if buffer == NULL:
        raise MemoryError
    return buffer


def run(const float[::1] parameters, float[::1] gradient, int hidden,
        const uint16_t[:, ::1] inputs, const float[::1] targets,
        float[::1] outputs=None, const uint8_t[::1] buckets=None, int bucket_count=1):
    """See sparse_net.pyi."""
    cdef int samples = <int>inputs.shape[0]
    cdef int active = <int>inputs.shape[1]
    cdef int rows = rows_of(parameters, gradient, hidden, inputs, bucket_count)
    cdef int sample
    cdef double loss
    cdef void* buffer
    if targets.shape[0] != samples or (outputs is not None and outputs.shape[0] != samples):
        raise ValueError("samples, targets and outputs differ in number")
    if buckets is not None:
        if buckets.shape[0] != samples:
            raise ValueError("samples and buckets differ in number")
        for sample in range(samples):
            if buckets[sample] >= bucket_count:
                raise ValueError(
                    f"bucket {buckets[sample]} is out of range: there are {bucket_count}"
                )
    if samples == 0:
        return 0.0
    buffer = memory(rows, hidden)
    with nogil:
        loss = sparse_pass(
            &parameters[0], &gradient[0] if gradient is not None else NULL, rows, hidden, &inputs[
                0, 0
            ], active, &buckets[0] if buckets is not None else NULL, &targets[0], samples,
            &outputs[0] if outputs is not None else NULL, buffer,
        )
    free(buffer)
    return loss


def run_softmax(const float[::1] parameters, float[::1] gradient, int hidden,
                const uint16_t[:, ::1] inputs, const float[::1] targets,
                const int32_t[::1] sizes):
    """See sparse_net.pyi."""
    cdef int active = <int>inputs.shape[1]
    cdef int groups = <int>sizes.shape[0]
    cdef int rows = rows_of(parameters, gradient, hidden, inputs, 1)
    cdef Py_ssize_t total = 0
    cdef int group
    cdef double loss
    cdef void* buffer
    for group in range(groups):
        if not 0 < sizes[group] <= SPARSE_MAX_GROUP:
            raise ValueError(f"a group of {sizes[group]} samples, not 1 to {SPARSE_MAX_GROUP}")
        total += sizes[group]
    if total != inputs.shape[0] or total != targets.shape[0]:
        raise ValueError("the sizes of the groups do not add up to the number of samples")
    if groups == 0:
        return 0.0
    buffer = memory(rows, hidden)
    with nogil:
        loss = sparse_softmax(
            &parameters[0], &gradient[0] if gradient is not None else NULL, rows, hidden, &inputs[
                0, 0
            ], active, &targets[0], &sizes[0],
            groups, buffer,
        )
    free(buffer)
    return loss


def step(
    float[::1] parameters, const float[::1] gradient, float[::1] first, float[::1] second,
    float rate, float decay, float most
):
    """See sparse_net.pyi."""
    cdef size_t count = parameters.shape[0]
    if not (
        count == <size_t>gradient.shape[0] == <size_t>first.shape[0] == <size_t>second.shape[0]
    ):
        raise ValueError("parameters, gradient and means differ in length")
    if count:
        with nogil:
            sparse_step(
                &parameters[0], &gradient[0], &first[0], &second[0], count, rate, decay, most
            )
