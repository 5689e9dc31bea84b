/* The nodes of a graph, by the functions that add, read and change them. */
#include "runtime_graph_parts.h"

static enum cuda_error add(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                           const struct cuda_work *w) {
    if (!cuda_graph_of(g) || (n && !before))
        return CUDA_ErrorInvalidValue;
    return cuda_graph_add(out, g, before, n, w);
}

enum cuda_error cuda_kernel_work(struct cuda_work *w, const struct cuda_kernel_params *p) {
    struct cuda_kernel *k;
    enum cuda_error e = p && !p->extra ? cuda_find_launched(p->function, &k) : CUDA_ErrorInvalidValue;
    if (e || (k->n_params && !p->args))
        return e ? e : CUDA_ErrorInvalidValue;
    *w = (struct cuda_work){NODE_KERNEL, .launch = {k, p->grid, p->block, p->shared, p->args, false, 0}};
    return CUDA_Success;
}

static enum cuda_error add_kernel(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                  const struct cuda_kernel_params *p) {
    struct cuda_work w;
    enum cuda_error e = cuda_kernel_work(&w, p);
    return e ? e : add(out, g, before, n, &w);
}

CUDA_API enum cuda_error cudaGraphAddKernelNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct cuda_kernel_params *p) {
    GUARD(add_kernel(out, g, before, n, p));
}

struct cuda_work cuda_line_work(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    return (struct cuda_work){NODE_COPY, .box = {to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind}};
}

CUDA_API enum cuda_error cudaGraphAddMemcpyNode1D(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                  size_t n, void *to, const void *from, size_t bytes,
                                                  enum cuda_copy kind) {
    GUARD(add(out, g, before, n, &(struct cuda_work[]){cuda_line_work(to, from, bytes, kind)}[0]));
}

static enum cuda_error add_symbol(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                  const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                  bool to) {
    uint64_t address, size;
    enum cuda_error e = cuda_find_variable(symbol, &address, &size);
    if (e || offset > size || bytes > size - offset)
        return e ? e : CUDA_ErrorInvalidValue;
    void *at = (void *)(uintptr_t)(address + offset);
    struct cuda_work w = to ? cuda_line_work(at, other, bytes, kind) : cuda_line_work(other, at, bytes, kind);
    return add(out, g, before, n, &w);
}

CUDA_API enum cuda_error cudaGraphAddMemcpyNodeToSymbol(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                        size_t n, const void *symbol, const void *from, size_t bytes,
                                                        size_t offset, enum cuda_copy kind) {
    GUARD(add_symbol(out, g, before, n, symbol, (void *)(uintptr_t)from, bytes, offset, kind, true));
}
CUDA_API enum cuda_error cudaGraphAddMemcpyNodeFromSymbol(struct cuda_node **out, struct cuda_graph *g,
                                                          node_list before, size_t n, void *to, const void *symbol,
                                                          size_t bytes, size_t offset, enum cuda_copy kind) {
    GUARD(add_symbol(out, g, before, n, symbol, to, bytes, offset, kind, false));
}

struct copy_3d;
/* memory.c */
enum cuda_error cuda_box_of(struct cuda_box *out, const struct copy_3d *c);

static enum cuda_error add_copy(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                const struct copy_3d *c) {
    struct cuda_work w = {.kind = NODE_COPY};
    enum cuda_error e = cuda_box_of(&w.box, c);
    return e ? e : add(out, g, before, n, &w);
}

CUDA_API enum cuda_error cudaGraphAddMemcpyNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct copy_3d *c) {
    GUARD(add_copy(out, g, before, n, c));
}

struct cuda_work cuda_fill_work(const struct cuda_fill_params *f) {
    return (struct cuda_work){NODE_FILL, .rows = {f->p, f->pitch, f->value, f->width, f->n, f->rows}};
}

bool cuda_can_fill(const struct cuda_fill_params *f) { return f && (f->width == 1 || f->width == 2 || f->width == 4); }

