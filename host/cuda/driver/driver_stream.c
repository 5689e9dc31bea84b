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

SAME(cuStreamCreate, cudaStreamCreateWithFlags, (struct cuda_stream * *out, unsigned flags), (out, flags))
SAME(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (struct cuda_stream * *out, unsigned flags, int priority), (out, flags, priority))
SAME_FREE(cuStreamDestroy_v2, cudaStreamDestroy, (struct cuda_stream * s), (s))
SAME(cuStreamSynchronize, cudaStreamSynchronize, (struct cuda_stream * s), (s))
SAME(cuStreamQuery, cudaStreamQuery, (struct cuda_stream * s), (s))
SAME(cuStreamWaitEvent, cudaStreamWaitEvent, (struct cuda_stream * s, struct cuda_event *e, unsigned flags),
     (s, e, flags))
SAME(cuStreamGetFlags, cudaStreamGetFlags, (const struct cuda_stream *s, unsigned *out), (s, out))
SAME(cuStreamGetPriority, cudaStreamGetPriority, (const struct cuda_stream *s, int *out), (s, out))
struct hint;
SAME(cuStreamSetAttribute, cudaStreamSetAttribute, (struct cuda_stream * s, int which, const struct hint *value),
     (s, which, value))
SAME(cuStreamGetAttribute, cudaStreamGetAttribute, (struct cuda_stream * s, int which, struct hint *out),
     (s, which, out))
SAME(cuStreamCopyAttributes, cudaStreamCopyAttributes, (struct cuda_stream * to, struct cuda_stream *from), (to, from))
SAME(cuStreamGetDevice, cudaStreamGetDevice, (const struct cuda_stream *s, int *out), (s, out))
SAME(cuStreamGetId, cudaStreamGetId, (const struct cuda_stream *s, unsigned long long *out), (s, out))
SAME(cuEventCreate, cudaEventCreateWithFlags, (struct cuda_event * *out, unsigned flags), (out, flags))
SAME_FREE(cuEventDestroy_v2, cudaEventDestroy, (struct cuda_event * e), (e))
SAME(cuEventRecord, cudaEventRecord, (struct cuda_event * e, struct cuda_stream *s), (e, s))
SAME(cuEventRecordWithFlags, cudaEventRecordWithFlags, (struct cuda_event * e, struct cuda_stream *s, unsigned flags),
     (e, s, flags))
SAME(cuEventSynchronize, cudaEventSynchronize, (struct cuda_event * e), (e))
SAME(cuEventQuery, cudaEventQuery, (struct cuda_event * e), (e))
SAME(cuEventElapsedTime, cudaEventElapsedTime, (float *out, const struct cuda_event *from, const struct cuda_event *to),
     (out, from, to))

struct cuda_node;
struct cuda_pool;
SAME(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (struct cuda_stream * s, int mode), (s, mode))
SAME(cuStreamEndCapture, cudaStreamEndCapture, (struct cuda_stream * s, struct cuda_graph **out), (s, out))
SAME(cuStreamIsCapturing, cudaStreamIsCapturing, (const struct cuda_stream *s, int *out), (s, out))
SAME(cuStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2,
     (struct cuda_stream * s, int *status, unsigned long long *id, struct cuda_graph **graph,
      struct cuda_node *const **nodes, size_t *n),
     (s, status, id, graph, nodes, n))
SAME(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3,
     (struct cuda_stream * s, int *status, unsigned long long *id, struct cuda_graph **graph,
      struct cuda_node *const **nodes, const void **edges, size_t *n),
     (s, status, id, graph, nodes, edges, n))
SAME(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int *mode), (mode))
SAME(cuGraphCreate, cudaGraphCreate, (struct cuda_graph * *out, unsigned flags), (out, flags))
SAME_FREE(cuGraphDestroy, cudaGraphDestroy, (struct cuda_graph * g), (g))
SAME(cuGraphGetNodes, cudaGraphGetNodes, (struct cuda_graph * g, struct cuda_node **out, size_t *n), (g, out, n))
SAME(cuGraphGetRootNodes, cudaGraphGetRootNodes, (struct cuda_graph * g, struct cuda_node **out, size_t *n),
     (g, out, n))
SAME(cuGraphNodeGetType, cudaGraphNodeGetType, (const struct cuda_node *n, int *out), (n, out))
SAME(cuGraphAddEmptyNode, cudaGraphAddEmptyNode,
     (struct cuda_node * *out, struct cuda_graph *g, struct cuda_node *const *before, size_t n), (out, g, before, n))
SAME(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags,
     (struct cuda_graph_exec * *out, struct cuda_graph *g, unsigned long long flags), (out, g, flags))
SAME(cuGraphUpload, cudaGraphUpload, (const struct cuda_graph_exec *x, struct cuda_stream *s), (x, s))
SAME(cuGraphLaunch, cudaGraphLaunch, (const struct cuda_graph_exec *x, struct cuda_stream *s), (x, s))
SAME_FREE(cuGraphExecDestroy, cudaGraphExecDestroy, (struct cuda_graph_exec * x), (x))
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
    enum cuda_error kept, e = driver_enter(&kept);
    e = driver_leave(e, kept);
    return e ? e : cudaLaunchHostFunc(s, call, data);
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
