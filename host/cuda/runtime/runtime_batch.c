/* The runtime API's batched copies: cudaMemcpyBatchAsync(), cudaMemcpy3DBatchAsync(). */
#include "runtime.h"

/* Returns whether the functions of this file have a pointer for the number of the failed copy before the stream. They
 * have it in CUDA 12, but not in CUDA 13. */
static bool with_index(void) { return cuda_major() == 12; }

CUDA_API enum cuda_error cudaMemcpyBatchAsync_ptsz(BATCH_PARAMETERS, void *last, struct cuda_stream *s) {
    bool index = with_index();
    RUNTIME(cuda_copy_batch(BATCH, index ? last : NULL, index ? s : last));
}
CUDA_API enum cuda_error cudaMemcpyBatchAsync(BATCH_PARAMETERS, void *last, struct cuda_stream *s) {
    if (cuda_is_legacy(with_index() ? s : last))
        NOTE(CUDA_ErrorInvalidValue);
    return cudaMemcpyBatchAsync_ptsz(BATCH_ARGUMENTS, last, s);
}
CUDA_API enum cuda_error cudaMemcpy3DBatchAsync_ptsz(size_t n, const struct cuda_box_copy *list, void *third,
                                                     void *fourth, struct cuda_stream *s) {
    bool index = with_index();
    RUNTIME(cuda_copy_boxes(n, list, index ? third : NULL, (uintptr_t)(index ? fourth : third), index ? s : fourth));
}
CUDA_API enum cuda_error cudaMemcpy3DBatchAsync(size_t n, const struct cuda_box_copy *list, void *third, void *fourth,
                                                struct cuda_stream *s) {
    if (cuda_is_legacy(with_index() ? s : fourth))
        NOTE(CUDA_ErrorInvalidValue);
    return cudaMemcpy3DBatchAsync_ptsz(n, list, third, fourth, s);
}
