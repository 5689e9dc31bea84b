#ifndef CUDA_CORE_STREAM_H
#define CUDA_CORE_STREAM_H
/* Streams, events and capture. A call does its work before it returns, so a stream holds nothing but its attributes,
 * and an event the simulated time of its record. */
#include "core_base.h"

struct cuda_stream; /* a handle of 0, 1 or 2 names a default stream */
struct cuda_event;
struct cuda_graph;
struct cuda_node;
struct cuda_hint; /* 64 bytes: the value of an attribute */
enum { EVENT_EXTERNAL = 1 };
/* The default stream that all threads share, which some functions refuse. */
static inline bool cuda_is_legacy(const struct cuda_stream *s) { return (uintptr_t)s <= 1; }

/* Makes a stream; the priority is only reported back. */
enum cuda_error cuda_stream_new(struct cuda_stream **out, unsigned flags, int priority);
enum cuda_error cuda_stream_destroy(struct cuda_stream *s);
/* Attributes by cudaLaunchAttributeID: hints, which are only reported back. */
enum cuda_error cuda_stream_set_attribute(struct cuda_stream *s, int which, const struct cuda_hint *value);
enum cuda_error cuda_stream_get_attribute(struct cuda_stream *s, int which, struct cuda_hint *out);
enum cuda_error cuda_stream_copy_attributes(struct cuda_stream *to, struct cuda_stream *from);
/* Waits for a stream, whose work is always done. Waiting for a captured stream is an error and spoils the capture. */
enum cuda_error cuda_stream_wait(struct cuda_stream *s);
/* A stream that waits for an event of a captured stream is captured with it. */
enum cuda_error cuda_stream_wait_event(struct cuda_stream *s, const struct cuda_event *e);
/* What a stream was created with. */
enum cuda_error cuda_stream_flags(const struct cuda_stream *s, unsigned *out);
enum cuda_error cuda_stream_priority(const struct cuda_stream *s, int *out);
enum cuda_error cuda_stream_id(const struct cuda_stream *s, unsigned long long *out);
/* An event, with the flags of cudaEventCreateWithFlags(). */
enum cuda_error cuda_event_new(struct cuda_event **out, unsigned flags);
enum cuda_error cuda_event_destroy(struct cuda_event *e);
/* Records the event. EVENT_EXTERNAL: a captured stream gets a node that records it. */
enum cuda_error cuda_event_record(struct cuda_event *e, struct cuda_stream *s, unsigned flags);
/* An event is done as soon as it is recorded. */
enum cuda_error cuda_event_wait(const struct cuda_event *e);
/* Simulated milliseconds between two recorded events. */
enum cuda_error cuda_event_elapsed(float *out, const struct cuda_event *from, const struct cuda_event *to);
/* A call of the program on the host. A captured stream gets a node, and *captured is set. Else the caller calls it,
 * without the lock: the function may call CUDA. */
enum cuda_error cuda_stream_call(struct cuda_stream *s, void (*call)(void *), void *data, bool *captured);

/* Between these calls the work for a stream becomes nodes of a graph, which the second call returns. */
enum cuda_error cuda_capture_begin(struct cuda_stream *s);
enum cuda_error cuda_capture_end(struct cuda_stream *s, struct cuda_graph **out);
/* 0: not captured, 1: captured, 2: the capture has failed. */
enum cuda_error cuda_capture_status(const struct cuda_stream *s, int *out);
/* The same, with the graph and the nodes that the next one depends on; all but `status` may be NULL. */
enum cuda_error cuda_capture_info(struct cuda_stream *s, int *status, unsigned long long *id, struct cuda_graph **graph,
                                  struct cuda_node *const **nodes, const void **edges, size_t *n);
/* The capture mode of this thread, which has no effect; *mode gets the mode before. */
enum cuda_error cuda_capture_exchange_mode(int *mode);

/* Values that streams write into memory and wait for: CUstreamBatchMemOpParams. */
enum { WAIT_32 = 1, WRITE_32, WAIT_64 = 4, WRITE_64 };
union cuda_operation {
    int kind;
    struct {
        int kind;
        uint64_t address, value;
        unsigned flags;
    } value;
    struct {
        int kind;
        unsigned flags;
    } other;
    uint64_t pad[6];
};

/* Operations of a stream on memory, in their order; flags must be 0. */
enum cuda_error cuda_stream_operate(struct cuda_stream *s, unsigned n, const union cuda_operation *list,
                                    unsigned flags);
/* One operation, by its number. */
enum cuda_error cuda_stream_operate_one(struct cuda_stream *s, int kind, uint64_t address, uint64_t value,
                                        unsigned flags);
#endif
