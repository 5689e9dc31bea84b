/* Stream, event and capture functions that only the runtime has. */
#include "runtime.h"

CUDA_API enum cuda_error cudaStreamCreate(struct cuda_stream **out) { RUNTIME_BESIDE(cuda_stream_new(out, 0, 0)); }
CUDA_API enum cuda_error cudaEventCreate(struct cuda_event **out) { RUNTIME_BESIDE(cuda_event_new(out, 0)); }

static enum cuda_error submit(struct cuda_stream *s, void (*call)(void *), void *data, bool *submitted) {
    RUNTIME_BESIDE(cuda_stream_call(s, call, data, submitted));
}

/* Calls `call`, a function of the program, or submits it to the stream. The function may call CUDA, so the lock is not
 * held while it runs. */
CUDA_API enum cuda_error cudaLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    bool submitted = false;
    enum cuda_error e = submit(s, call, data, &submitted);
    if (!e && !submitted)
        call(data);
    return e;
}

static enum cuda_error submit_callback(struct cuda_stream *s, cuda_callback *call, void *data, bool *submitted) {
    RUNTIME_BESIDE(cuda_stream_callback(s, call, data, submitted));
}

CUDA_API enum cuda_error cudaStreamAddCallback(struct cuda_stream *s, cuda_callback *call, void *data, unsigned flags) {
    bool submitted = false;
    enum cuda_error e = flags ? CUDA_ErrorInvalidValue : submit_callback(s, call, data, &submitted);
    if (!e && !submitted)
        call(s, CUDA_Success, data);
    return e;
}

/* Returns the state of a stream's capture. In CUDA 13 this function has the parameters of
 * cudaStreamGetCaptureInfo_v3(). In CUDA 11 and 12 it has only the first three parameters. */
CUDA_API enum cuda_error cudaStreamGetCaptureInfo(struct cuda_stream *s, int *status, unsigned long long *id,
                                                  struct cuda_graph **graph, struct cuda_node *const **nodes,
                                                  const void **edges, size_t *n) {
    if (cuda_major() < 13)
        RUNTIME_BESIDE(cuda_capture_info(s, status, id, NULL, NULL, NULL, NULL));
    RUNTIME_BESIDE(cuda_capture_info(s, status, id, graph, nodes, edges, n));
}

/* Changes the nodes that the next node of a captured stream depends on. In CUDA 13 this function has the parameters of
 * cudaStreamUpdateCaptureDependencies_v2(). In CUDA 11 and 12 it has no `edges`. */
CUDA_API enum cuda_error cudaStreamUpdateCaptureDependencies(struct cuda_stream *s, node_list nodes, const void *edges,
                                                             size_t n, unsigned flags) {
    if (cuda_major() < 13)
        RUNTIME_BESIDE(cuda_capture_update(s, nodes, (uintptr_t)edges, (unsigned)n));
    RUNTIME_BESIDE(cuda_capture_update(s, nodes, n, flags));
}
