#ifndef CUDA_GRAPH_PARTS_H
#define CUDA_GRAPH_PARTS_H
/* Graphs from the inside, for graph.c (what they are, their work and order), graph_nodes.c (their nodes), graph_exec.c
 * (ready to run) and capture.c. All of it under the lock. */
#include "runtime_graph.h"

struct cuda_node {
    struct cuda_node *next;
    struct cuda_work work;
    struct cuda_node **before; /* what it depends on */
    int n_before;
    const struct cuda_node *copy_of; /* in the graph that this one was cloned from; else NULL */
    int at;                          /* its place in the order; -1: not yet, -2: being looked at */
};

struct cuda_graph {
    struct cuda_graph *next;
    struct cuda_node *first, **last;
    int n;
    struct cuda_held *held; /* objects of the program */
    bool spoilt;            /* its capture has failed, and is not yet ended */
};

typedef struct cuda_node *const *node_list;

/* As programs describe a kernel and a fill. */
struct cuda_kernel_params {
    const void *function;
    struct cuda_dim grid, block;
    unsigned shared;
    void **args, **extra;
};
struct cuda_fill_params {
    void *p;
    size_t pitch;
    unsigned value, width;
    size_t n, rows;
};

/* The first of the graphs that programs have, which are a list. */
struct cuda_graph *cuda_graph_all(void);
void cuda_node_free(struct cuda_node *n);
/* Whether it is a graph that programs have, a node of the graph, a node of any; NULL: no. */
struct cuda_graph *cuda_graph_of(const struct cuda_graph *g);
bool cuda_graph_has(const struct cuda_graph *g, const struct cuda_node *n);
struct cuda_node *cuda_graph_node(const struct cuda_node *n);
/* An empty one, among those that programs have. */
enum cuda_error cuda_graph_create(struct cuda_graph **out);
enum cuda_error cuda_graph_destroy(struct cuda_graph *g);
/* A copy of the work becomes a node of the graph, behind the `n` of `before`; `out` may be NULL. */
enum cuda_error cuda_graph_add(struct cuda_node **out, struct cuda_graph *g, struct cuda_node *const *before, size_t n,
                               const struct cuda_work *w);
/* False without memory. */
bool cuda_graph_depend(struct cuda_node *n, struct cuda_node *on);
/* The nodes in order, in a block of the caller's; NULL, with *e, for a circle or without memory. */
struct cuda_node **cuda_graph_order(struct cuda_graph *g, enum cuda_error *e);

/* graph_memory.c: memory of nodes; it goes with the last of its `uses`, if a node gives it back. */
struct cuda_graph_memory {
    struct cuda_graph_memory *next;
    uint64_t address, bytes;
    int uses;
    bool given_back;
};
void cuda_graph_memory_keep(struct cuda_graph_memory *m);
void cuda_graph_memory_drop(struct cuda_graph_memory *m);
/* graph_object.c: a use of each object for another graph (false without memory); all uses given back. */
bool cuda_held_copy(struct cuda_held **to, const struct cuda_held *from);
void cuda_held_drop(struct cuda_held **list);

/* Makes what the work points to its own (false without memory); gives that back; does it. */
bool cuda_work_own(struct cuda_work *w);
void cuda_work_free(struct cuda_work *w);
enum cuda_error cuda_work_run(const struct cuda_work *w);
/* Other work of the same kind in the place of what is there; NULL is none there. */
enum cuda_error cuda_work_replace(struct cuda_work *at, const struct cuda_work *w);
/* graph_exec.c: the work that a node of the graph became; NULL: none. */
struct cuda_graph_exec;
struct cuda_work *cuda_exec_work(struct cuda_graph_exec *x, const struct cuda_node *n);
/* Another graph of the same shape in its place; `told`: NULL, or the bytes of cudaGraphExecUpdateResultInfo. */
enum cuda_error cuda_exec_update(struct cuda_graph_exec *x, struct cuda_graph *g, void *told);
enum cuda_error cuda_kernel_work(struct cuda_work *w, const struct cuda_kernel_params *p);
enum cuda_error cuda_work_set_kernel(struct cuda_work *at, const struct cuda_kernel_params *p);
/* Work out of a program's description. */
struct cuda_work cuda_line_work(void *to, const void *from, size_t bytes, enum cuda_copy kind);
bool cuda_can_fill(const struct cuda_fill_params *f);
struct cuda_work cuda_fill_work(const struct cuda_fill_params *f);

/* Functions of the runtime that the driver's and other files call. */
enum cuda_error cudaGraphAddKernelNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                       const struct cuda_kernel_params *p);
enum cuda_error cudaGraphAddMemsetNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                       const struct cuda_fill_params *f);
enum cuda_error cudaGraphExecKernelNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                 const struct cuda_kernel_params *p);
enum cuda_error cudaGraphExecMemsetNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                 const struct cuda_fill_params *f);
enum cuda_error cudaGraphInstantiateWithFlags(struct cuda_graph_exec **out, struct cuda_graph *g,
                                              unsigned long long flags);
enum cuda_error cudaGraphKernelNodeGetParams(const struct cuda_node *n, struct cuda_kernel_params *out);
enum cuda_error cudaGraphKernelNodeSetParams(struct cuda_node *n, const struct cuda_kernel_params *p);
#endif
