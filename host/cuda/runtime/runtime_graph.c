/* Graph functions that only the runtime has, and graph functions whose descriptions differ from the driver's. */
#include "runtime.h"
#include <string.h>

/* Returns true if the functions that list and change edges have a parameter for edge kinds, which CUDA 13 added. All
 * edges are of the ordinary kind. */
static bool with_kinds(void) { return cuda_major() >= 13; }

/* ---- copies and fills ---- */

CUDA_API enum cuda_error cudaGraphAddMemcpyNode1D(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                  size_t n, void *to, const void *from, size_t bytes,
                                                  enum cuda_copy kind) {
    RUNTIME_BESIDE(
        cuda_graph_add_work(out, g, before, n, &(struct cuda_work[]){cuda_line_work(to, from, bytes, kind)}[0]));
}
CUDA_API enum cuda_error cudaGraphAddMemcpyNodeToSymbol(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                        size_t n, const void *symbol, const void *from, size_t bytes,
                                                        size_t offset, enum cuda_copy kind) {
    const struct cuda_symbol_copy c = {symbol, (void *)(uintptr_t)from, bytes, offset, kind, true};
    RUNTIME_BESIDE(cuda_graph_add_symbol(out, g, before, n, &c));
}
CUDA_API enum cuda_error cudaGraphAddMemcpyNodeFromSymbol(struct cuda_node **out, struct cuda_graph *g,
                                                          node_list before, size_t n, void *to, const void *symbol,
                                                          size_t bytes, size_t offset, enum cuda_copy kind) {
    const struct cuda_symbol_copy c = {symbol, to, bytes, offset, kind, false};
    RUNTIME_BESIDE(cuda_graph_add_symbol(out, g, before, n, &c));
}
CUDA_API enum cuda_error cudaGraphMemcpyNodeSetParams1D(struct cuda_node *n, void *to, const void *from, size_t bytes,
                                                        enum cuda_copy kind) {
    RUNTIME_BESIDE(cuda_node_set_work(n, &(struct cuda_work[]){cuda_line_work(to, from, bytes, kind)}[0]));
}
CUDA_API enum cuda_error cudaGraphExecMemcpyNodeSetParams1D(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                            void *to, const void *from, size_t bytes,
                                                            enum cuda_copy kind) {
    RUNTIME_BESIDE(cuda_exec_set_work(x, n, &(struct cuda_work[]){cuda_line_work(to, from, bytes, kind)}[0]));
}

/* Makes a copy from or to a variable. `x` is the executable graph to change; NULL changes the node itself. */
static enum cuda_error set_symbol(struct cuda_graph_exec *x, struct cuda_node *n, const struct cuda_symbol_copy *c) {
    struct cuda_work w;
    const enum cuda_error e = cuda_symbol_work(&w, c);
    return e ? e : x ? cuda_exec_set_work(x, n, &w) : cuda_node_set_work(n, &w);
}

