#ifndef CUDA_CORE_STREAM_H
#define CUDA_CORE_STREAM_H
/* Streams, events and capture. A stream stores only its attributes. Work that waits is a job of the runner
 * (core_runner.h). */
#include "core_base.h"
#include "core_runner.h"

struct cuda_context;
struct cuda_stream; /* a handle with the value 0, 1 or 2 names a default stream */
struct cuda_event;
struct cuda_graph;
struct cuda_node;
struct cuda_hint; /* the value of an attribute, 64 bytes */
enum { EVENT_EXTERNAL = 1 };
/* The default stream of the calling thread: cudaStreamPerThread. */
#define CUDA_OWN_STREAM ((struct cuda_stream *)(uintptr_t)2)
/* Returns true for the default stream that all threads share. Some functions refuse it. */
static inline bool cuda_is_legacy(const struct cuda_stream *s) { return (uintptr_t)s <= 1; }
/* Returns true for the handles 0, 1 and 2: default streams of all threads (0, 1) or of one thread (2). */
static inline bool cuda_is_default(const struct cuda_stream *s) { return (uintptr_t)s <= 2; }

/* Creates a stream. The priority is only reported back. */
enum cuda_error cuda_stream_new(struct cuda_stream **out, unsigned flags, int priority);
enum cuda_error cuda_stream_destroy(struct cuda_stream *s);
/* Attributes by cudaLaunchAttributeID. They are hints, which are only reported back. */
enum cuda_error cuda_stream_set_attribute(struct cuda_stream *s, int which, const struct cuda_hint *value);
enum cuda_error cuda_stream_get_attribute(struct cuda_stream *s, int which, struct cuda_hint *out);
enum cuda_error cuda_stream_copy_attributes(struct cuda_stream *to, struct cuda_stream *from);
/* Waits for a stream: its work is done when the lock is taken (cuda_waits). Waiting for a captured stream is an
 * error and makes the capture fail. */
enum cuda_error cuda_stream_wait(struct cuda_stream *s);
/* Works like cuda_stream_wait(), but returns CUDA_ErrorNotReady instead of waiting. */
enum cuda_error cuda_stream_query(struct cuda_stream *s);
/* Returns the place of the stream's next work in the order of streams. */
struct cuda_order cuda_stream_order(const struct cuda_stream *s);
/* Returns true if the program has had streams whose kernels may run at the same time. */
bool cuda_streams_overlap(void);
/* Makes a stream wait for an event. If the event belongs to a captured stream, the waiting stream joins the capture. */
enum cuda_error cuda_stream_wait_event(struct cuda_stream *s, struct cuda_event *e);
/* Return the flags and the priority with which a stream was created. */
enum cuda_error cuda_stream_flags(const struct cuda_stream *s, unsigned *out);
enum cuda_error cuda_stream_priority(const struct cuda_stream *s, int *out);
/* Returns the context of a stream. A default stream belongs to the current context. */
enum cuda_error cuda_stream_context(const struct cuda_stream *s, struct cuda_context **out);
enum cuda_error cuda_stream_id(const struct cuda_stream *s, unsigned long long *out);
/* Creates an event with the flags of cudaEventCreateWithFlags(). */
enum cuda_error cuda_event_new(struct cuda_event **out, unsigned flags);
enum cuda_error cuda_event_destroy(struct cuda_event *e);
/* Records the event. With EVENT_EXTERNAL, a captured stream gets a node that records the event. */
enum cuda_error cuda_event_record(struct cuda_event *e, struct cuda_stream *s, unsigned flags);
/* Waits until an event is recorded. cuda_event_query() returns CUDA_ErrorNotReady instead of waiting. */
enum cuda_error cuda_event_wait(const struct cuda_event *e);
enum cuda_error cuda_event_query(const struct cuda_event *e);
/* Returns the simulated milliseconds between two recorded events. */
enum cuda_error cuda_event_elapsed(float *out, const struct cuda_event *from, const struct cuda_event *to);
/* Submit a function of the program to a stream. *submitted is true if the stream will call it, because the stream is
 * captured or its work has not ended. Otherwise the caller must call it, without the lock, because it may call CUDA. */
enum cuda_error cuda_stream_call(struct cuda_stream *s, void (*call)(void *), void *data, bool *submitted);
typedef void cuda_callback(struct cuda_stream *s, enum cuda_error error, void *data);
enum cuda_error cuda_stream_callback(struct cuda_stream *s, cuda_callback *call, void *data, bool *submitted);

/* Begin and end a capture. In between, the work for a stream becomes nodes of a graph, which cuda_capture_end()
 * returns. */
enum cuda_error cuda_capture_begin(struct cuda_stream *s);
/* Begins a capture that adds nodes to an existing graph. The first nodes depend on the `n` nodes of `before`. */
enum cuda_error cuda_capture_begin_to(struct cuda_stream *s, struct cuda_graph *g, struct cuda_node *const *before,
                                      size_t n);
enum cuda_error cuda_capture_end(struct cuda_stream *s, struct cuda_graph **out);
/* Sets *out to 0 if the stream is not captured, 1 if it is captured, or 2 if the capture has failed. */
enum cuda_error cuda_capture_status(const struct cuda_stream *s, int *out);
/* Returns the capture status, the graph, and the nodes that the next node depends on. All pointers except `status`
 * may be NULL. */
enum cuda_error cuda_capture_info(struct cuda_stream *s, int *status, unsigned long long *id, struct cuda_graph **graph,
                                  struct cuda_node *const **nodes, const void **edges, size_t *n);
/* Sets the nodes that the next node of a captured stream depends on (CAPTURE_SET), or adds nodes (CAPTURE_ADD). */
enum { CAPTURE_ADD, CAPTURE_SET };
enum cuda_error cuda_capture_update(struct cuda_stream *s, struct cuda_node *const *nodes, size_t n, unsigned flags);
/* Sets the capture mode of this thread, which has no effect, and stores the previous mode in *mode. */
enum cuda_error cuda_capture_exchange_mode(int *mode);

/* Operations by which streams write values into memory and wait for values: CUstreamBatchMemOpParams. */
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

/* Performs a list of memory operations in a stream, in order. `flags` must be 0. */
enum cuda_error cuda_stream_operate(struct cuda_stream *s, unsigned n, const union cuda_operation *list,
                                    unsigned flags);
/* Performs a single memory operation. `kind` is the operation's number in the driver's interface. */
enum cuda_error cuda_stream_operate_one(struct cuda_stream *s, int kind, uint64_t address, uint64_t value,
                                        unsigned flags);
#endif
