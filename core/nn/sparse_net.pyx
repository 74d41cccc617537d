"""Training of networks with few active inputs: a pass over samples, or over groups of them, and a
step of the optimiser. See sparse_net.h.

Written here because libraries have no kernel for it: docs/experiments/002 has the comparison with
numpy, scipy and PyTorch. Arrays come from whoever offers buffers; all functions let other threads
run.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint16_t
from libc.stdlib cimport free, malloc

cdef extern from "core/nn/sparse_net.h" nogil:
    enum:
        SPARSE_MOST_HIDDEN
        SPARSE_BLOCK
        SPARSE_MOST_GROUP
    double sparse_pass(
        const float* parameters, float* gradient, int inputs, int hidden,
        const uint16_t* active_inputs, int active,
        const float* targets, int samples, float* outputs
    ) noexcept
    double sparse_choose(
        const float* parameters, float* gradient, int inputs, int hidden,
        const uint16_t* active_inputs, int active,
        const float* targets, const int32_t* sizes, int groups, float* cells
    ) noexcept
    void sparse_step(
        float* parameters, const float* gradient, float* first, float* second, size_t count,
        float rate, float decay, float most
    ) noexcept

BLOCK = SPARSE_BLOCK
MOST_HIDDEN = SPARSE_MOST_HIDDEN


cdef int rows_of(
    const float[::1] parameters, const float[::1] gradient, int hidden,
    const uint16_t[:, ::1] inputs
) except -1:
    """How many inputs the network has. Raises ValueError where the arrays do not belong together,
    or an input is no row."""
    cdef Py_ssize_t sample, k
    cdef int rows, most = 0
    if hidden < 1 or hidden % SPARSE_BLOCK or hidden > SPARSE_MOST_HIDDEN:
        raise ValueError(
            f"hidden cells: {hidden}, not a multiple of {SPARSE_BLOCK} up to {SPARSE_MOST_HIDDEN}"
        )
    rows = <int>((parameters.shape[0] - 1) // hidden - 2)
    if rows < 1 or (rows + 2) * <size_t>hidden + 1 != <size_t>parameters.shape[0]:
        raise ValueError(
            f"{parameters.shape[0]} parameters make no network of {hidden} hidden cells"
        )
    if gradient is not None and gradient.shape[0] != parameters.shape[0]:
        raise ValueError("the gradient is not as long as the parameters")
    with nogil:
        for sample in range(inputs.shape[0]):
            for k in range(inputs.shape[1]):
                most = max(most, <int>inputs[sample, k])
    if inputs.shape[0] and most >= rows:
        raise ValueError(f"input {most} is none of {rows}")
    return rows


def run(const float[::1] parameters, float[::1] gradient, int hidden,
        const uint16_t[:, ::1] inputs, const float[::1] targets,
        float[::1] outputs=None):
    """Add the gradient of the samples' losses to `gradient` (None: leave it), write the outputs
    (None: do not); the sum of the losses.

    Raises ValueError where the arrays do not belong together, or an input is no row.
    """
    cdef int samples = <int>inputs.shape[0]
    cdef int active = <int>inputs.shape[1]
    cdef int rows = rows_of(parameters, gradient, hidden, inputs)
    cdef double loss
    if targets.shape[0] != samples or (outputs is not None and outputs.shape[0] != samples):
        raise ValueError("every sample has a target and an output")
    if samples == 0:
        return 0.0
    with nogil:
        loss = sparse_pass(
            &parameters[0], &gradient[0] if gradient is not None else NULL, rows, hidden, &inputs[
                0, 0
            ], active, &targets[0], samples,
            &outputs[0] if outputs is not None else NULL,
        )
    return loss


def choose(const float[::1] parameters, float[::1] gradient, int hidden,
           const uint16_t[:, ::1] inputs, const float[::1] targets,
           const int32_t[::1] sizes):
    """As `run`, for groups of samples of which one is chosen: the sum of the groups' losses, see
    sparse_net.h.

    Raises ValueError where the arrays do not belong together, or an input is no row.
    """
    cdef int active = <int>inputs.shape[1]
    cdef int groups = <int>sizes.shape[0]
    cdef int rows = rows_of(parameters, gradient, hidden, inputs)
    cdef Py_ssize_t total = 0
    cdef int group
    cdef float* cells
    cdef double loss
    for group in range(groups):
        if not 0 < sizes[group] <= SPARSE_MOST_GROUP:
            raise ValueError(f"a group of {sizes[group]} samples, not 1 to {SPARSE_MOST_GROUP}")
        total += sizes[group]
    if total != inputs.shape[0] or total != targets.shape[0]:
        raise ValueError("the groups have another number of samples than there are")
    if groups == 0:
        return 0.0
    cells = <float*>malloc(SPARSE_MOST_GROUP * <size_t>hidden * sizeof(float))
    if cells == NULL:
        raise MemoryError
    with nogil:
        loss = sparse_choose(
            &parameters[0], &gradient[0] if gradient is not None else NULL, rows, hidden, &inputs[
                0, 0
            ], active, &targets[0], &sizes[0],
            groups, cells,
        )
    free(cells)
    return loss


def step(
    float[::1] parameters, const float[::1] gradient, float[::1] first, float[::1] second,
    float rate, float decay, float most
):
    """One step of AdamW on these parameters: `rate` corrected for the start of the means, `decay`
    the factor that shrinks the parameters, `most` their bound. Raises ValueError where the arrays
    are not of one length."""
    cdef size_t count = parameters.shape[0]
    if not (
        count == <size_t>gradient.shape[0] == <size_t>first.shape[0] == <size_t>second.shape[0]
    ):
        raise ValueError("parameters, gradient and means are not of one length")
    if count:
        with nogil:
            sparse_step(
                &parameters[0], &gradient[0], &first[0], &second[0], count, rate, decay, most
            )
