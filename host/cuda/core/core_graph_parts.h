#ifndef CUDA_CORE_GRAPH_PARTS_H
#define CUDA_CORE_GRAPH_PARTS_H
/* The internals of graphs and captures, for the files of core. All functions are called with the lock held. */
#include "core_graph.h"

struct cuda_node {
    struct cuda_node *next;
    struct cuda_work work;
    struct cuda_node **before; /* the nodes that this node depends on */
    int n_before;
    const struct cuda_node *copy_of; /* the node from which this node was copied, if its graph is a clone; else NULL */
    int at; /* the node's place in the execution order; -1: not yet known, -2: being computed */
};

struct cuda_graph {
    struct cuda_graph *next;
    struct cuda_node *first, **last;
    int n;
    struct cuda_held *held; /* objects of the program */
    bool spoilt;            /* true if the capture of this graph has failed and has not ended yet */
    bool given;             /* true if a capture adds to this graph, which the program has created */
};

/* core_graph_find.c: return graph `i` inside a node, from 0; NULL if the node has no more graphs. */
struct cuda_graph *cuda_work_graph(const struct cuda_work *w, unsigned i);

/* core_graph_condition.c: sets the variables of all conditional nodes in the work, and in graphs inside it, to their
 * default values. A conditional node reads its variable from device memory. */
enum cuda_error cuda_condition_reset(const struct cuda_work *w);

/* core_run.c: cuda_run() runs a launch now. cuda_call() calls a function of the program; in a job of the runner, other
 * work continues meanwhile. cuda_overlaps() returns true if kernels may run beside each other.
 * cuda_launch_own() replaces the arguments by a copy in one block of memory: first the pointers to the values, then the
 * values. It returns false if the host is out of memory. */
enum cuda_error cuda_run(const struct cuda_launch *l);
void cuda_call(void (*call)(void *), void *data);
bool cuda_overlaps(void);
bool cuda_launch_own(struct cuda_launch *l);
/* core_submit.c: cuda_submit() runs work in a stream, after the work with ticket `after`. It returns the error of work
 * that has ended at once. *ticket (may be NULL): of the work; 0: it has ended. The arguments of a launch are copied.
 * Anything else that the work points to must live until the work has ended. cuda_pends() returns true if work of the
 * stream has not ended. cuda_follow() waits for it, without the lock. */
enum cuda_error cuda_submit(const struct cuda_work *w, const struct cuda_stream *s, unsigned long long after,
                            unsigned long long *ticket);
bool cuda_pends(const struct cuda_stream *s);
void cuda_follow(const struct cuda_stream *s);
/* core_graph_find.c: returns the first graph in the list of all graphs. */
struct cuda_graph *cuda_graph_all(void);
/* Add a graph to the list of all graphs, and remove a graph from this list. cuda_graph_unlist() returns false if the
 * graph is not in the list. */
void cuda_graph_list(struct cuda_graph *g);
bool cuda_graph_unlist(struct cuda_graph *g);
void cuda_node_free(struct cuda_node *n);
/* cuda_graph_has() returns whether the graph contains the node. cuda_graph_node() returns the node of a handle, or NULL
 * if the handle is invalid. */
bool cuda_graph_has(const struct cuda_graph *g, const struct cuda_node *n);
struct cuda_node *cuda_graph_node(const struct cuda_node *n);
/* Adds a node with a copy of the work to the graph. The node depends on the `n` nodes of `before`. `out` may be
 * NULL. */
enum cuda_error cuda_graph_add(struct cuda_node **out, struct cuda_graph *g, struct cuda_node *const *before, size_t n,
                               const struct cuda_work *w);
/* Makes node `n` depend on node `on`. Returns false if the host is out of memory. */
bool cuda_graph_depend(struct cuda_node *n, struct cuda_node *on);
/* Returns the nodes in execution order, in a block that the caller frees. On failure returns NULL and sets *e: the
 * graph has a cycle, or the host is out of memory. */
struct cuda_node **cuda_graph_order(struct cuda_graph *g, enum cuda_error *e);

/* Memory allocated by a node, with a reference count. Dropping the last reference frees the memory, unless the memory
 * is held: then it belongs to the program. */
