/* Functions of programs with a default stream for each thread, whose names end with _ptsz: there, stream 0 is the
 * default stream of the calling thread. The other functions with this suffix are aliases (runtime_also.def): for them,
 * stream 0 is the default stream of all threads. */
#include "runtime.h"

enum { PER_THREAD_STREAM = 2 }; /* cudaStreamPerThread */
static struct cuda_stream *own(struct cuda_stream *s) {
    return s ? s : (struct cuda_stream *)(uintptr_t)PER_THREAD_STREAM;
}

#define OWN_STREAM(name, parameters, ...)                                                                              \
    enum cuda_error name parameters;                                                                                   \
    CUDA_API enum cuda_error name##_ptsz parameters;                                                                   \
    CUDA_API enum cuda_error name##_ptsz parameters { return name(__VA_ARGS__); }
#define LAUNCH struct cuda_dim grid, struct cuda_dim block, void **args, size_t shared, struct cuda_stream *s

OWN_STREAM(cudaLaunchKernel, (const void *stub, LAUNCH), stub, grid, block, args, shared, own(s))
OWN_STREAM(cudaLaunchCooperativeKernel, (const void *stub, LAUNCH), stub, grid, block, args, shared, own(s))
OWN_STREAM(__cudaLaunchKernel, (struct cuda_kernel * k, LAUNCH), k, grid, block, args, shared, own(s))
OWN_STREAM(cudaStreamSynchronize, (struct cuda_stream * s), own(s))
OWN_STREAM(cudaStreamQuery, (struct cuda_stream * s), own(s))
OWN_STREAM(cudaStreamWaitEvent, (struct cuda_stream * s, struct cuda_event *e, unsigned flags), own(s), e, flags)
OWN_STREAM(cudaEventRecord, (struct cuda_event * e, struct cuda_stream *s), e, own(s))
OWN_STREAM(cudaMemsetAsync, (void *p, int value, size_t bytes, struct cuda_stream *s), p, value, bytes, own(s))
OWN_STREAM(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cuda_copy kind, struct cuda_stream *s), to,
           from, bytes, kind, own(s))
