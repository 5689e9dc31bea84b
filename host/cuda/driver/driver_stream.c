/* Streams and events: the runtime's, under the driver's names. */
#include "driver.h"
#include "host/cuda/runtime/runtime_api.h"

struct cuda_stream;
struct cuda_event;
struct cuda_graph;
struct cuda_graph_exec;

/* SAME(the driver's name, the runtime's, parameters, arguments) */
#define SAME(name, runtime, parameters, arguments)                                                                     \
    enum cuda_error runtime parameters;                                                                                \
    CUDA_API enum cuda_error name parameters { DRIVER(runtime arguments); }

/* The same for what gives something back. */
#define SAME_FREE(name, runtime, parameters, arguments)                                                                \
    enum cuda_error runtime parameters;                                                                                \
    CUDA_API enum cuda_error name parameters { DRIVER_FREE(runtime arguments); }
struct hint;

struct cuda_node;
struct cuda_pool;
SAME(cuMemAllocAsync, cudaMallocAsync, (void **out, size_t bytes, struct cuda_stream *s), (out, bytes, s))
SAME(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
     (void **out, size_t bytes, struct cuda_pool *pool, struct cuda_stream *s), (out, bytes, pool, s))
SAME(cuMemFreeAsync, cudaFreeAsync, (void *p, struct cuda_stream *s), (p, s))
SAME_FREE(cuMemPoolDestroy, cudaMemPoolDestroy, (struct cuda_pool * p), (p))
SAME(cuMemPoolTrimTo, cudaMemPoolTrimTo, (struct cuda_pool * p, size_t keep), (p, keep))
SAME(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (const struct cuda_pool *p, int which, void *out), (p, which, out))
SAME(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (struct cuda_pool * p, int which, const void *value),
     (p, which, value))
SAME(cuMemPoolSetAccess, cudaMemPoolSetAccess, (struct cuda_pool * p, const void *list, size_t n), (p, list, n))
SAME(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (struct cuda_pool * *out, int device), (out, device))
SAME(cuDeviceGetMemPool, cudaDeviceGetMemPool, (struct cuda_pool * *out, int device), (out, device))
SAME(cuDeviceSetMemPool, cudaDeviceSetMemPool, (int device, struct cuda_pool *p), (device, p))
struct pool_properties;
SAME(cuMemPoolCreate, cudaMemPoolCreate, (struct cuda_pool * *out, const struct pool_properties *p), (out, p))

static enum cuda_error context_of(struct cuda_context **out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = cuda_current_context;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuStreamGetCtx(struct cuda_stream *s, struct cuda_context **out) {
    (void)s;
    DRIVER(context_of(out));
}

/* The program's function may call others; so the lock is not held. */
CUDA_API enum cuda_error cuLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    bool noted = false;
    enum cuda_error kept, e = driver_enter(&kept);
    e = driver_leave(e ? e : cuda_stream_call(s, call, data, &noted), kept);
    if (!e && !noted)
        call(data);
    return e;
}
CUDA_API enum cuda_error cuStreamAddCallback(struct cuda_stream *s,
                                             void (*call)(struct cuda_stream *, enum cuda_error, void *), void *data,
                                             unsigned flags) {
    enum cuda_error kept, e = driver_enter(&kept);
    e = driver_leave(e, kept);
    if (!call || flags)
        return CUDA_ErrorInvalidValue;
    call(s, e, data);
    return CUDA_Success;
}
