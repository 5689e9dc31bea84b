#ifndef CUDA_CORE_GRAPH_H
#define CUDA_CORE_GRAPH_H
/* Graphs: work to do later, added node by node or captured from a stream. A handle that is none is
 * CUDA_ErrorInvalidValue. */
#include "core_stream.h"
#include "core_work.h"

struct cuda_graph_exec;  /* a graph made ready to run */
struct cuda_user_object; /* an object of the program that graphs hold */
typedef struct cuda_node *const *node_list;
enum { GRAPH_HOLD_MOVE = 1 };

/* cudaMemAllocNodeParams */
struct cuda_alloc_params {
    int type, handle_types, location, device;
    char more[72];
    const void *access;
    size_t n_access, bytes;
    void *p;
};
/* cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS */
struct cuda_instantiation {
    unsigned long long flags;
    struct cuda_stream *upload;
    struct cuda_node *wrong;
    int result;
};

/* The graph of a handle, which may be inside of a node; NULL: none. */
struct cuda_graph *cuda_graph_of(const struct cuda_graph *g);
/* Makes an empty graph, destroys it. */
enum cuda_error cuda_graph_create(struct cuda_graph **out);
enum cuda_error cuda_graph_destroy(struct cuda_graph *g);
enum cuda_error cuda_graph_clone(struct cuda_graph **out, const struct cuda_graph *from);
/* Fills `out` with at most *n nodes and *n with their number; `roots`: those without a dependency. */
enum cuda_error cuda_graph_nodes(struct cuda_graph *g, struct cuda_node **out, size_t *n, bool roots);
enum cuda_error cuda_node_type(const struct cuda_node *n, int *out);
/* A copy of the work becomes a node behind the `n` nodes of `before`; `out` may be NULL. */
enum cuda_error cuda_graph_add_work(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_work *w);
/* The same from a description of the work. */
enum cuda_error cuda_graph_add_kernel(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      const struct cuda_kernel_params *p);
/* A copy to the variable `symbol` if `to`, else from it. */
enum cuda_error cuda_graph_add_symbol(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                      bool to);
enum cuda_error cuda_graph_add_fill(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_fill_params *f);
enum cuda_error cuda_graph_add_call(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_call *c);
enum cuda_error cuda_graph_add_child(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_graph *child);
/* `kind`: NODE_RECORD or NODE_WAIT. */
enum cuda_error cuda_graph_add_event(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     enum cuda_node_kind kind, struct cuda_event *event);
/* Makes to[i] depend on from[i]. */
enum cuda_error cuda_graph_add_edges(struct cuda_graph *g, node_list from, node_list to, size_t n);
/* What a node does; CUDA_ErrorInvalidValue for a node of another kind. */
enum cuda_error cuda_node_kernel(const struct cuda_node *n, struct cuda_kernel_params *out);
/* Replaces the work of a node by other work of the same kind. */
enum cuda_error cuda_node_set_kernel(struct cuda_node *n, const struct cuda_kernel_params *p);
/* The graph of a node, which may be changed. */
enum cuda_error cuda_node_child(const struct cuda_node *n, struct cuda_graph **out);
enum cuda_error cuda_node_call(const struct cuda_node *n, struct cuda_call *out);
enum cuda_error cuda_node_set_work(struct cuda_node *n, const struct cuda_work *w);
enum cuda_error cuda_node_set_call(struct cuda_node *n, const struct cuda_call *c);
enum cuda_error cuda_node_set_fill(struct cuda_node *n, const struct cuda_fill_params *f);
enum cuda_error cuda_node_fill(const struct cuda_node *n, struct cuda_fill_params *out);
/* Writes the graph to a file for Graphviz. */
enum cuda_error cuda_graph_draw(const struct cuda_graph *g, const char *path);
/* At most *n edges of a graph, and their number in *n; `kinds` may be NULL. */
enum cuda_error cuda_graph_edges(const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to,
                                 void *kinds, size_t *n);
/* At most *n nodes that the node depends on (`before`) or that depend on it. */
enum cuda_error cuda_node_neighbours(const struct cuda_node *of, struct cuda_node **out, void *kinds, size_t *n,
                                     bool before);
