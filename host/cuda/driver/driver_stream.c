/* Streams and events: the runtime's, under the driver's names. */
#include "driver.h"

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
