#ifndef CUDA_CORE_GRAPH_H
#define CUDA_CORE_GRAPH_H
/* Graphs: work to do later, added node by node or captured from a stream. Functions return CUDA_ErrorInvalidValue
 * for an invalid handle. */
#include "core_stream.h"
#include "core_work.h"

struct cuda_graph_exec;  /* an executable graph (instantiated) */
struct cuda_user_object; /* a user object that graphs keep alive */
typedef struct cuda_node *const *node_list;
enum { GRAPH_HOLD_MOVE = 1 };

/* cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS */
struct cuda_instantiation {
    unsigned long long flags;
    struct cuda_stream *upload;
    struct cuda_node *wrong;
    int result;
};

/* Returns the graph of a handle, which may be a graph inside a node; NULL if the handle is invalid. */
struct cuda_graph *cuda_graph_of(const struct cuda_graph *g);
/* Create an empty graph, and destroy a graph. */
enum cuda_error cuda_graph_create(struct cuda_graph **out);
enum cuda_error cuda_graph_destroy(struct cuda_graph *g);
enum cuda_error cuda_graph_clone(struct cuda_graph **out, const struct cuda_graph *from);
/* Fills `out` with at most *n nodes, and sets *n to their number. `roots`: only nodes without a dependency. */
enum cuda_error cuda_graph_nodes(struct cuda_graph *g, struct cuda_node **out, size_t *n, bool roots);
enum cuda_error cuda_node_type(const struct cuda_node *n, int *out);
/* Adds a node with a copy of the work. The node depends on the `n` nodes of `before`. `out` may be NULL. */
enum cuda_error cuda_graph_add_work(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_work *w);
/* Adds a node from a description of its work. */
enum cuda_error cuda_graph_add_kernel(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      const struct cuda_kernel_params *p);
/* Adds a node that copies to or from a variable. */
enum cuda_error cuda_graph_add_symbol(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      const struct cuda_symbol_copy *c);
enum cuda_error cuda_graph_add_fill(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_fill_params *f);
enum cuda_error cuda_graph_add_call(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_call *c);
enum cuda_error cuda_graph_add_child(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_graph *child);
/* Adds a node that records the event (`kind` is NODE_RECORD) or waits for the event (NODE_WAIT). */
enum cuda_error cuda_graph_add_event(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     enum cuda_node_kind kind, struct cuda_event *event);
/* Get and set the event of a node that records (`kind` is NODE_RECORD) or waits (NODE_WAIT). */
enum cuda_error cuda_node_event(const struct cuda_node *n, enum cuda_node_kind kind, struct cuda_event **out);
enum cuda_error cuda_node_set_event(struct cuda_node *n, enum cuda_node_kind kind, struct cuda_event *event);
/* Add a node of any kind from its description, and replace the work of a node. `work` makes the work of kinds other
 * than conditions and memory, from the layout of the interface. */
typedef enum cuda_error cuda_make_work(struct cuda_work *w, const struct cuda_node_params *p);
enum cuda_error cuda_graph_add_params(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      struct cuda_node_params *p, cuda_make_work *work);
enum cuda_error cuda_node_set_params(struct cuda_node *n, const struct cuda_node_params *p, cuda_make_work *work);
enum cuda_error cuda_exec_set_params(struct cuda_graph_exec *x, const struct cuda_node *n,
                                     const struct cuda_node_params *p, cuda_make_work *work);
/* Makes to[i] depend on from[i]. */
enum cuda_error cuda_graph_add_edges(struct cuda_graph *g, node_list from, node_list to, size_t n);
/* Returns the launch of a kernel node, or CUDA_ErrorInvalidValue for a node of another kind. */
enum cuda_error cuda_node_kernel(const struct cuda_node *n, struct cuda_kernel_params *out);
/* Replaces the work of a node by other work of the same kind. */
enum cuda_error cuda_node_set_kernel(struct cuda_node *n, const struct cuda_kernel_params *p);
/* Returns the child graph of a node. The caller may change it. */
enum cuda_error cuda_node_child(const struct cuda_node *n, struct cuda_graph **out);
enum cuda_error cuda_node_call(const struct cuda_node *n, struct cuda_call *out);
enum cuda_error cuda_node_set_work(struct cuda_node *n, const struct cuda_work *w);
enum cuda_error cuda_node_set_call(struct cuda_node *n, const struct cuda_call *c);
enum cuda_error cuda_node_set_fill(struct cuda_node *n, const struct cuda_fill_params *f);
enum cuda_error cuda_node_fill(const struct cuda_node *n, struct cuda_fill_params *out);
/* Writes the graph to a file for Graphviz. */
enum cuda_error cuda_graph_draw(const struct cuda_graph *g, const char *path);
/* Lists at most *n edges of a graph, and sets *n to their number. `kinds`, which may be NULL, gets the edge kinds. */
enum cuda_error cuda_graph_edges(const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to,
                                 void *kinds, size_t *n);
/* Lists at most *n nodes that the node depends on (if `before` is set) or that depend on the node. */
enum cuda_error cuda_node_neighbours(const struct cuda_node *of, struct cuda_node **out, void *kinds, size_t *n,
                                     bool before);
