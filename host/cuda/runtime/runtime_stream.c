/* Streams and events. All work is done when the call returns, so that every order that a program asks for holds. Events
 * hold the simulated time, which passes while kernels run and at no other time. */
#include "runtime_api.h"
#include "runtime_graph.h"
#include <stdlib.h>
#include <string.h>

struct cuda_stream {
    struct cuda_stream *next;
    unsigned flags;
    int priority;
    unsigned long long id;
    struct cuda_frontier frontier; /* while it is captured */
    struct stream_hints *hints;    /* NULL: none were given */
};
/* Attributes of a stream: advice that the machine has no use for, and that is told again. By cudaLaunchAttributeID. */
enum { HINT_WINDOW = 1, HINT_WAITING = 3, HINT_PRIORITY = 8, HINT_DOMAIN_MAP, HINT_DOMAIN, N_HINTS };
struct hint {
    char bytes[64];
};
struct stream_hints {
    struct hint of[N_HINTS];
};
struct cuda_event {
    struct cuda_event *next;
    double at;                     /* seconds; below 0: not recorded */
    bool untimed;                  /* it orders, and tells no time */
    struct cuda_frontier frontier; /* recorded by a captured stream: what it stands for */
};
static struct cuda_stream *streams; /* under the lock */
static struct cuda_event *events;

