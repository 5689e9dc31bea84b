/* Stream, event and capture functions that only the runtime has. */
#include "runtime.h"

CUDA_API enum cuda_error cudaStreamCreate(struct cuda_stream **out) { RUNTIME_BESIDE(cuda_stream_new(out, 0, 0)); }
CUDA_API enum cuda_error cudaEventCreate(struct cuda_event **out) { RUNTIME_BESIDE(cuda_event_new(out, 0)); }

/* Calls `call`, a function of the program, or adds a node for it if the stream is captured. The function may call CUDA,
 * so the lock is not held while it runs. */
CUDA_API enum cuda_error cudaLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    bool captured = false;
    enum cuda_error e = cuda_enter();
    e = runtime_leave(e ? e : cuda_stream_call(s, call, data, &captured));
    if (!e && !captured)
        call(data);
    return e;
}

static enum cuda_error synchronize(struct cuda_stream *s) { RUNTIME(cuda_stream_wait(s)); }

CUDA_API enum cuda_error cudaStreamAddCallback(struct cuda_stream *s,
                                               void (*call)(struct cuda_stream *, enum cuda_error, void *), void *data,
                                               unsigned flags) {
    (void)flags;
    call(s, synchronize(s), data);
    return CUDA_Success;
}

/* Returns the state of a stream's capture. In CUDA 13 this function has the parameters of
 * cudaStreamGetCaptureInfo_v3(). In CUDA 11 and 12 it has only the first three parameters. */
CUDA_API enum cuda_error cudaStreamGetCaptureInfo(struct cuda_stream *s, int *status, unsigned long long *id,
                                                  struct cuda_graph **graph, struct cuda_node *const **nodes,
                                                  const void **edges, size_t *n) {
    if (cuda_major() < 13)
        RUNTIME(cuda_capture_info(s, status, id, NULL, NULL, NULL, NULL));
    RUNTIME(cuda_capture_info(s, status, id, graph, nodes, edges, n));
}

/* Changes the nodes that the next node of a captured stream depends on. In CUDA 13 this function has the parameters of
 * cudaStreamUpdateCaptureDependencies_v2(). In CUDA 11 and 12 it has no `edges`. */
CUDA_API enum cuda_error cudaStreamUpdateCaptureDependencies(struct cuda_stream *s, node_list nodes, const void *edges,
                                                             size_t n, unsigned flags) {
    if (cuda_major() < 13)
        RUNTIME(cuda_capture_update(s, nodes, (uintptr_t)edges, (unsigned)n));
    RUNTIME(cuda_capture_update(s, nodes, n, flags));
}
