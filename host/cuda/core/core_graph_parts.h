#ifndef CUDA_CORE_GRAPH_PARTS_H
#define CUDA_CORE_GRAPH_PARTS_H
/* Graphs and captures from the inside, for the files of core. All of it is called with the lock held. */
#include "core_graph.h"

struct cuda_node {
    struct cuda_node *next;
    struct cuda_work work;
    struct cuda_node **before; /* the nodes that it depends on */
    int n_before;
    const struct cuda_node *copy_of; /* in the graph that this one was cloned from; else NULL */
    int at;                          /* its place in the order; -1: not yet known, -2: being computed */
};

struct cuda_graph {
    struct cuda_graph *next;
    struct cuda_node *first, **last;
    int n;
    struct cuda_held *held; /* objects of the program */
    bool spoilt;            /* its capture has failed, and has not ended yet */
};

/* core_run.c: runs a launch now. */
enum cuda_error cuda_run(const struct cuda_launch *l);
/* core_graph_find.c: the first graph of the list of all. */
struct cuda_graph *cuda_graph_all(void);
/* Adds a graph to the list; removes it (false: it is not in the list). */
void cuda_graph_list(struct cuda_graph *g);
bool cuda_graph_unlist(struct cuda_graph *g);
void cuda_node_free(struct cuda_node *n);
/* Whether the graph has the node; the node of a handle, NULL: none. */
bool cuda_graph_has(const struct cuda_graph *g, const struct cuda_node *n);
struct cuda_node *cuda_graph_node(const struct cuda_node *n);
/* A copy of the work becomes a node of the graph, behind the `n` nodes of `before`; `out` may be NULL. */
enum cuda_error cuda_graph_add(struct cuda_node **out, struct cuda_graph *g, struct cuda_node *const *before, size_t n,
                               const struct cuda_work *w);
/* False: the host is out of memory. */
bool cuda_graph_depend(struct cuda_node *n, struct cuda_node *on);
/* The nodes in order, in a block that the caller frees. NULL, with *e: a cycle, or no memory. */
struct cuda_node **cuda_graph_order(struct cuda_graph *g, enum cuda_error *e);

/* Memory of nodes. With the last of its uses it is freed, if a node frees it. */
struct cuda_graph_memory {
    struct cuda_graph_memory *next;
    uint64_t address, bytes;
    int uses;
    bool freed; /* by a node */
};
/* Allocates memory that has no use yet. */
enum cuda_error cuda_graph_memory_new(struct cuda_graph_memory **out, size_t bytes);
/* The memory at an address; NULL: none. */
struct cuda_graph_memory *cuda_graph_memory_at(const void *p);
/* Adds and drops a use. */
void cuda_graph_memory_keep(struct cuda_graph_memory *m);
void cuda_graph_memory_drop(struct cuda_graph_memory *m);
/* Takes a use of each object for another graph (false: the host is out of memory); drops all uses. */
bool cuda_held_copy(struct cuda_held **to, const struct cuda_held *from);
void cuda_held_drop(struct cuda_held **list);

/* Copies what the work points to (false: the host is out of memory); frees that copy; does the work. */
bool cuda_work_own(struct cuda_work *w);
void cuda_work_free(struct cuda_work *w);
enum cuda_error cuda_work_run(const struct cuda_work *w);
/* Replaces work by other work of the same kind; `at` NULL: CUDA_ErrorInvalidValue. */
enum cuda_error cuda_work_replace(struct cuda_work *at, const struct cuda_work *w);
enum cuda_error cuda_work_set_kernel(struct cuda_work *at, const struct cuda_kernel_params *p);

/* Whether work for the stream becomes a node; makes that node, behind what the stream was given before. */
bool cuda_capturing(const struct cuda_stream *s);
enum cuda_error cuda_capture(struct cuda_stream *s, const struct cuda_work *w);
/* The program did something with a captured stream that no node can do: the capture has failed. Returns the error. */
enum cuda_error cuda_capture_spoil(struct cuda_stream *s);

/* The nodes that the next node of a captured stream, or behind a captured event, depends on. */
struct cuda_frontier {
    struct cuda_graph *graph; /* NULL: not captured */
    struct cuda_node **nodes;
    int n;
};
bool cuda_frontier_copy(struct cuda_frontier *to, const struct cuda_frontier *from);
bool cuda_frontier_join(struct cuda_frontier *to, const struct cuda_frontier *from);
void cuda_frontier_clear(struct cuda_frontier *f);
/* The frontier of a stream; NULL for a default stream, which cannot be captured. */
struct cuda_frontier *cuda_stream_frontier(struct cuda_stream *s);
/* Ends the capture of all streams into the graph; its events are forgotten, too. */
void cuda_streams_release(const struct cuda_graph *g);
/* Records an event where the stream is: now, or, if the stream is captured, behind its nodes. */
enum cuda_error cuda_event_put(struct cuda_event *e, struct cuda_stream *s);
/* Records an event now. */
void cuda_event_stamp(struct cuda_event *e);
#endif
