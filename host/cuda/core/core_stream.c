/* Streams and events. Work is done before its call returns, except work that waits (core_runner.h). Simulated time
 * passes only while kernels run. */
#include "core_context.h"
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

struct cuda_stream {
    struct cuda_stream *next;
    unsigned flags;
    int priority;
    unsigned long long id;
    struct cuda_context *context;  /* the context that was current when the program created the stream */
    struct cuda_frontier frontier; /* while it is captured */
    struct cuda_hints *hints;      /* NULL: none were given */
};
enum { NON_BLOCKING = 1 }; /* flag of a stream */
/* Attributes of a stream, by cudaLaunchAttributeID. They are hints without effect on the machine. */
enum { HINT_WINDOW = 1, HINT_WAITING = 3, HINT_PRIORITY = 8, HINT_DOMAIN_MAP, HINT_DOMAIN, N_HINTS };
struct cuda_hint {
    char bytes[64];
};
struct cuda_hints {
    struct cuda_hint of[N_HINTS];
};
struct cuda_event {
    struct cuda_event *next;
    double at;                 /* simulated time of the record in seconds; below 0 if not recorded */
    bool untimed;              /* it has no time */
    unsigned long long ticket; /* of the job that records it; 0: none */
    /* if a captured stream recorded the event: the nodes on which a stream that waits for the event will depend */
    struct cuda_frontier frontier;
};
static struct cuda_stream *streams; /* under the lock */
static bool several; /* two streams, or a stream that does not wait for the default stream, have existed */
static struct cuda_event *events;