static enum cuda_error new_stream(struct cuda_stream **out, unsigned flags, int priority) {
    enum { NON_BLOCKING = 1 };
    static unsigned long long last; /* under the lock */
    if (flags & ~(unsigned)NON_BLOCKING)
        return CUDA_ErrorInvalidValue;
    if (!out || !(*out = malloc(sizeof **out)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    **out = (struct cuda_stream){.next = streams, .flags = flags, .priority = priority, .id = ++last + 16};
    streams = *out;
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

struct cuda_frontier *cuda_stream_frontier(struct cuda_stream *s) {
    return is_default(s) ? NULL : &s->frontier;
}

void cuda_streams_release(const struct cuda_graph *g) {
    for (struct cuda_stream *s = streams; s; s = s->next)
        if (s->frontier.graph == g)
            cuda_frontier_clear(&s->frontier);
    for (struct cuda_event *e = events; e; e = e->next)
        if (e->frontier.graph == g)
            cuda_frontier_clear(&e->frontier);
}

static enum cuda_error destroy(struct cuda_stream *s) {
    for (struct cuda_stream **i = &streams; *i; i = &(*i)->next)
        if (*i == s) {
            *i = s->next;
            cuda_frontier_clear(&s->frontier);
            free(s->hints);
            free(s);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidResourceHandle;
}

CUDA_API enum cuda_error cudaStreamDestroy(struct cuda_stream *s) { GUARD(destroy(s)); }

/* The default streams have theirs together. */
static struct stream_hints **hints_of(struct cuda_stream *s) {
    static struct stream_hints *of_default;
    return is_default(s) ? &of_default : &s->hints;
}

static bool is_hint(int which) {
    return which == HINT_WINDOW || which == HINT_WAITING || (which >= HINT_PRIORITY && which < N_HINTS);
}

static enum cuda_error set_hint(struct cuda_stream *s, int which, const struct hint *value) {
    struct stream_hints **h = hints_of(s);
    if (!value || !is_hint(which))
        return CUDA_ErrorInvalidValue;
    if (!*h && !(*h = calloc(1, sizeof **h)))
        return CUDA_ErrorMemoryAllocation;
    (*h)->of[which] = *value;
    if (which == HINT_PRIORITY && !is_default(s))
        memcpy(&s->priority, value, sizeof s->priority);
    return CUDA_Success;
}

static enum cuda_error get_hint(struct cuda_stream *s, int which, struct hint *out) {
    const struct stream_hints *h = *hints_of(s);
    if (!out || !is_hint(which))
        return CUDA_ErrorInvalidValue;
    memset(out, 0, sizeof *out);
    if (h)
        *out = h->of[which];
    if (which == HINT_PRIORITY && !is_default(s))
        memcpy(out, &s->priority, sizeof s->priority);
    return CUDA_Success;
}

static enum cuda_error copy_hints(struct cuda_stream *to, struct cuda_stream *from) {
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < N_HINTS; i++) {
        struct hint value;
        if (is_hint(i) && !(e = get_hint(from, i, &value)))
            e = set_hint(to, i, &value);
    }
    return e;
}

CUDA_API enum cuda_error cudaStreamSetAttribute(struct cuda_stream *s, int which, const struct hint *value) {
    GUARD(set_hint(s, which, value));
}
CUDA_API enum cuda_error cudaStreamGetAttribute(struct cuda_stream *s, int which, struct hint *out) {
    GUARD(get_hint(s, which, out));
}
CUDA_API enum cuda_error cudaStreamCopyAttributes(struct cuda_stream *to, struct cuda_stream *from) {
    GUARD(copy_hints(to, from));
}
CUDA_API enum cuda_error cudaCtxResetPersistingL2Cache(void) { GUARD(CUDA_Success); }

static enum cuda_error device_of(int *out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = 0;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaStreamGetDevice(const struct cuda_stream *s, int *out) {
    (void)s;
    GUARD(device_of(out));
}

/* What is only noted cannot be waited for. */
static enum cuda_error wait(struct cuda_stream *s) { return cuda_capturing(s) ? cuda_capture_spoil(s) : CUDA_Success; }

CUDA_API enum cuda_error cudaStreamSynchronize(struct cuda_stream *s) { GUARD(wait(s)); }
CUDA_API enum cuda_error cudaStreamQuery(struct cuda_stream *s) { GUARD(wait(s)); }

/* A stream that waits for what a captured one recorded is captured with it. */
static enum cuda_error wait_event(struct cuda_stream *s, const struct cuda_event *e) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!e)
        return CUDA_ErrorInvalidResourceHandle;
    if (!e->frontier.graph)
        return cuda_capturing(s) ? CUDA_ErrorStreamCaptureIsolation : CUDA_Success;
    if (!f || (f->graph && f->graph != e->frontier.graph))
        return f ? CUDA_ErrorStreamCaptureMerge : CUDA_ErrorStreamCaptureImplicit;
    return cuda_frontier_join(f, &e->frontier) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

CUDA_API enum cuda_error cudaStreamWaitEvent(struct cuda_stream *s, struct cuda_event *e, unsigned flags) {
    (void)flags;
    GUARD(wait_event(s, e));
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
/* The lock is not held while the program's function runs. */
CUDA_API enum cuda_error cudaLaunchHostFunc(struct cuda_stream *s, void (*call)(void *), void *data) {
    enum cuda_error e = cuda_enter();
    bool noted = !e && call && cuda_capturing(s);
    if (noted)
        e = cuda_capture(s, &(struct cuda_work){NODE_HOST, .call = {call, data}});
    e = cuda_leave(e || call ? e : CUDA_ErrorInvalidValue);
    if (!e && !noted)
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

static enum cuda_error new_event(struct cuda_event **out, unsigned flags) {
    enum { UNTIMED = 2, ALL = 7 };
    if (flags & ~(unsigned)ALL)
        return CUDA_ErrorInvalidValue;
    if (!out || !(*out = malloc(sizeof **out)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    **out = (struct cuda_event){.next = events, .at = -1, .untimed = flags & UNTIMED};
    events = *out;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaEventCreate(struct cuda_event **out) { GUARD(new_event(out, 0)); }
CUDA_API enum cuda_error cudaEventCreateWithFlags(struct cuda_event **out, unsigned flags) {
    GUARD(new_event(out, flags));
}
static enum cuda_error destroy_event(struct cuda_event *e) {
    for (struct cuda_event **i = &events; *i; i = &(*i)->next)
        if (*i == e) {
            *i = e->next;
            cuda_frontier_clear(&e->frontier);
            free(e);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidResourceHandle;
}

CUDA_API enum cuda_error cudaEventDestroy(struct cuda_event *e) { GUARD(destroy_event(e)); }

void cuda_event_record(struct cuda_event *e) { e->at = cuda_clock(); }

static enum cuda_error record(struct cuda_event *e, struct cuda_stream *s) {
    if (!e)
        return CUDA_ErrorInvalidResourceHandle;
    cuda_frontier_clear(&e->frontier);
    if (cuda_capturing(s))
        return cuda_frontier_copy(&e->frontier, cuda_stream_frontier(s)) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
    cuda_event_record(e);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaEventRecord(struct cuda_event *e, struct cuda_stream *s) { GUARD(record(e, s)); }

/* For a graph to record, not only to order by. */
static enum cuda_error record_external(struct cuda_event *e, struct cuda_stream *s) {
    return e && cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_RECORD, .event = e}) : record(e, s);
}

CUDA_API enum cuda_error cudaEventRecordWithFlags(struct cuda_event *e, struct cuda_stream *s, unsigned flags) {
    enum { EXTERNAL = 1 };
    GUARD(flags & EXTERNAL ? record_external(e, s) : record(e, s));
}
CUDA_API enum cuda_error cudaEventSynchronize(struct cuda_event *e) {
    GUARD(e ? CUDA_Success : CUDA_ErrorInvalidResourceHandle);
}
CUDA_API enum cuda_error cudaEventQuery(struct cuda_event *e) { return cudaEventSynchronize(e); }

static enum cuda_error elapsed(float *out, const struct cuda_event *from, const struct cuda_event *to) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    if (!from || !to || from->at < 0 || to->at < 0 || from->untimed || to->untimed)
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