CUDA_API enum cuda_error cudaGraphMemcpyNodeSetParamsToSymbol(struct cuda_node *n, const void *symbol, const void *from,
                                                              size_t bytes, size_t offset, enum cuda_copy kind) {
    const struct cuda_symbol_copy c = {symbol, (void *)(uintptr_t)from, bytes, offset, kind, true};
    RUNTIME_BESIDE(set_symbol(NULL, n, &c));
}
CUDA_API enum cuda_error cudaGraphMemcpyNodeSetParamsFromSymbol(struct cuda_node *n, void *to, const void *symbol,
                                                                size_t bytes, size_t offset, enum cuda_copy kind) {
    const struct cuda_symbol_copy c = {symbol, to, bytes, offset, kind, false};
    RUNTIME_BESIDE(set_symbol(NULL, n, &c));
}
CUDA_API enum cuda_error cudaGraphExecMemcpyNodeSetParamsToSymbol(struct cuda_graph_exec *x, struct cuda_node *n,
                                                                  const void *symbol, const void *from, size_t bytes,
                                                                  size_t offset, enum cuda_copy kind) {
    const struct cuda_symbol_copy c = {symbol, (void *)(uintptr_t)from, bytes, offset, kind, true};
    RUNTIME_BESIDE(x ? set_symbol(x, n, &c) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphExecMemcpyNodeSetParamsFromSymbol(struct cuda_graph_exec *x, struct cuda_node *n,
                                                                    void *to, const void *symbol, size_t bytes,
                                                                    size_t offset, enum cuda_copy kind) {
    const struct cuda_symbol_copy c = {symbol, to, bytes, offset, kind, false};
    RUNTIME_BESIDE(x ? set_symbol(x, n, &c) : CUDA_ErrorInvalidValue);
}

static enum cuda_error add_copy(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                const struct copy_3d *c) {
    struct cuda_work w = {.kind = NODE_COPY};
    enum cuda_error e = runtime_box_of(&w.box, c);
    return e ? e : cuda_graph_add_work(out, g, before, n, &w);
}

static enum cuda_error set_copy(struct cuda_node *n, const struct copy_3d *c) {
    struct cuda_work w = {.kind = NODE_COPY};
    enum cuda_error e = runtime_box_of(&w.box, c);
    return e ? e : cuda_node_set_work(n, &w);
}

static enum cuda_error exec_set_copy(struct cuda_graph_exec *x, const struct cuda_node *n, const struct copy_3d *c) {
    struct cuda_work w = {.kind = NODE_COPY};
    enum cuda_error e = runtime_box_of(&w.box, c);
    return e ? e : cuda_exec_set_work(x, n, &w);
}

CUDA_API enum cuda_error cudaGraphExecMemcpyNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                          const struct copy_3d *c) {
    RUNTIME_BESIDE(exec_set_copy(x, n, c));
}
CUDA_API enum cuda_error cudaGraphAddMemcpyNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct copy_3d *c) {
    RUNTIME_BESIDE(add_copy(out, g, before, n, c));
}
CUDA_API enum cuda_error cudaGraphMemcpyNodeSetParams(struct cuda_node *n, const struct copy_3d *c) {
    RUNTIME_BESIDE(set_copy(n, c));
}
CUDA_API enum cuda_error cudaGraphAddMemsetNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct cuda_fill_params *f) {
    RUNTIME_BESIDE(cuda_graph_add_fill(out, g, before, n, f));
}
CUDA_API enum cuda_error cudaGraphExecMemsetNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                          const struct cuda_fill_params *f) {
    RUNTIME_BESIDE(cuda_exec_set_fill(x, n, f));
}

/* ---- edges ---- */

CUDA_API enum cuda_error cudaGraphAddDependencies(struct cuda_graph *g, node_list from, node_list to, size_t n,
                                                  size_t n_of_13) {
    RUNTIME_BESIDE(cuda_graph_add_edges(g, from, to, cuda_major() >= 13 ? n_of_13 : n));
}
CUDA_API enum cuda_error cudaGraphRemoveDependencies(const struct cuda_graph *g, node_list from, node_list to,
                                                     size_t fourth, size_t n_of_13) {
    RUNTIME_BESIDE(cuda_graph_remove_edges(g, from, to, with_kinds() ? n_of_13 : fourth));
}
CUDA_API enum cuda_error cudaGraphGetEdges(const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to,
                                           void *fourth, size_t *n_of_13) {
    RUNTIME_BESIDE(with_kinds() ? cuda_graph_edges(g, from, to, fourth, n_of_13)
                                : cuda_graph_edges(g, from, to, NULL, fourth));
}
CUDA_API enum cuda_error cudaGraphNodeGetDependencies(const struct cuda_node *of, struct cuda_node **out, void *third,
                                                      size_t *n_of_13) {
    RUNTIME_BESIDE(with_kinds() ? cuda_node_neighbours(of, out, third, n_of_13, true)
                                : cuda_node_neighbours(of, out, NULL, third, true));
}
CUDA_API enum cuda_error cudaGraphNodeGetDependentNodes(const struct cuda_node *of, struct cuda_node **out, void *third,
                                                        size_t *n_of_13) {
    RUNTIME_BESIDE(with_kinds() ? cuda_node_neighbours(of, out, third, n_of_13, false)
                                : cuda_node_neighbours(of, out, NULL, third, false));
}

