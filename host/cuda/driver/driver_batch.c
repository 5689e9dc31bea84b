/* The driver's functions for batches of copies. */
#include "driver.h"

CUDA_API enum cuda_error cuMemcpyBatchAsync_ptsz(BATCH_PARAMETERS, size_t *failed, struct cuda_stream *s) {
    DRIVER(cuda_copy_batch(BATCH, failed, s));
}
CUDA_API enum cuda_error cuMemcpyBatchAsync(BATCH_PARAMETERS, size_t *failed, struct cuda_stream *s) {
    return cuda_is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpyBatchAsync_ptsz(BATCH_ARGUMENTS, failed, s);
}
CUDA_API enum cuda_error cuMemcpyBatchAsync_v2_ptsz(BATCH_PARAMETERS, struct cuda_stream *s) {
    DRIVER(cuda_copy_batch(BATCH, NULL, s));
}
CUDA_API enum cuda_error cuMemcpyBatchAsync_v2(BATCH_PARAMETERS, struct cuda_stream *s) {
    return cuda_is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpyBatchAsync_v2_ptsz(BATCH_ARGUMENTS, s);
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync_ptsz(size_t n, const struct cuda_box_copy *list, size_t *failed,
                                                   unsigned long long flags, struct cuda_stream *s) {
    DRIVER(cuda_copy_boxes(n, list, failed, flags, s));
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync(size_t n, const struct cuda_box_copy *list, size_t *failed,
                                              unsigned long long flags, struct cuda_stream *s) {
    return cuda_is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpy3DBatchAsync_ptsz(n, list, failed, flags, s);
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync_v2_ptsz(size_t n, const struct cuda_box_copy *list,
                                                      unsigned long long flags, struct cuda_stream *s) {
    DRIVER(cuda_copy_boxes(n, list, NULL, flags, s));
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync_v2(size_t n, const struct cuda_box_copy *list, unsigned long long flags,
                                                 struct cuda_stream *s) {
    return cuda_is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpy3DBatchAsync_v2_ptsz(n, list, flags, s);
}
