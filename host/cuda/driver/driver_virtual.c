/* Functions that only the driver has: virtual memory, and streams that write values to memory or wait for values. */
#include "driver.h"

CUDA_API enum cuda_error cuMemGetAllocationGranularity(size_t *out, const struct cuda_physical_properties *p,
                                                       int recommended) {
    DRIVER_READY(cuda_physical_granularity(out, p, recommended));
}
CUDA_API enum cuda_error cuMemCreate(uint64_t *handle, size_t bytes, const struct cuda_physical_properties *p,
                                     uint64_t flags) {
    DRIVER_FREE(cuda_physical_new(handle, bytes, p, flags));
}
CUDA_API enum cuda_error cuMemRelease(uint64_t handle) { DRIVER_FREE(cuda_physical_release(handle)); }
CUDA_API enum cuda_error cuMemGetAllocationPropertiesFromHandle(struct cuda_physical_properties *out, uint64_t handle) {
    DRIVER_FREE(cuda_physical_properties(out, handle));
}
CUDA_API enum cuda_error cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags) {
    DRIVER_FREE(cuda_physical_export(out, handle, type, flags));
}
/* Imports physical memory from a file descriptor, which is the value of the pointer `file`. The caller keeps the file
 * open. */
CUDA_API enum cuda_error cuMemImportFromShareableHandle(uint64_t *out, void *file, int type) {
    DRIVER_FREE(cuda_physical_import(out, (int)(intptr_t)file, type));
}
CUDA_API enum cuda_error cuMemAddressReserve(uint64_t *out, size_t bytes, size_t align, uint64_t hint, uint64_t flags) {
    DRIVER_FREE(cuda_range_reserve(out, bytes, align, hint, flags));
}
CUDA_API enum cuda_error cuMemAddressFree(uint64_t at, size_t bytes) { DRIVER_FREE(cuda_range_free(at, bytes)); }
CUDA_API enum cuda_error cuMemMap(uint64_t at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
    DRIVER_FREE(cuda_range_map(at, bytes, offset, handle, flags));
}
CUDA_API enum cuda_error cuMemUnmap(uint64_t at, size_t bytes) { DRIVER_FREE(cuda_range_unmap(at, bytes)); }
CUDA_API enum cuda_error cuMemSetAccess(uint64_t at, size_t bytes, const struct cuda_access *a, size_t n) {
    DRIVER_FREE(cuda_range_set_access(at, bytes, a, n));
}
CUDA_API enum cuda_error cuMemGetAccess(unsigned long long *out, const struct cuda_location *where, uint64_t at) {
    DRIVER_FREE(cuda_range_access(out, where, at));
}
CUDA_API enum cuda_error cuMemRetainAllocationHandle(uint64_t *out, const void *p) {
    DRIVER_FREE(cuda_physical_retain(out, p));
}
CUDA_API enum cuda_error cuStreamWaitValue32_v2(struct cuda_stream *s, uint64_t at, uint32_t value, unsigned flags) {
    DRIVER_STREAM_BESIDE(cuda_stream_operate_one(s, WAIT_32, at, value, flags));
}
CUDA_API enum cuda_error cuStreamWaitValue64_v2(struct cuda_stream *s, uint64_t at, uint64_t value, unsigned flags) {
    DRIVER_STREAM_BESIDE(cuda_stream_operate_one(s, WAIT_64, at, value, flags));
}
CUDA_API enum cuda_error cuStreamWriteValue32_v2(struct cuda_stream *s, uint64_t at, uint32_t value, unsigned flags) {
    DRIVER_STREAM_BESIDE(cuda_stream_operate_one(s, WRITE_32, at, value, flags));
}
CUDA_API enum cuda_error cuStreamWriteValue64_v2(struct cuda_stream *s, uint64_t at, uint64_t value, unsigned flags) {
    DRIVER_STREAM_BESIDE(cuda_stream_operate_one(s, WRITE_64, at, value, flags));
}
CUDA_API enum cuda_error cuStreamBatchMemOp_v2(struct cuda_stream *s, unsigned n, const union cuda_operation *list,
                                               unsigned flags) {
    DRIVER_STREAM_BESIDE(cuda_stream_operate(s, n, list, flags));
}
