#ifndef CUDA_GRAPH_H
#define CUDA_GRAPH_H
/* Graphs: work that is noted to be done later, by the functions that add nodes or by a stream that is captured. */
#include "host/cuda/core/core.h"

struct cuda_stream;
struct cuda_event;
struct cuda_graph;

/* Rows and planes of bytes; `from` and `to` are their first bytes. */
struct cuda_box {
    char *to;
    size_t to_pitch, to_plane;
    const char *from;
    size_t from_pitch, from_plane;
    size_t width, height, depth;
    enum cuda_copy kind;
};
/* Copies; `who` for messages. */
enum cuda_error cuda_copy_box(const char *who, const struct cuda_box *b);

struct cuda_rows {
    char *p;
    size_t pitch;
    uint32_t value, width; /* of an element: 1, 2 or 4 bytes */
    size_t n, rows;
};
enum cuda_error cuda_fill_rows(const char *who, const struct cuda_rows *r);
/* Now, or noted when the stream is captured. */
enum cuda_error cuda_fill_on(const char *who, struct cuda_rows r, struct cuda_stream *s);

/* array.c: whether it is one; its first byte, pitch, rows a plane, bytes of an element. */
struct cuda_array;
bool cuda_array_is(const struct cuda_array *a);
void cuda_array_bytes(const struct cuda_array *a, void **first, size_t *pitch, size_t *height, size_t *element);

struct cuda_launch {
    struct cuda_kernel *kernel;
    struct cuda_dim grid, block;
    size_t shared;
    void **args; /* k->n_params of them */
    bool cooperative;
    int priority; /* a hint, which is told again */
};
/* In cuda_enter(). */
enum cuda_error cuda_run(const struct cuda_launch *l);

struct cuda_call {
    void (*call)(void *);
    void *data;
};

/* As enum cudaGraphNodeType has them. */
enum cuda_node_kind {
    NODE_KERNEL,
    NODE_COPY,
    NODE_FILL,
    NODE_HOST,
    NODE_GRAPH,
    NODE_EMPTY,
    NODE_WAIT,
    NODE_RECORD,
    NODE_ALLOC = 10,
    NODE_FREE
};

/* What a node does. */
struct cuda_work {
    enum cuda_node_kind kind;
    union {
        struct cuda_launch launch; /* args are its own copy, in one block */
        struct cuda_box box;
        struct cuda_rows rows;
        struct cuda_call call;
        struct cuda_graph *graph;
        struct cuda_event *event;
        struct cuda_graph_memory *memory; /* of NODE_ALLOC and NODE_FREE */
    };
};

/* Whether what is given to the stream is to be noted, and the noting: a node behind what the stream had. */
bool cuda_capturing(const struct cuda_stream *s);
enum cuda_error cuda_capture(struct cuda_stream *s, const struct cuda_work *w);
/* The program did with a captured stream what cannot be noted, which this tells: the capture has failed. */
enum cuda_error cuda_capture_spoil(struct cuda_stream *s);

/* What a captured stream or event stands at: the nodes that the next one depends on. */
struct cuda_frontier {
    struct cuda_graph *graph; /* NULL: not captured */
    struct cuda_node **nodes;
    int n;
};
bool cuda_frontier_copy(struct cuda_frontier *to, const struct cuda_frontier *from);
bool cuda_frontier_join(struct cuda_frontier *to, const struct cuda_frontier *from);
void cuda_frontier_clear(struct cuda_frontier *f);

/* stream.c: the frontier of a stream that may be captured; NULL for the default ones. */
struct cuda_frontier *cuda_stream_frontier(struct cuda_stream *s);
/* Ends the capture of all streams that note to the graph; events stand for nothing of it any more. */
void cuda_streams_release(const struct cuda_graph *g);
/* Records an event, for a graph's node. */
void cuda_event_record(struct cuda_event *e);
#endif
