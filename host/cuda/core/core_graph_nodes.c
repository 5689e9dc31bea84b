/* Adds, reads and changes the nodes of a graph. */
#include "core_graph_parts.h"
#include "core_launch.h"
#include <string.h>

enum cuda_error cuda_graph_add_work(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_work *w) {
    CUDA_LOCK;
    if (!cuda_graph_of(g) || (n && !before))
        return CUDA_ErrorInvalidValue;
    return cuda_graph_add(out, g, before, n, w);
}

enum cuda_error cuda_kernel_work(struct cuda_work *w, const struct cuda_kernel_params *p) {
    struct cuda_kernel *k;
    enum cuda_error e = p && !p->extra ? cuda_find_launched(p->function, &k) : CUDA_ErrorInvalidValue;
    if (e || (k->n_params && !p->args))
        return e ? e : CUDA_ErrorInvalidValue;
    *w = (struct cuda_work){NODE_KERNEL, .launch = {k, p->grid, p->block, p->shared, p->args, false, 0, {0, 0, 0}}};
    return CUDA_Success;
}

enum cuda_error cuda_graph_add_kernel(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      const struct cuda_kernel_params *p) {
    CUDA_LOCK;
    struct cuda_work w;
    enum cuda_error e = cuda_kernel_work(&w, p);
    return e ? e : cuda_graph_add_work(out, g, before, n, &w);
}

struct cuda_work cuda_line_work(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    return (struct cuda_work){NODE_COPY, .box = {to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind}};
}

enum cuda_error cuda_symbol_work(struct cuda_work *w, const struct cuda_symbol_copy *c) {
    CUDA_LOCK;
    uint64_t address, size;
    enum cuda_error e = cuda_find_variable(c->symbol, &address, &size);
    if (e || c->offset > size || c->bytes > size - c->offset)
        return e ? e : CUDA_ErrorInvalidValue;
    void *at = (void *)(uintptr_t)(address + c->offset);
    *w = c->to ? cuda_line_work(at, c->other, c->bytes, c->kind) : cuda_line_work(c->other, at, c->bytes, c->kind);
    return CUDA_Success;
}

enum cuda_error cuda_graph_add_symbol(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      const struct cuda_symbol_copy *c) {
    struct cuda_work w;
    enum cuda_error e = cuda_symbol_work(&w, c);
    return e ? e : cuda_graph_add_work(out, g, before, n, &w);
}

struct cuda_work cuda_fill_work(const struct cuda_fill_params *f) {
    return (struct cuda_work){NODE_FILL, .rows = {f->p, f->pitch, f->value, f->width, f->n, f->rows}};
}

bool cuda_can_fill(const struct cuda_fill_params *f) { return f && (f->width == 1 || f->width == 2 || f->width == 4); }