enum cuda_error cuda_stream_new(struct cuda_stream **out, unsigned flags, int priority) {
    CUDA_LOCK;
    static unsigned long long last; /* under the lock */
    if (flags & ~(unsigned)NON_BLOCKING)
        return CUDA_ErrorInvalidValue;
    if (!out || !(*out = malloc(sizeof **out)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    **out = (struct cuda_stream){streams, flags, priority, ++last + 16, cuda_current_context, {0}, NULL};
    several |= streams || flags & NON_BLOCKING;
    streams = *out;
    return CUDA_Success;
}

bool cuda_streams_overlap(void) { return several; }

struct cuda_order cuda_stream_order(const struct cuda_stream *s) {
    static __thread char of_thread; /* its address stands for the default stream of this thread */
    if (cuda_is_legacy(s))
        return (struct cuda_order){.legacy = true};
    if (!cuda_is_default(s))
        return (struct cuda_order){.stream = s, .blocking = !(s->flags & NON_BLOCKING)};
    several = true;
    return (struct cuda_order){.stream = &of_thread, .blocking = true};
}

/* Returns the object of the default stream of this thread, which the first call creates; NULL if the host is out of
 * memory. */
static struct cuda_stream *own_stream(void) {
    static __thread struct cuda_stream *own;
    if (!own && (own = calloc(1, sizeof *own))) {
        own->next = streams;
        streams = own;
    }
    return own;
}

struct cuda_frontier *cuda_stream_frontier(struct cuda_stream *s) {
    if (cuda_is_legacy(s))
        return NULL;
    s = cuda_is_default(s) ? own_stream() : s;
    return s ? &s->frontier : NULL;
}

bool cuda_capturing(const struct cuda_stream *s) {
    const struct cuda_frontier *f = cuda_stream_frontier((struct cuda_stream *)s);
    return f && f->graph;
}

void cuda_streams_release(const struct cuda_graph *g) {
    for (struct cuda_stream *s = streams; s; s = s->next)
        if (s->frontier.graph == g)
            cuda_frontier_clear(&s->frontier);
    for (struct cuda_event *e = events; e; e = e->next)
        if (e->frontier.graph == g)
            cuda_frontier_clear(&e->frontier);
}

enum cuda_error cuda_stream_destroy(struct cuda_stream *s) {
    CUDA_LOCK;
    for (const struct cuda_stream *i = streams; i; i = i->next)
        if (i == s) /* a later stream may get the same address */
            cuda_runner_wait(&(struct cuda_order){.stream = s}, true);
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

/* Returns the place of a stream's attributes. All default streams have one common set. */
static struct cuda_hints **hints_of(struct cuda_stream *s) {
    static struct cuda_hints *of_default;
    return cuda_is_default(s) ? &of_default : &s->hints;
}

static bool is_hint(int which) {
    return which == HINT_WINDOW || which == HINT_WAITING || (which >= HINT_PRIORITY && which < N_HINTS);
}

enum cuda_error cuda_stream_set_attribute(struct cuda_stream *s, int which, const struct cuda_hint *value) {
    CUDA_LOCK;
    struct cuda_hints **h = hints_of(s);
    if (!value || !is_hint(which))
        return CUDA_ErrorInvalidValue;
    if (!*h && !(*h = calloc(1, sizeof **h)))
        return CUDA_ErrorMemoryAllocation;
    (*h)->of[which] = *value;
    if (which == HINT_PRIORITY && !cuda_is_default(s))
        memcpy(&s->priority, value, sizeof s->priority);
    return CUDA_Success;
}

enum cuda_error cuda_stream_get_attribute(struct cuda_stream *s, int which, struct cuda_hint *out) {
    CUDA_LOCK;
    const struct cuda_hints *h = *hints_of(s);
    if (!out || !is_hint(which))
        return CUDA_ErrorInvalidValue;
    memset(out, 0, sizeof *out);
    if (h)
        *out = h->of[which];
    if (which == HINT_PRIORITY && !cuda_is_default(s))
        memcpy(out, &s->priority, sizeof s->priority);
    return CUDA_Success;
}

enum cuda_error cuda_stream_copy_attributes(struct cuda_stream *to, struct cuda_stream *from) {
    CUDA_LOCK;
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < N_HINTS; i++) {
        struct cuda_hint value;
        if (is_hint(i) && !(e = cuda_stream_get_attribute(from, i, &value)))
            e = cuda_stream_set_attribute(to, i, &value);
    }
    return e;
}

enum cuda_error cuda_stream_join(struct cuda_stream *s, const struct cuda_event *e) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!e)
        return CUDA_ErrorInvalidResourceHandle;
    if (!e->frontier.graph)
        return cuda_capturing(s) ? CUDA_ErrorStreamCaptureIsolation : CUDA_Success;
    if (!f || (f->graph && f->graph != e->frontier.graph))
        return f ? CUDA_ErrorStreamCaptureMerge : CUDA_ErrorStreamCaptureImplicit;
    return cuda_frontier_join(f, &e->frontier) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

enum cuda_error cuda_stream_flags(const struct cuda_stream *s, unsigned *out) {
    CUDA_LOCK;
    *out = cuda_is_default(s) ? 0 : s->flags;
    return CUDA_Success;
}

enum cuda_error cuda_stream_priority(const struct cuda_stream *s, int *out) {
    CUDA_LOCK;
    *out = cuda_is_default(s) ? 0 : s->priority;
    return CUDA_Success;
}

enum cuda_error cuda_stream_id(const struct cuda_stream *s, unsigned long long *out) {
    CUDA_LOCK;
    *out = cuda_is_default(s) ? (uintptr_t)s : s->id;
    return CUDA_Success;
}

enum cuda_error cuda_stream_context(const struct cuda_stream *s, struct cuda_context **out) {
    CUDA_LOCK;
    if (!out)
        return CUDA_ErrorInvalidValue;
    struct cuda_context *c = cuda_is_default(s) ? cuda_current_context : s->context;
    *out = c ? c : &cuda_primary_context;
    return CUDA_Success;
}

enum cuda_error cuda_event_new(struct cuda_event **out, unsigned flags) {
    CUDA_LOCK;
    enum { UNTIMED = 2, ALL = 7 };
    if (flags & ~(unsigned)ALL)
        return CUDA_ErrorInvalidValue;
    if (!out || !(*out = malloc(sizeof **out)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    **out = (struct cuda_event){.next = events, .at = -1, .untimed = flags & UNTIMED};
    events = *out;
    return CUDA_Success;
}
enum cuda_error cuda_event_destroy(struct cuda_event *e) {
    CUDA_LOCK;
    for (const struct cuda_event *i = events; i; i = i->next)
        if (i == e)
            cuda_event_wait(e);
    for (struct cuda_event **i = &events; *i; i = &(*i)->next)
        if (*i == e) {
            *i = e->next;
            cuda_frontier_clear(&e->frontier);
            free(e);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidResourceHandle;
}

void cuda_event_stamp(struct cuda_event *e) { e->at = cuda_clock(); }

enum cuda_error cuda_event_put(struct cuda_event *e, struct cuda_stream *s) {
    if (!e)
        return CUDA_ErrorInvalidResourceHandle;
    cuda_frontier_clear(&e->frontier);
    e->ticket = 0;
    if (cuda_capturing(s))
        return cuda_frontier_copy(&e->frontier, cuda_stream_frontier(s)) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
    return CUDA_Success;
}

unsigned long long *cuda_event_ticket(struct cuda_event *e) { return &e->ticket; }

enum cuda_error cuda_event_wait(const struct cuda_event *e) {
    CUDA_LOCK;
    if (!e)
        return CUDA_ErrorInvalidResourceHandle;
    cuda_runner_await(e->ticket);
    return cuda_fault();
}

enum cuda_error cuda_event_query(const struct cuda_event *e) {
    CUDA_LOCK;
    return !e ? CUDA_ErrorInvalidResourceHandle : cuda_runner_has(e->ticket) ? CUDA_ErrorNotReady : CUDA_Success;
}

enum cuda_error cuda_event_elapsed(float *out, const struct cuda_event *from, const struct cuda_event *to) {
    CUDA_LOCK;
    if (!out)
        return CUDA_ErrorInvalidValue;
    if (from && to && (cuda_runner_has(from->ticket) || cuda_runner_has(to->ticket)))
        return CUDA_ErrorNotReady;
    if (!from || !to || from->at < 0 || to->at < 0 || from->untimed || to->untimed)
        return CUDA_ErrorInvalidResourceHandle;
    *out = (float)(1e3 * (to->at - from->at));
    return CUDA_Success;
}
