/* Stream work other than launches and copies: waits, host callbacks, and event records. */
#include "core_graph_parts.h"

enum cuda_error cuda_stream_wait(struct cuda_stream *s) {
    CUDA_LOCK;
    return cuda_capturing(s) ? cuda_capture_spoil(s) : CUDA_Success;
}

enum cuda_error cuda_stream_call(struct cuda_stream *s, void (*call)(void *), void *data, bool *captured) {
    CUDA_LOCK;
    *captured = call && cuda_capturing(s);
    if (!call)
        return CUDA_ErrorInvalidValue;
    return *captured ? cuda_capture(s, &(struct cuda_work){NODE_HOST, .call = {call, data}}) : CUDA_Success;
}

static enum cuda_error record_external(struct cuda_event *e, struct cuda_stream *s) {
    return e && cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_RECORD, .event = e})
                                  : cuda_event_put(e, s);
}

enum cuda_error cuda_event_record(struct cuda_event *e, struct cuda_stream *s, unsigned flags) {
    CUDA_LOCK;
    return flags & EVENT_EXTERNAL ? record_external(e, s) : cuda_event_put(e, s);
}
