/* The blocking functions of programs with a default stream for each thread (per_thread.h). */
#include "driver.h"
#include "host/cuda/core/per_thread.h"

typedef uint64_t device_ptr;
struct copy_2d;
enum cuda_error cuStreamSynchronize(struct cuda_stream *s);

#define ANY     device_ptr to, device_ptr from, size_t bytes
#define TO      device_ptr to, const void *from, size_t bytes
#define FROM    void *to, device_ptr from, size_t bytes
#define FILL(t) device_ptr p, t value, size_t n
#define ROWS(t) device_ptr p, size_t pitch, t value, size_t n, size_t rows
#define COPY(n) const struct copy_##n *c

BLOCKING(cuStreamSynchronize, cuMemcpy, cuMemcpyAsync, ANY, to, from, bytes)
BLOCKING(cuStreamSynchronize, cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, ANY, to, from, bytes)
BLOCKING(cuStreamSynchronize, cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, TO, to, from, bytes)
BLOCKING(cuStreamSynchronize, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, FROM, to, from, bytes)
BLOCKING(cuStreamSynchronize, cuMemcpy2D_v2, cuMemcpy2DAsync_v2, COPY(2d), c)
BLOCKING(cuStreamSynchronize, cuMemcpy2DUnaligned_v2, cuMemcpy2DAsync_v2, COPY(2d), c)
BLOCKING(cuStreamSynchronize, cuMemcpy3D_v2, cuMemcpy3DAsync_v2, COPY(3d), c)
BLOCKING(cuStreamSynchronize, cuMemsetD8_v2, cuMemsetD8Async, FILL(unsigned char), p, value, n)
BLOCKING(cuStreamSynchronize, cuMemsetD16_v2, cuMemsetD16Async, FILL(unsigned short), p, value, n)
BLOCKING(cuStreamSynchronize, cuMemsetD32_v2, cuMemsetD32Async, FILL(unsigned), p, value, n)
BLOCKING(cuStreamSynchronize, cuMemsetD2D8_v2, cuMemsetD2D8Async, ROWS(unsigned char), p, pitch, value, n, rows)
BLOCKING(cuStreamSynchronize, cuMemsetD2D16_v2, cuMemsetD2D16Async, ROWS(unsigned short), p, pitch, value, n, rows)
BLOCKING(cuStreamSynchronize, cuMemsetD2D32_v2, cuMemsetD2D32Async, ROWS(unsigned), p, pitch, value, n, rows)
