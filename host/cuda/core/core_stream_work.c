/* Stream work other than launches and copies: waits, host callbacks, and event records. */
#include "core_graph_parts.h"
#include <stdlib.h>

enum cuda_error cuda_stream_wait(struct cuda_stream *s) {
    CUDA_LOCK;
    return cuda_capturing(s) ? cuda_capture_spoil(s) : CUDA_Success;
}

enum cuda_error cuda_stream_query(struct cuda_stream *s) {
    CUDA_LOCK;
    const struct cuda_order o = cuda_stream_order(s);
    return cuda_capturing(s) ? cuda_capture_spoil(s) : cuda_runner_pending(&o) ? CUDA_ErrorNotReady : CUDA_Success;
}

enum cuda_error cuda_stream_call(struct cuda_stream *s, void (*call)(void *), void *data, bool *submitted) {
    CUDA_LOCK;
    const struct cuda_work w = {NODE_HOST, .call = {call, data}};
    *submitted = call && (cuda_capturing(s) || cuda_pends(s));
    if (!call)
        return CUDA_ErrorInvalidValue;
    return !*submitted ? CUDA_Success : cuda_capturing(s) ? cuda_capture(s, &w) : cuda_submit(&w, s, 0, NULL);
}

/* A callback of cudaStreamAddCallback(), in a block that call_back() frees. */
struct callback {
    cuda_callback *call;
    struct cuda_stream *stream;
    void *data;
};

static void call_back(void *block) {
    const struct callback c = *(struct callback *)block;
    free(block);
    c.call(c.stream, cuda_core.sticky, c.data);
}

enum cuda_error cuda_stream_callback(struct cuda_stream *s, cuda_callback *call, void *data, bool *submitted) {
    CUDA_LOCK;
    *submitted = cuda_pends(s);
    if (cuda_capturing(s))
        return cuda_capture_spoil(s);
    if (!call || !*submitted)
        return call ? CUDA_Success : CUDA_ErrorInvalidValue;
    struct callback *c = malloc(sizeof *c);
    if (!c)
        return CUDA_ErrorMemoryAllocation;
    *c = (struct callback){call, s, data};
    enum cuda_error e = cuda_stream_call(s, call_back, c, submitted);
    if (e)
        free(c);
    return e;
}

enum cuda_error cuda_stream_wait_event(struct cuda_stream *s, struct cuda_event *e) {
    CUDA_LOCK;
    unsigned long long ticket;
    if (e && !cuda_capturing(s) && cuda_runner_has(*cuda_event_ticket(e)))
        return cuda_submit(&(struct cuda_work){.kind = NODE_EMPTY}, s, *cuda_event_ticket(e), &ticket);
    return cuda_stream_join(s, e);
}

static enum cuda_error put(struct cuda_event *e, struct cuda_stream *s) {
    enum cuda_error error = cuda_event_put(e, s);
    return error || cuda_capturing(s)
               ? error
               : cuda_submit(&(struct cuda_work){NODE_RECORD, .event = e}, s, 0, cuda_event_ticket(e));
}

static enum cuda_error record_external(struct cuda_event *e, struct cuda_stream *s) {
    return e && cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_RECORD, .event = e}) : put(e, s);
}

enum cuda_error cuda_event_record(struct cuda_event *e, struct cuda_stream *s, unsigned flags) {
    CUDA_LOCK;
    return flags & EVENT_EXTERNAL ? record_external(e, s) : put(e, s);
}
