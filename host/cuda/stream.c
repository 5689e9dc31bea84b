/* Streams and events. All work is done when the call returns, so that every order that a program asks for holds. Events
 * hold the simulated time, which passes while kernels run and at no other time. */
#include "runtime.h"
#include <stdlib.h>

struct cuda_stream {
    unsigned flags;
    int priority;
    unsigned long long id;
};
struct cuda_event {
    double at; /* seconds; below 0: not recorded */
};

static enum cuda_error new_stream(struct cuda_stream **out, unsigned flags, int priority) {
    static unsigned long long last; /* under the lock */
    if (!out || !(*out = malloc(sizeof **out)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    **out = (struct cuda_stream){flags, priority, ++last + 16};
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaStreamCreate(struct cuda_stream **out) { GUARD(new_stream(out, 0, 0)); }
CUDA_API enum cuda_error cudaStreamCreateWithFlags(struct cuda_stream **out, unsigned flags) {
    GUARD(new_stream(out, flags, 0));
}
CUDA_API enum cuda_error cudaStreamCreateWithPriority(struct cuda_stream **out, unsigned flags, int priority) {
    GUARD(new_stream(out, flags, priority));
}

/* 0, 1 and 2 are the default streams. */
static bool is_default(const struct cuda_stream *s) { return (uintptr_t)s <= 2; }

CUDA_API enum cuda_error cudaStreamDestroy(struct cuda_stream *s) {
    if (is_default(s))
        return cuda_note(CUDA_ErrorInvalidResourceHandle);
    free(s);
    GUARD(CUDA_Success);
}
CUDA_API enum cuda_error cudaStreamSynchronize(struct cuda_stream *s) {
    (void)s;
    GUARD(CUDA_Success);
}
CUDA_API enum cuda_error cudaStreamQuery(struct cuda_stream *s) { return cudaStreamSynchronize(s); }
CUDA_API enum cuda_error cudaStreamWaitEvent(struct cuda_stream *s, struct cuda_event *e, unsigned flags) {
    (void)e, (void)flags;
    return cudaStreamSynchronize(s);
}
CUDA_API enum cuda_error cudaStreamGetFlags(const struct cuda_stream *s, unsigned *out) {
    *out = is_default(s) ? 0 : s->flags;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaStreamGetPriority(const struct cuda_stream *s, int *out) {
    *out = is_default(s) ? 0 : s->priority;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaStreamGetId(const struct cuda_stream *s, unsigned long long *out) {
    *out = is_default(s) ? (uintptr_t)s : s->id;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaStreamIsCapturing(const struct cuda_stream *s, int *out) {
    (void)s;
    *out = 0;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    enum cuda_error e = cudaStreamSynchronize(s);
    if (!e)
        call(data);
    return e;
}
CUDA_API enum cuda_error cudaStreamAddCallback(struct cuda_stream *s,
                                               void (*call)(struct cuda_stream *, enum cuda_error, void *), void *data,
                                               unsigned flags) {
    (void)flags;
    call(s, cudaStreamSynchronize(s), data);
    return CUDA_Success;
}

static enum cuda_error new_event(struct cuda_event **out) {
    if (!out || !(*out = malloc(sizeof **out)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    (*out)->at = -1;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaEventCreate(struct cuda_event **out) { GUARD(new_event(out)); }
CUDA_API enum cuda_error cudaEventCreateWithFlags(struct cuda_event **out, unsigned flags) {
    (void)flags;
    GUARD(new_event(out));
}
CUDA_API enum cuda_error cudaEventDestroy(struct cuda_event *e) {
    if (!e)
        return cuda_note(CUDA_ErrorInvalidResourceHandle);
    free(e);
    GUARD(CUDA_Success);
}

static enum cuda_error record(struct cuda_event *e) {
    if (!e)
        return CUDA_ErrorInvalidResourceHandle;
    e->at = cuda_clock();
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaEventRecord(struct cuda_event *e, struct cuda_stream *s) {
    (void)s;
    GUARD(record(e));
}
CUDA_API enum cuda_error cudaEventRecordWithFlags(struct cuda_event *e, struct cuda_stream *s, unsigned flags) {
    (void)s, (void)flags;
    GUARD(record(e));
}
CUDA_API enum cuda_error cudaEventSynchronize(struct cuda_event *e) {
    GUARD(e ? CUDA_Success : CUDA_ErrorInvalidResourceHandle);
}
CUDA_API enum cuda_error cudaEventQuery(struct cuda_event *e) { return cudaEventSynchronize(e); }

static enum cuda_error elapsed(float *out, const struct cuda_event *from, const struct cuda_event *to) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    if (!from || !to || from->at < 0 || to->at < 0)
        return CUDA_ErrorInvalidResourceHandle;
    *out = (float)(1e3 * (to->at - from->at));
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaEventElapsedTime(float *out, const struct cuda_event *from, const struct cuda_event *to) {
    GUARD(elapsed(out, from, to));
}
CUDA_API enum cuda_error cudaEventElapsedTime_v2(float *out, const struct cuda_event *from,
                                                 const struct cuda_event *to) {
    GUARD(elapsed(out, from, to));
}