enum cuda_error cuda_graph_remove_edges(const struct cuda_graph *g, node_list from, node_list to, size_t n);
/* Removes a node and its edges. Executable graphs that already exist keep the node's work. */
enum cuda_error cuda_node_destroy(struct cuda_node *n);
/* Finds the node of the clone `g` that is the copy of `original`. */
enum cuda_error cuda_node_find_copy(struct cuda_node **out, const struct cuda_node *original,
                                    const struct cuda_graph *g);
/* Creates a user object with `uses` references. destroy(data) is called when the last reference is dropped. */
enum cuda_error cuda_user_object_new(struct cuda_user_object **out, void *data, void (*destroy)(void *), unsigned uses,
                                     unsigned flags);
enum cuda_error cuda_user_object_retain(struct cuda_user_object *o, unsigned n);
enum cuda_error cuda_user_object_release(struct cuda_user_object *o, unsigned n);
/* Gives the graph `n` references to the object. GRAPH_HOLD_MOVE transfers references from the program instead of
 * adding new ones. */
enum cuda_error cuda_graph_hold(struct cuda_graph *g, struct cuda_user_object *o, unsigned n, unsigned flags);
enum cuda_error cuda_graph_release(struct cuda_graph *g, struct cuda_user_object *o, unsigned n);
/* Adds a node that allocates memory, and sets p->p to its address. The second function adds a node that frees
 * memory. */
enum cuda_error cuda_graph_add_alloc(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_alloc_params *p);
enum cuda_error cuda_graph_add_free(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const void *p);
enum cuda_error cuda_node_alloc(const struct cuda_node *n, struct cuda_alloc_params *out);
enum cuda_error cuda_node_free_of(const struct cuda_node *n, void **out);
/* Returns the number of bytes that graph nodes have allocated. */
enum cuda_error cuda_graph_memory_attribute(int device, int which, uint64_t *out);
/* Set, get and copy the launch attributes of a kernel node. `which` is a value of cudaLaunchAttributeID. */
enum cuda_error cuda_node_set_attribute(struct cuda_node *n, int which, const void *value);
enum cuda_error cuda_node_get_attribute(struct cuda_node *n, int which, void *out);
enum cuda_error cuda_node_copy_attributes(struct cuda_node *to_node, struct cuda_node *from_node);

/* Creates the variable of a condition: a word in device memory, by which conditional nodes of the graph choose a graph.
 * `flags`: 1 if each launch sets the variable to `value`, else 0. */
enum cuda_error cuda_condition_create(uint64_t *out, struct cuda_graph *g, unsigned value, unsigned flags);
/* Adds a conditional node. Its graphs are empty; the program fills them. *graphs points to them. */
enum cuda_error cuda_graph_add_condition(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                         const struct cuda_condition *c, struct cuda_graph ***graphs);

/* Makes an executable graph: a copy of the graph with its nodes in execution order. Refuses unknown flags. */
enum cuda_error cuda_graph_instantiate_with(struct cuda_graph_exec **out, struct cuda_graph *g,
                                            unsigned long long flags);
enum cuda_error cuda_graph_instantiate_params(struct cuda_graph_exec **out, struct cuda_graph *g,
                                              struct cuda_instantiation *p);
enum cuda_error cuda_exec_flags(const struct cuda_graph_exec *x, unsigned long long *out);
enum cuda_error cuda_exec_destroy(struct cuda_graph_exec *x);
/* Runs the graph. If the stream is captured, the nodes are added to the capture as a chain instead. */
enum cuda_error cuda_exec_launch(const struct cuda_graph_exec *x, struct cuda_stream *s);
enum cuda_error cuda_exec_upload(const struct cuda_graph_exec *x);
/* Replace the work in an executable graph that was copied from a node of the original graph. */
enum cuda_error cuda_exec_set_work(struct cuda_graph_exec *x, const struct cuda_node *n, const struct cuda_work *w);
enum cuda_error cuda_exec_set_kernel(struct cuda_graph_exec *x, const struct cuda_node *n,
                                     const struct cuda_kernel_params *p);
enum cuda_error cuda_exec_set_fill(struct cuda_graph_exec *x, const struct cuda_node *n,
                                   const struct cuda_fill_params *f);
enum cuda_error cuda_exec_set_call(struct cuda_graph_exec *x, const struct cuda_node *n, const struct cuda_call *c);
enum cuda_error cuda_exec_set_event(struct cuda_graph_exec *x, const struct cuda_node *n, enum cuda_node_kind kind,
                                    struct cuda_event *event);
enum cuda_error cuda_exec_set_child(struct cuda_graph_exec *x, const struct cuda_node *n, struct cuda_graph *child);
/* Set and get whether a node of the executable graph is enabled. */
enum cuda_error cuda_exec_enable(struct cuda_graph_exec *x, const struct cuda_node *n, bool on);
enum cuda_error cuda_exec_enabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned *out);
/* Replaces all work by the work of a graph of the same shape. `result` is NULL or points to the 24 bytes of
 * cudaGraphExecUpdateResultInfo. */
enum cuda_error cuda_exec_update(struct cuda_graph_exec *x, struct cuda_graph *g, void *result);
#endif