CUDA_API enum cuda_error cudaGraphAddMemsetNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct cuda_fill_params *f) {
    GUARD(cuda_can_fill(f) ? add(out, g, before, n, &(struct cuda_work[]){cuda_fill_work(f)}[0])
                           : CUDA_ErrorInvalidValue);
}

CUDA_API enum cuda_error cudaGraphAddHostNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                              const struct cuda_call *c) {
    GUARD(c && c->call ? add(out, g, before, n, &(struct cuda_work){NODE_HOST, .call = *c}) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphAddEmptyNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                               size_t n) {
    GUARD(add(out, g, before, n, &(struct cuda_work){.kind = NODE_EMPTY}));
}
CUDA_API enum cuda_error cudaGraphAddChildGraphNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                    size_t n, struct cuda_graph *child) {
    GUARD(cuda_graph_of(child) && child != g ? add(out, g, before, n, &(struct cuda_work){NODE_GRAPH, .graph = child})
                                             : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphAddEventRecordNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                     size_t n, struct cuda_event *event) {
    GUARD(event ? add(out, g, before, n, &(struct cuda_work){NODE_RECORD, .event = event}) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphAddEventWaitNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                   size_t n, struct cuda_event *event) {
    GUARD(event ? add(out, g, before, n, &(struct cuda_work){NODE_WAIT, .event = event}) : CUDA_ErrorInvalidValue);
}

static enum cuda_error add_edges(struct cuda_graph *g, node_list from, node_list to, size_t n) {
    enum cuda_error e = cuda_graph_of(g) ? CUDA_Success : CUDA_ErrorInvalidValue;
    for (size_t i = 0; !e && i < n; i++) {
        if (!cuda_graph_has(g, from[i]) || !cuda_graph_has(g, to[i]) || from[i] == to[i])
            e = CUDA_ErrorInvalidValue;
        else if (!cuda_graph_depend(to[i], from[i]))
            e = CUDA_ErrorMemoryAllocation;
    }
    return e;
}

/* 13 has a list of the edges' kinds before the number; none is simulated. */
CUDA_API enum cuda_error cudaGraphAddDependencies_v2(struct cuda_graph *g, node_list from, node_list to,
                                                     const void *edges, size_t n) {
    (void)edges;
    GUARD(add_edges(g, from, to, n));
}
CUDA_API enum cuda_error cudaGraphAddDependencies(struct cuda_graph *g, node_list from, node_list to, size_t n,
                                                  size_t n_of_13) {
    GUARD(add_edges(g, from, to, cuda_major() >= 13 ? n_of_13 : n));
}

/* ---- what is in them ---- */

static enum cuda_error get_kernel(const struct cuda_node *n, struct cuda_kernel_params *out) {
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_KERNEL)
        return CUDA_ErrorInvalidValue;
    const struct cuda_launch *l = &n->work.launch;
    *out = (struct cuda_kernel_params){l->kernel->stub, l->grid, l->block, (unsigned)l->shared, l->args, NULL};
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphKernelNodeGetParams(const struct cuda_node *n, struct cuda_kernel_params *out) {
    GUARD(get_kernel(n, out));
}

/* The work in the place of what is there, of the same kind. */
enum cuda_error cuda_work_replace(struct cuda_work *at, const struct cuda_work *w) {
    struct cuda_work copy = *w;
    if (at->kind != w->kind)
        return CUDA_ErrorInvalidValue;
    if (!cuda_work_own(&copy))
        return CUDA_ErrorMemoryAllocation;
    cuda_work_free(at);
    *at = copy;
    return CUDA_Success;
}

enum cuda_error cuda_work_set_kernel(struct cuda_work *at, const struct cuda_kernel_params *p) {
    struct cuda_work w;
    enum cuda_error e = at ? cuda_kernel_work(&w, p) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_work_replace(at, &w);
}

static struct cuda_work *work_of(struct cuda_node *n) { return cuda_graph_node(n) ? &n->work : NULL; }

CUDA_API enum cuda_error cudaGraphKernelNodeSetParams(struct cuda_node *n, const struct cuda_kernel_params *p) {
    GUARD(cuda_work_set_kernel(work_of(n), p));
}

static enum cuda_error child_of(const struct cuda_node *n, struct cuda_graph **out) {
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_GRAPH)
        return CUDA_ErrorInvalidValue;
    *out = n->work.graph;
    return CUDA_Success;
}

/* The node's own graph, which is changed as any other. */
CUDA_API enum cuda_error cudaGraphChildGraphNodeGetGraph(const struct cuda_node *n, struct cuda_graph **out) {
    GUARD(child_of(n, out));
}

static enum cuda_error get_call(const struct cuda_node *n, struct cuda_call *out) {
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_HOST)
        return CUDA_ErrorInvalidValue;
    *out = n->work.call;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphHostNodeGetParams(const struct cuda_node *n, struct cuda_call *out) {
    GUARD(get_call(n, out));
}

static enum cuda_error set_work(struct cuda_node *n, const struct cuda_work *w) {
    struct cuda_work *at = work_of(n);
    return at ? cuda_work_replace(at, w) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaGraphHostNodeSetParams(struct cuda_node *n, const struct cuda_call *c) {
    GUARD(c && c->call ? set_work(n, &(struct cuda_work){NODE_HOST, .call = *c}) : CUDA_ErrorInvalidValue);
}

static enum cuda_error get_fill(const struct cuda_node *n, struct cuda_fill_params *out) {
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_FILL)
        return CUDA_ErrorInvalidValue;
    const struct cuda_rows *r = &n->work.rows;
    *out = (struct cuda_fill_params){r->p, r->pitch, r->value, r->width, r->n, r->rows};
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphMemsetNodeGetParams(const struct cuda_node *n, struct cuda_fill_params *out) {
    GUARD(get_fill(n, out));
}
CUDA_API enum cuda_error cudaGraphMemsetNodeSetParams(struct cuda_node *n, const struct cuda_fill_params *f) {
    GUARD(cuda_can_fill(f) ? set_work(n, &(struct cuda_work[]){cuda_fill_work(f)}[0]) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphMemcpyNodeSetParams1D(struct cuda_node *n, void *to, const void *from, size_t bytes,
                                                        enum cuda_copy kind) {
    GUARD(set_work(n, &(struct cuda_work[]){cuda_line_work(to, from, bytes, kind)}[0]));
}

static enum cuda_error set_copy(struct cuda_node *n, const struct copy_3d *c) {
    struct cuda_work w = {.kind = NODE_COPY};
    enum cuda_error e = cuda_box_of(&w.box, c);
    return e ? e : set_work(n, &w);
}

CUDA_API enum cuda_error cudaGraphMemcpyNodeSetParams(struct cuda_node *n, const struct copy_3d *c) {
    GUARD(set_copy(n, c));
}

/* The graph as text for Graphviz: nodes by their order of addition, kernels by name. */
static void draw(FILE *to, const struct cuda_graph *g) {
    static const char *const kinds[] = {"kernel", "copy",   "fill", "host", "graph",    "empty",
                                        "wait",   "record", "",     "",     "allocate", "free"};
    fputs("digraph cuda {\n", to);
    for (const struct cuda_node *n = g->first; n; n = n->next) {
        const struct cuda_work *w = &n->work;
        fprintf(to, "  \"%p\" [label=\"%s\"];\n", (const void *)n,
                w->kind == NODE_KERNEL ? w->launch.kernel->name : kinds[w->kind]);
        for (int i = 0; i < n->n_before; i++)
            fprintf(to, "  \"%p\" -> \"%p\";\n", (const void *)n->before[i], (const void *)n);
    }
    fputs("}\n", to);
}

static enum cuda_error draw_file(const struct cuda_graph *g, const char *path) {
    FILE *to = cuda_graph_of(g) && path ? fopen(path, "w") : NULL;
    if (!to)
        return CUDA_ErrorInvalidValue;
    draw(to, g);
    bool written = !ferror(to);
    return fclose(to) == 0 && written ? CUDA_Success : CUDA_ErrorOperatingSystem;
}

CUDA_API enum cuda_error cudaGraphDebugDotPrint(const struct cuda_graph *g, const char *path, unsigned flags) {
    (void)flags;
    GUARD(draw_file(g, path));
}
