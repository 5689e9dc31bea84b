/* Stream functions of the driver that differ in form from the runtime's. */
#include "driver.h"

CUDA_API enum cuda_error cuStreamGetCtx(struct cuda_stream *s, struct cuda_context **out) {
    DRIVER_STREAM(cuda_stream_context(s, out));
}

static enum cuda_error submit(struct cuda_stream *s, void (*call)(void *), void *data, bool *captured) {
    DRIVER_STREAM(cuda_stream_call(s, call, data, captured));
}

/* Calls `call`, a function of the program, or adds a node for it if the stream is captured. The function may call CUDA,
 * so the lock is not held while it runs. */
CUDA_API enum cuda_error cuLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    bool captured = false;
    enum cuda_error e = submit(s, call, data, &captured);
    if (!e && !captured)
        call(data);
    return e;
}

/* Returns the error that a callback gets: the fault that a kernel left. */
static enum cuda_error fault_of(struct cuda_stream *s) { DRIVER_STREAM(CUDA_Success); }

CUDA_API enum cuda_error cuStreamAddCallback(struct cuda_stream *s,
                                             void (*call)(struct cuda_stream *, enum cuda_error, void *), void *data,
                                             unsigned flags) {
    enum cuda_error e = fault_of(s);
    if (!call || flags)
        return CUDA_ErrorInvalidValue;
    call(s, e, data);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuStreamUpdateCaptureDependencies(struct cuda_stream *s, node_list nodes, size_t n,
                                                           unsigned flags) {
    DRIVER_STREAM(cuda_capture_update(s, nodes, n, flags));
}