enum cuda_error cuda_graph_remove_edges(const struct cuda_graph *g, node_list from, node_list to, size_t n);
/* Removes a node with its edges. Executable graphs made before keep the node's work. */
enum cuda_error cuda_node_destroy(struct cuda_node *n);
/* The node of the clone `g` that is the copy of `original`. */
enum cuda_error cuda_node_find_copy(struct cuda_node **out, const struct cuda_node *original,
                                    const struct cuda_graph *g);
/* An object of the program with `uses`; destroy(data) is called after the last. */
enum cuda_error cuda_user_object_new(struct cuda_user_object **out, void *data, void (*destroy)(void *), unsigned uses,
                                     unsigned flags);
enum cuda_error cuda_user_object_retain(struct cuda_user_object *o, unsigned n);
enum cuda_error cuda_user_object_release(struct cuda_user_object *o, unsigned n);
/* Gives the graph `n` uses of the object; GRAPH_HOLD_MOVE: takes them from the program. */
enum cuda_error cuda_graph_hold(struct cuda_graph *g, struct cuda_user_object *o, unsigned n, unsigned flags);
enum cuda_error cuda_graph_release(struct cuda_graph *g, struct cuda_user_object *o, unsigned n);
/* Adds a node that allocates, and sets p->p to its memory; adds a node that frees memory. */
enum cuda_error cuda_graph_add_alloc(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_alloc_params *p);
enum cuda_error cuda_graph_add_free(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const void *p);
enum cuda_error cuda_node_alloc(const struct cuda_node *n, struct cuda_alloc_params *out);
enum cuda_error cuda_node_free_of(const struct cuda_node *n, void **out);
/* Bytes that nodes of graphs have allocated. */
enum cuda_error cuda_graph_memory_attribute(int device, int which, uint64_t *out);
/* Attributes of the launch of a kernel node, by cudaLaunchAttributeID. */
enum cuda_error cuda_node_set_attribute(struct cuda_node *n, int which, const void *value);
enum cuda_error cuda_node_get_attribute(struct cuda_node *n, int which, void *out);
enum cuda_error cuda_node_copy_attributes(struct cuda_node *to_node, struct cuda_node *from_node);

/* Makes a graph ready to run: a copy of it in order. The flags are only reported back. */
enum cuda_error cuda_graph_instantiate(struct cuda_graph_exec **out, struct cuda_graph *g, unsigned long long flags);
/* The same, but refuses unknown flags. */
enum cuda_error cuda_graph_instantiate_with(struct cuda_graph_exec **out, struct cuda_graph *g,
                                            unsigned long long flags);
enum cuda_error cuda_graph_instantiate_params(struct cuda_graph_exec **out, struct cuda_graph *g,
                                              struct cuda_instantiation *p);
enum cuda_error cuda_exec_flags(const struct cuda_graph_exec *x, unsigned long long *out);
enum cuda_error cuda_exec_destroy(struct cuda_graph_exec *x);
/* Runs the graph; a captured stream gets its nodes as a chain. */
enum cuda_error cuda_exec_launch(const struct cuda_graph_exec *x, struct cuda_stream *s);
enum cuda_error cuda_exec_upload(const struct cuda_graph_exec *x);
/* Replaces the work that a node of the graph became. */
enum cuda_error cuda_exec_set_work(struct cuda_graph_exec *x, const struct cuda_node *n, const struct cuda_work *w);
enum cuda_error cuda_exec_set_kernel(struct cuda_graph_exec *x, const struct cuda_node *n,
                                     const struct cuda_kernel_params *p);
enum cuda_error cuda_exec_set_fill(struct cuda_graph_exec *x, const struct cuda_node *n,
                                   const struct cuda_fill_params *f);
enum cuda_error cuda_exec_set_call(struct cuda_graph_exec *x, const struct cuda_node *n, const struct cuda_call *c);
/* Sets, gets whether a node runs. */
enum cuda_error cuda_exec_enable(struct cuda_graph_exec *x, const struct cuda_node *n, bool on);
enum cuda_error cuda_exec_enabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned *out);
/* Replaces all work by that of a graph of the same shape; `result`: NULL, or the 24 bytes of
 * cudaGraphExecUpdateResultInfo. */
enum cuda_error cuda_exec_update(struct cuda_graph_exec *x, struct cuda_graph *g, void *result);
#endif
