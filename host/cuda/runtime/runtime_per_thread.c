/* Functions of programs with a default stream for each thread that need more than an alias (runtime_also.def): there,
 * stream 0 is the default stream of the calling thread. */
#include "host/cuda/core/per_thread.h"
#include "runtime.h"

static struct cuda_stream *own(struct cuda_stream *s) { return s ? s : CUDA_OWN_STREAM; }

enum cuda_error cudaStreamSynchronize(struct cuda_stream *s);

#define OWN_STREAM(name, parameters, ...)                                                                              \
    enum cuda_error name parameters;                                                                                   \
    CUDA_API enum cuda_error name##_ptsz parameters;                                                                   \
    CUDA_API enum cuda_error name##_ptsz parameters { return name(__VA_ARGS__); }
#define LAUNCH struct cuda_dim grid, struct cuda_dim block, void **args, size_t shared, struct cuda_stream *s

OWN_STREAM(cudaLaunchKernel, (const void *stub, LAUNCH), stub, grid, block, args, shared, own(s))
OWN_STREAM(cudaLaunchCooperativeKernel, (const void *stub, LAUNCH), stub, grid, block, args, shared, own(s))
OWN_STREAM(__cudaLaunchKernel, (struct cuda_kernel * k, LAUNCH), k, grid, block, args, shared, own(s))

#define COPY void *to, const void *from, size_t bytes, enum cuda_copy kind
#define ROWS                                                                                                           \
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, enum cuda_copy kind
#define TO      const void *symbol, const void *from, size_t bytes, size_t offset, enum cuda_copy kind
#define FROM    void *to, const void *symbol, size_t bytes, size_t offset, enum cuda_copy kind
#define FILL    void *p, int value, size_t bytes
#define FILL_2D void *p, size_t pitch, int value, size_t width, size_t rows

BLOCKING(cudaStreamSynchronize, cudaMemcpy, cudaMemcpyAsync, COPY, to, from, bytes, kind)
BLOCKING(cudaStreamSynchronize, cudaMemcpy2D, cudaMemcpy2DAsync, ROWS, to, to_pitch, from, from_pitch, width, rows,
         kind)
BLOCKING(cudaStreamSynchronize, cudaMemcpy3D, cudaMemcpy3DAsync, const struct copy_3d *c, c)
BLOCKING(cudaStreamSynchronize, cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync, TO, symbol, from, bytes, offset, kind)
BLOCKING(cudaStreamSynchronize, cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync, FROM, to, symbol, bytes, offset, kind)
BLOCKING(cudaStreamSynchronize, cudaMemset, cudaMemsetAsync, FILL, p, value, bytes)
BLOCKING(cudaStreamSynchronize, cudaMemset2D, cudaMemset2DAsync, FILL_2D, p, pitch, value, width, rows)