enum cuda_error cuda_graph_add_fill(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_fill_params *f) {
    CUDA_LOCK;
    return cuda_can_fill(f) ? cuda_graph_add_work(out, g, before, n, &(struct cuda_work[]){cuda_fill_work(f)}[0])
                            : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_graph_add_call(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const struct cuda_call *c) {
    CUDA_LOCK;
    return c && c->call ? cuda_graph_add_work(out, g, before, n, &(struct cuda_work){NODE_HOST, .call = *c})
                        : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_graph_add_child(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_graph *child) {
    CUDA_LOCK;
    return cuda_graph_of(child) && child != g
               ? cuda_graph_add_work(out, g, before, n, &(struct cuda_work){NODE_GRAPH, .graph = child})
               : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_graph_add_event(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     enum cuda_node_kind kind, struct cuda_event *event) {
    CUDA_LOCK;
    return event ? cuda_graph_add_work(out, g, before, n, &(struct cuda_work){kind, .event = event})
                 : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_graph_add_edges(struct cuda_graph *g, node_list from, node_list to, size_t n) {
    CUDA_LOCK;
    enum cuda_error e = cuda_graph_of(g) ? CUDA_Success : CUDA_ErrorInvalidValue;
    for (size_t i = 0; !e && i < n; i++) {
        if (!cuda_graph_has(g, from[i]) || !cuda_graph_has(g, to[i]) || from[i] == to[i])
            e = CUDA_ErrorInvalidValue;
        else if (!cuda_graph_depend(to[i], from[i]))
            e = CUDA_ErrorMemoryAllocation;
    }
    return e;
}

/* ---- reading and changing nodes ---- */

enum cuda_error cuda_node_kernel(const struct cuda_node *n, struct cuda_kernel_params *out) {
    CUDA_LOCK;
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_KERNEL)
        return CUDA_ErrorInvalidValue;
    const struct cuda_launch *l = &n->work.launch;
    *out = (struct cuda_kernel_params){l->kernel->stub, l->grid, l->block, (unsigned)l->shared, l->args, NULL};
    return CUDA_Success;
}

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

enum cuda_error cuda_node_set_kernel(struct cuda_node *n, const struct cuda_kernel_params *p) {
    CUDA_LOCK;
    return cuda_work_set_kernel(work_of(n), p);
}

enum cuda_error cuda_node_child(const struct cuda_node *n, struct cuda_graph **out) {
    CUDA_LOCK;
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_GRAPH)
        return CUDA_ErrorInvalidValue;
    *out = n->work.graph;
    return CUDA_Success;
}

enum cuda_error cuda_node_call(const struct cuda_node *n, struct cuda_call *out) {
    CUDA_LOCK;
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_HOST)
        return CUDA_ErrorInvalidValue;
    *out = n->work.call;
    return CUDA_Success;
}

enum cuda_error cuda_node_set_work(struct cuda_node *n, const struct cuda_work *w) {
    CUDA_LOCK;
    struct cuda_work *at = work_of(n);
    return at ? cuda_work_replace(at, w) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_node_set_call(struct cuda_node *n, const struct cuda_call *c) {
    CUDA_LOCK;
    return c && c->call ? cuda_node_set_work(n, &(struct cuda_work){NODE_HOST, .call = *c}) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_node_set_fill(struct cuda_node *n, const struct cuda_fill_params *f) {
    CUDA_LOCK;
    return cuda_can_fill(f) ? cuda_node_set_work(n, &(struct cuda_work[]){cuda_fill_work(f)}[0])
                            : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_node_fill(const struct cuda_node *n, struct cuda_fill_params *out) {
    CUDA_LOCK;
    if (!out || !cuda_graph_node(n) || n->work.kind != NODE_FILL)
        return CUDA_ErrorInvalidValue;
    const struct cuda_rows *r = &n->work.rows;
    *out = (struct cuda_fill_params){r->p, r->pitch, r->value, r->width, r->n, r->rows};
    return CUDA_Success;
}

enum cuda_error cuda_node_event(const struct cuda_node *n, enum cuda_node_kind kind, struct cuda_event **out) {
    CUDA_LOCK;
    if (!out || !cuda_graph_node(n) || n->work.kind != kind)
        return CUDA_ErrorInvalidValue;
    *out = n->work.event;
    return CUDA_Success;
}

enum cuda_error cuda_node_set_event(struct cuda_node *n, enum cuda_node_kind kind, struct cuda_event *event) {
    return event ? cuda_node_set_work(n, &(struct cuda_work){kind, .event = event}) : CUDA_ErrorInvalidValue;
}

/* ---- attributes of kernel nodes ---- */

enum { COOPERATIVE = 2, CLUSTER = 4, PRIORITY = 8 };

static struct cuda_launch *launch_of(struct cuda_node *n) {
    return cuda_graph_node(n) && n->work.kind == NODE_KERNEL ? &n->work.launch : NULL;
}

enum cuda_error cuda_node_set_attribute(struct cuda_node *n, int which, const void *value) {
    CUDA_LOCK;
    struct cuda_launch *l = launch_of(n);
    struct cuda_launch_attribute a = {.id = (unsigned)which};
    struct cuda_dim cluster;
    bool cooperative;
    if (!l || !value)
        return CUDA_ErrorInvalidValue;
    memcpy(&a.value, value, sizeof a.value);
    cuda_launch_attributes(&a, 1, &cooperative, &cluster);
    if (which == COOPERATIVE)
        l->cooperative = cooperative;
    if (which == CLUSTER)
        l->cluster = cluster;
    if (which == PRIORITY)
        memcpy(&l->priority, value, sizeof l->priority);
    return CUDA_Success;
}

enum cuda_error cuda_node_get_attribute(struct cuda_node *n, int which, void *out) {
    CUDA_LOCK;
    const struct cuda_launch *l = launch_of(n);
    int value = !l ? 0 : which == COOPERATIVE ? l->cooperative : l->priority;
    if (!l || !out || (which != COOPERATIVE && which != CLUSTER && which != PRIORITY))
        return l && out ? CUDA_ErrorNotSupported : CUDA_ErrorInvalidValue;
    memset(out, 0, sizeof((struct cuda_launch_attribute *)0)->value);
    if (which == CLUSTER)
        memcpy(out, &l->cluster, sizeof l->cluster);
    else
        memcpy(out, &value, sizeof value);
    return CUDA_Success;
}

enum cuda_error cuda_node_copy_attributes(struct cuda_node *to_node, struct cuda_node *from_node) {
    CUDA_LOCK;
    struct cuda_launch *to = launch_of(to_node);
    const struct cuda_launch *from = launch_of(from_node);
    if (!to || !from)
        return CUDA_ErrorInvalidValue;
    to->cooperative = from->cooperative;
    to->cluster = from->cluster;
    to->priority = from->priority;
    return CUDA_Success;
}

/* Writes the graph as text for Graphviz, with the nodes in the order in which they were added. */
static void draw(FILE *to, const struct cuda_graph *g) {
    static const char *const kinds[] = {"kernel", "copy", "fill", "host",     "graph", "empty", "wait",
                                        "record", "",     "",     "allocate", "free",  "",      "condition"};
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

enum cuda_error cuda_graph_draw(const struct cuda_graph *g, const char *path) {
    CUDA_LOCK;
    FILE *to = cuda_graph_of(g) && path ? fopen(path, "w") : NULL;
    if (!to)
        return CUDA_ErrorInvalidValue;
    draw(to, g);
    bool written = !ferror(to);
    return fclose(to) == 0 && written ? CUDA_Success : CUDA_ErrorOperatingSystem;
}
