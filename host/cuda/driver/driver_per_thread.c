/* Blocking functions of programs with a default stream for each thread: each submits its work to the default stream of
 * the calling thread, and waits for this stream. */
#include "driver.h"

typedef uint64_t device_ptr;
struct copy_2d;
enum cuda_error cuStreamSynchronize(struct cuda_stream *s);

#define OWN_STREAM_BLOCKING(name, submit, parameters, ...)                                                             \
    enum cuda_error submit(parameters, struct cuda_stream *s);                                                         \
    CUDA_API enum cuda_error name##_ptds(parameters);                                                                  \
    CUDA_API enum cuda_error name##_ptds(parameters) {                                                                 \
        const enum cuda_error e = submit(__VA_ARGS__, CUDA_OWN_STREAM);                                                \
        return e ? e : cuStreamSynchronize(CUDA_OWN_STREAM);                                                           \
    }
#define ANY     device_ptr to, device_ptr from, size_t bytes
#define TO      device_ptr to, const void *from, size_t bytes
#define FROM    void *to, device_ptr from, size_t bytes
#define FILL(t) device_ptr p, t value, size_t n
#define ROWS(t) device_ptr p, size_t pitch, t value, size_t n, size_t rows
#define COPY(n) const struct copy_##n *c

OWN_STREAM_BLOCKING(cuMemcpy, cuMemcpyAsync, ANY, to, from, bytes)
OWN_STREAM_BLOCKING(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, ANY, to, from, bytes)
OWN_STREAM_BLOCKING(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, TO, to, from, bytes)
OWN_STREAM_BLOCKING(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, FROM, to, from, bytes)
OWN_STREAM_BLOCKING(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, COPY(2d), c)
OWN_STREAM_BLOCKING(cuMemcpy2DUnaligned_v2, cuMemcpy2DAsync_v2, COPY(2d), c)
OWN_STREAM_BLOCKING(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, COPY(3d), c)
OWN_STREAM_BLOCKING(cuMemsetD8_v2, cuMemsetD8Async, FILL(unsigned char), p, value, n)
OWN_STREAM_BLOCKING(cuMemsetD16_v2, cuMemsetD16Async, FILL(unsigned short), p, value, n)
OWN_STREAM_BLOCKING(cuMemsetD32_v2, cuMemsetD32Async, FILL(unsigned), p, value, n)
OWN_STREAM_BLOCKING(cuMemsetD2D8_v2, cuMemsetD2D8Async, ROWS(unsigned char), p, pitch, value, n, rows)
OWN_STREAM_BLOCKING(cuMemsetD2D16_v2, cuMemsetD2D16Async, ROWS(unsigned short), p, pitch, value, n, rows)
OWN_STREAM_BLOCKING(cuMemsetD2D32_v2, cuMemsetD2D32Async, ROWS(unsigned), p, pitch, value, n, rows)