struct cuda_graph_memory {
    struct cuda_graph_memory *next;
    uint64_t address, bytes;
    int uses;
    bool freed; /* a node frees the memory */
    bool held;  /* a launch has allocated the memory, and neither a launch nor the program has freed it since */
};
/* Allocates memory without a reference. */
enum cuda_error cuda_graph_memory_new(struct cuda_graph_memory **out, size_t bytes);
/* Returns the memory at an address; NULL if there is none. */
struct cuda_graph_memory *cuda_graph_memory_at(const void *p);
/* Frees the memory for the program. The memory exists on, because the next launch of its node allocates it again. */
enum cuda_error cuda_graph_memory_return(struct cuda_graph_memory *m);
/* Add and drop a reference to the memory. */
void cuda_graph_memory_keep(struct cuda_graph_memory *m);
void cuda_graph_memory_drop(struct cuda_graph_memory *m);
/* cuda_held_copy() copies the list for another graph, which adds a reference to each object; it returns false if the
 * host is out of memory. cuda_held_drop() drops all references of a list. */
bool cuda_held_copy(struct cuda_held **to, const struct cuda_held *from);
void cuda_held_drop(struct cuda_held **list);

/* cuda_work_own() replaces the data that the work points to by a copy, and returns false if the host is out of memory.
 * cuda_work_free() frees this copy. cuda_work_run() performs the work now. */
bool cuda_work_own(struct cuda_work *w);
void cuda_work_free(struct cuda_work *w);
enum cuda_error cuda_work_run(const struct cuda_work *w);
/* Replace work by other work of an equal kind. Return CUDA_ErrorInvalidValue if `at` is NULL. */
enum cuda_error cuda_work_replace(struct cuda_work *at, const struct cuda_work *w);
enum cuda_error cuda_work_set_kernel(struct cuda_work *at, const struct cuda_kernel_params *p);

/* cuda_capturing() returns whether the stream is captured. cuda_capture() adds a node for work that is submitted to a
 * captured stream; the node depends on the earlier work of the stream. */
bool cuda_capturing(const struct cuda_stream *s);
enum cuda_error cuda_capture(struct cuda_stream *s, const struct cuda_work *w);
/* Add a node that allocates or frees memory to a captured stream. */
enum cuda_error cuda_capture_alloc(void **out, size_t bytes, struct cuda_stream *s);
enum cuda_error cuda_capture_free(const void *p, struct cuda_stream *s);
/* Marks a capture as failed, because the program did something with the stream that no node can do. Returns the
 * error. */
enum cuda_error cuda_capture_spoil(struct cuda_stream *s);

/* A frontier of a captured stream is the list of nodes on which the next node of this stream will depend. An event
 * recorded in this stream keeps a copy, for streams that wait for the event. */
struct cuda_frontier {
    struct cuda_graph *graph; /* NULL: not captured */
    struct cuda_node **nodes;
    int n;
};
bool cuda_frontier_copy(struct cuda_frontier *to, const struct cuda_frontier *from);
bool cuda_frontier_join(struct cuda_frontier *to, const struct cuda_frontier *from);
void cuda_frontier_clear(struct cuda_frontier *f);
/* Returns the frontier of a stream; NULL for the default stream of all threads, which cannot be captured. */
struct cuda_frontier *cuda_stream_frontier(struct cuda_stream *s);
/* Ends the capture of all streams that are captured into the graph. Events recorded by the capture are reset, too. */
void cuda_streams_release(const struct cuda_graph *g);
/* Prepares the record of an event in a stream. If the stream is captured, the event then depends on its nodes. */
enum cuda_error cuda_event_put(struct cuda_event *e, struct cuda_stream *s);
/* Records an event now. */
void cuda_event_stamp(struct cuda_event *e);
/* Returns the place of the ticket of the job that records the event. */
unsigned long long *cuda_event_ticket(struct cuda_event *e);
/* Makes a captured stream wait for an event, or any stream for an event of a captured stream. */
enum cuda_error cuda_stream_join(struct cuda_stream *s, const struct cuda_event *e);
#endif