/* ---- kernels and executable graphs ---- */

/* Copies launch attributes between two kernel nodes. In CUDA 13 the first parameter is the destination of the copy. In
 * older versions, it is the source. */
CUDA_API enum cuda_error cudaGraphKernelNodeCopyAttributes(struct cuda_node *a, struct cuda_node *b) {
    bool to_first = cuda_major() >= 13;
    RUNTIME_BESIDE(cuda_node_copy_attributes(to_first ? a : b, to_first ? b : a));
}
/* Creates an executable graph. In CUDA 11 the function has no flags, but three parameters for messages, which are
 * ignored here. */
CUDA_API enum cuda_error cudaGraphInstantiate(struct cuda_graph_exec **out, struct cuda_graph *g,
                                              unsigned long long flags_of_12) {
    RUNTIME_BESIDE(cuda_graph_instantiate_with(out, g, cuda_major() >= 12 ? flags_of_12 : 0));
}
/* Replaces the work of an executable graph by the work of graph `g`. CUDA 12 has one struct that describes a failure.
 * CUDA 11 has a node and a result instead. */
CUDA_API enum cuda_error cudaGraphExecUpdate(struct cuda_graph_exec *x, struct cuda_graph *g, void *told, int *what) {
    enum { UPDATED = 0, TOPOLOGY_CHANGED = 2 };
    if (cuda_major() >= 12)
        RUNTIME_BESIDE(cuda_exec_update(x, g, told));
    enum cuda_error e = cuda_enter();
    e = runtime_leave(e ? e : cuda_exec_update(x, g, NULL));
    if (told)
        memset(told, 0, sizeof(void *));
    if (what)
        *what = e ? TOPOLOGY_CHANGED : UPDATED;
    return e;
}

/* ---- nodes of any kind (CUDA 12.2): the description names the kind ---- */

static enum cuda_error work_of(struct cuda_work *w, const struct cuda_node_params *p) {
    *w = (struct cuda_work){.kind = NODE_COPY};
    return p->kind == NODE_COPY ? runtime_box_of(&w->box, (const struct copy_3d *)(const void *)p->copy.box)
                                : cuda_described_work(w, p);
}

CUDA_API enum cuda_error cudaGraphAddNode_v2(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                             const void *kinds, size_t n, struct cuda_node_params *d) {
    (void)kinds;
    RUNTIME_BESIDE(cuda_graph_add_params(out, g, before, n, d, work_of));
}
/* Adds a node to a graph. CUDA 13 has a parameter for edge kinds before the number of dependencies. */
CUDA_API enum cuda_error cudaGraphAddNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                          uintptr_t fourth, uintptr_t fifth, struct cuda_node_params *d_of_13) {
    bool kinds = cuda_major() >= 13;
    RUNTIME_BESIDE(cuda_graph_add_params(out, g, before, kinds ? fifth : fourth,
                                         kinds ? d_of_13 : (struct cuda_node_params *)fifth, work_of));
}

CUDA_API enum cuda_error cudaGraphConditionalHandleCreate(uint64_t *out, struct cuda_graph *g, unsigned value,
                                                          unsigned flags) {
    RUNTIME_BESIDE(cuda_condition_create(out, g, value, flags));
}

CUDA_API enum cuda_error cudaGraphNodeSetParams(struct cuda_node *n, const struct cuda_node_params *d) {
    RUNTIME_BESIDE(cuda_node_set_params(n, d, work_of));
}
CUDA_API enum cuda_error cudaGraphExecNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                    const struct cuda_node_params *d) {
    RUNTIME_BESIDE(cuda_exec_set_params(x, n, d, work_of));
}
