/* Stream functions of the driver that differ in form from the runtime's. */
#include "driver.h"

CUDA_API enum cuda_error cuStreamGetCtx(struct cuda_stream *s, struct cuda_context **out) {
    DRIVER_STREAM_BESIDE(cuda_stream_context(s, out));
}

static enum cuda_error submit(struct cuda_stream *s, void (*call)(void *), void *data, bool *submitted) {
    DRIVER_STREAM_BESIDE(cuda_stream_call(s, call, data, submitted));
}

/* Calls `call`, a function of the program, or submits it to the stream. The function may call CUDA, so the lock is not
 * held while it runs. */
CUDA_API enum cuda_error cuLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    bool submitted = false;
    enum cuda_error e = submit(s, call, data, &submitted);
    if (!e && !submitted)
        call(data);
    return e;
}

static enum cuda_error submit_callback(struct cuda_stream *s, cuda_callback *call, void *data, bool *submitted) {
    DRIVER_STREAM_BESIDE(cuda_stream_callback(s, call, data, submitted));
}

CUDA_API enum cuda_error cuStreamAddCallback(struct cuda_stream *s, cuda_callback *call, void *data, unsigned flags) {
    bool submitted = false;
    enum cuda_error e = flags ? CUDA_ErrorInvalidValue : submit_callback(s, call, data, &submitted);
    if (!e && !submitted)
        call(s, CUDA_Success, data);
    return e;
}

CUDA_API enum cuda_error cuStreamUpdateCaptureDependencies(struct cuda_stream *s, node_list nodes, size_t n,
                                                           unsigned flags) {
    DRIVER_STREAM_BESIDE(cuda_capture_update(s, nodes, n, flags));
}
