/* Graphs: nodes and their order, their execution, and capture. Nodes run one after another, each behind those that it
 * depends on. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

struct cuda_node {
    struct cuda_node *next;
    struct cuda_graph *in;
    struct cuda_work work;
    struct cuda_node **before; /* what it depends on */
    int n_before, n_after;
    bool disabled;
    int at; /* its place in the order; -1: not yet, -2: being looked at */
};

struct cuda_graph {
    struct cuda_graph *next;
    struct cuda_node *first, **last;
    int n;
};

/* A graph made ready: a copy of it, in order. */
struct cuda_graph_exec {
    struct cuda_graph_exec *next;
    struct cuda_work *work;
    const struct cuda_node **of; /* the graph's node of each, for changes */
    bool *disabled;
    int n;
};

/* All that there are, under the lock: handles are looked up. */
static struct cuda_graph *graphs;
static struct cuda_graph_exec *execs;

static struct cuda_graph *graph_of(const struct cuda_graph *g) {
    struct cuda_graph *i = graphs;
    while (i && i != g)
        i = i->next;
    return i;
}

static struct cuda_graph_exec *exec_of(const struct cuda_graph_exec *x) {
    struct cuda_graph_exec *i = execs;
    while (i && i != x)
        i = i->next;
    return i;
}

static bool has_node(const struct cuda_graph *g, const struct cuda_node *n) {
    const struct cuda_node *i = g->first;
    while (i && i != n)
        i = i->next;
    return i != NULL;
}

/* ---- work ---- */

/* The arguments' values, in one block behind the pointers to them. */
static bool copy_args(struct cuda_launch *l) {
    const struct cuda_kernel *k = l->kernel;
    size_t bytes = (size_t)k->n_params * sizeof(void *);
    for (int i = 0; i < k->n_params; i++)
        bytes += (k->param_bytes[i] + 15u) / 16 * 16;
    void **args = malloc(bytes + 1);
    char *at = args ? (char *)(args + k->n_params) : NULL;
    for (int i = 0; args && i < k->n_params; i++) {
        args[i] = memcpy(at, l->args[i], k->param_bytes[i]);
        at += (k->param_bytes[i] + 15u) / 16 * 16;
    }
    l->args = args;
    return args != NULL;
}

static struct cuda_graph *copy_graph(const struct cuda_graph *g);
static void free_graph(struct cuda_graph *g);

/* Makes what the work points to its own. */
static bool own(struct cuda_work *w) {
    if (w->kind == NODE_KERNEL)
        return copy_args(&w->launch);
    return w->kind != NODE_GRAPH || (w->graph = copy_graph(w->graph)) != NULL;
}

static void free_work(struct cuda_work *w) {
    if (w->kind == NODE_KERNEL)
        free(w->launch.args);
    else if (w->kind == NODE_GRAPH)
        free_graph(w->graph);
}

static enum cuda_error run_graph(struct cuda_graph *g);

static enum cuda_error run_work(const struct cuda_work *w) {
    switch (w->kind) {
    case NODE_KERNEL:
        return cuda_run(&w->launch);
    case NODE_COPY:
        return cuda_copy_box("cudaGraphLaunch", &w->box);
    case NODE_FILL:
        return cuda_fill_rows("cudaGraphLaunch", &w->rows);
    case NODE_HOST:
        w->call.call(w->call.data);
        return CUDA_Success;
    case NODE_GRAPH:
        return run_graph(w->graph);
    case NODE_RECORD:
        cuda_event_record(w->event);
        return CUDA_Success;
    case NODE_WAIT:
    case NODE_EMPTY:
        break;
    }
    return CUDA_Success;
}

/* ---- graphs and their nodes ---- */

static struct cuda_graph *new_graph(void) {
    struct cuda_graph *g = calloc(1, sizeof *g);
    if (g)
        g->last = &g->first;
    return g;
}

static void free_graph(struct cuda_graph *g) {
    while (g && g->first) {
        struct cuda_node *n = g->first;
        g->first = n->next;
        free_work(&n->work);
        free(n->before);
        free(n);
    }
    free(g);
}

static bool depend(struct cuda_node *n, struct cuda_node *on) {
    struct cuda_node **more = realloc(n->before, (size_t)(n->n_before + 1) * sizeof *more);
    if (!more)
        return false;
    n->before = more;
    n->before[n->n_before++] = on;
    on->n_after++;
    return true;
}

/* A copy of the work becomes a node. */
static enum cuda_error add_node(struct cuda_node **out, struct cuda_graph *g, struct cuda_node *const *before, size_t n,
                                const struct cuda_work *w) {
    for (size_t i = 0; i < n; i++)
        if (!has_node(g, before[i]))
            return CUDA_ErrorInvalidValue;
    struct cuda_node *node = calloc(1, sizeof *node);
    if (!node)
        return CUDA_ErrorMemoryAllocation;
    *node = (struct cuda_node){.in = g, .work = *w};
    if (!own(&node->work)) {
        free(node);
        return CUDA_ErrorMemoryAllocation;
    }
    *g->last = node;
    g->last = &node->next;
    g->n++;
    for (size_t i = 0; i < n; i++)
        if (!depend(node, before[i]))
            return CUDA_ErrorMemoryAllocation;
    if (out)
        *out = node;
    return CUDA_Success;
}

/* Puts the node behind all that it depends on; false for a circle. Depth is that of the longest chain, so that long
 * ones are taken from their beginning: nodes were added in an order that suits nearly always. */
static bool place(struct cuda_node *n, struct cuda_node **order, int *count) {
    if (n->at == -2)
        return false;
    if (n->at >= 0)
        return true;
    n->at = -2;
    for (int i = 0; i < n->n_before; i++)
        if (!place(n->before[i], order, count))
            return false;
    order[n->at = (*count)++] = n;
    return true;
}

/* The nodes in order; NULL, with *e, for a circle or without memory. */
static struct cuda_node **order_of(struct cuda_graph *g, enum cuda_error *e) {
    struct cuda_node **order = calloc((size_t)g->n + 1, sizeof *order);
    int count = 0;
    *e = order ? CUDA_Success : CUDA_ErrorMemoryAllocation;
    for (struct cuda_node *n = g->first; n; n = n->next)
        n->at = -1;
    for (struct cuda_node *n = g->first; order && n; n = n->next)
        if (!place(n, order, &count)) {
            free(order);
            *e = CUDA_ErrorInvalidValue;
            return NULL;
        }
    return order;
}

static enum cuda_error run_graph(struct cuda_graph *g) {
    enum cuda_error e;
    struct cuda_node **order = order_of(g, &e);
    for (int i = 0; !e && i < g->n; i++)
        e = order[i]->disabled ? CUDA_Success : run_work(&order[i]->work);
    free(order);
    return e;
}

static struct cuda_graph *copy_graph(const struct cuda_graph *from) {
    enum cuda_error e;
    struct cuda_graph *g = new_graph();
    struct cuda_node **order = g ? order_of((struct cuda_graph *)from, &e) : NULL;
    struct cuda_node **copies = order ? calloc((size_t)from->n + 1, sizeof *copies) : NULL;
    bool ok = copies != NULL;
    for (int i = 0; ok && i < from->n; i++) {
        ok = add_node(&copies[i], g, NULL, 0, &order[i]->work) == CUDA_Success;
        for (int k = 0; ok && k < order[i]->n_before; k++)
            ok = depend(copies[i], copies[order[i]->before[k]->at]);
    }
    free(order);
    free(copies);
    if (!ok) {
        free_graph(g);
        return NULL;
    }
    return g;
}

static enum cuda_error create(struct cuda_graph **out) {
    if (!out || !(*out = new_graph()))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    (*out)->next = graphs;
    graphs = *out;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphCreate(struct cuda_graph **out, unsigned flags) {
    GUARD(flags ? CUDA_ErrorInvalidValue : create(out));
}

static enum cuda_error destroy(struct cuda_graph *g) {
    for (struct cuda_graph **i = &graphs; *i; i = &(*i)->next)
        if (*i == g) {
            *i = g->next;
            free_graph(g);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaGraphDestroy(struct cuda_graph *g) { GUARD(destroy(g)); }

static enum cuda_error clone_to(struct cuda_graph **out, const struct cuda_graph *from) {
    if (!out || !graph_of(from))
        return CUDA_ErrorInvalidValue;
    if (!(*out = copy_graph(from)))
        return CUDA_ErrorMemoryAllocation;
    (*out)->next = graphs;
    graphs = *out;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphClone(struct cuda_graph **out, const struct cuda_graph *from) {
    GUARD(clone_to(out, from));
}

/* ---- nodes by the functions that add them ---- */

typedef struct cuda_node *const *node_list;

static enum cuda_error add(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                           const struct cuda_work *w) {
    if (!graph_of(g) || (n && !before))
        return CUDA_ErrorInvalidValue;
    return add_node(out, g, before, n, w);
}

struct kernel_params {
    const void *function;
    struct cuda_dim grid, block;
    unsigned shared;
    void **args, **extra;
};

static enum cuda_error kernel_work(struct cuda_work *w, const struct kernel_params *p) {
    struct cuda_kernel *k;
    enum cuda_error e = p && !p->extra ? cuda_find_launched(p->function, &k) : CUDA_ErrorInvalidValue;
    if (e || (k->n_params && !p->args))
        return e ? e : CUDA_ErrorInvalidValue;
    *w = (struct cuda_work){NODE_KERNEL, .launch = {k, p->grid, p->block, p->shared, p->args, false}};
    return CUDA_Success;
}

static enum cuda_error add_kernel(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                  const struct kernel_params *p) {
    struct cuda_work w;
    enum cuda_error e = kernel_work(&w, p);
    return e ? e : add(out, g, before, n, &w);
}

CUDA_API enum cuda_error cudaGraphAddKernelNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct kernel_params *p) {
    GUARD(add_kernel(out, g, before, n, p));
}

static struct cuda_work line_work(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    return (struct cuda_work){NODE_COPY, .box = {to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind}};
}

CUDA_API enum cuda_error cudaGraphAddMemcpyNode1D(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                  size_t n, void *to, const void *from, size_t bytes,
                                                  enum cuda_copy kind) {
    GUARD(add(out, g, before, n, &(struct cuda_work[]){line_work(to, from, bytes, kind)}[0]));
}

static enum cuda_error add_symbol(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                  const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                  bool to) {
    uint64_t address, size;
    enum cuda_error e = cuda_find_variable(symbol, &address, &size);
    if (e || offset > size || bytes > size - offset)
        return e ? e : CUDA_ErrorInvalidValue;
    void *at = (void *)(uintptr_t)(address + offset);
    struct cuda_work w = to ? line_work(at, other, bytes, kind) : line_work(other, at, bytes, kind);
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

struct fill_params {
    void *p;
    size_t pitch;
    unsigned value, width;
    size_t n, rows;
};

static struct cuda_work fill_work(const struct fill_params *f) {
    return (struct cuda_work){NODE_FILL, .rows = {f->p, f->pitch, f->value, f->width, f->n, f->rows}};
}

static bool can_fill(const struct fill_params *f) { return f && (f->width == 1 || f->width == 2 || f->width == 4); }

CUDA_API enum cuda_error cudaGraphAddMemsetNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                size_t n, const struct fill_params *f) {
    GUARD(can_fill(f) ? add(out, g, before, n, &(struct cuda_work[]){fill_work(f)}[0]) : CUDA_ErrorInvalidValue);
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
    GUARD(graph_of(child) && child != g ? add(out, g, before, n, &(struct cuda_work){NODE_GRAPH, .graph = child})
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
    enum cuda_error e = graph_of(g) ? CUDA_Success : CUDA_ErrorInvalidValue;
    for (size_t i = 0; !e && i < n; i++) {
        if (!has_node(g, from[i]) || !has_node(g, to[i]) || from[i] == to[i])
            e = CUDA_ErrorInvalidValue;
        else if (!depend(to[i], from[i]))
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

/* ---- what is in a graph ---- */

static enum cuda_error list(struct cuda_graph *g, struct cuda_node **out, size_t *n, bool roots) {
    if (!graph_of(g) || !n)
        return CUDA_ErrorInvalidValue;
    size_t count = 0;
    for (struct cuda_node *i = g->first; i; i = i->next)
        if (!roots || !i->n_before) {
            if (out && count < *n)
                out[count] = i;
            count++;
        }
    for (size_t i = count; out && i < *n; i++)
        out[i] = NULL;
    *n = !out || count < *n ? count : *n;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphGetNodes(struct cuda_graph *g, struct cuda_node **out, size_t *n) {
    GUARD(list(g, out, n, false));
}
CUDA_API enum cuda_error cudaGraphGetRootNodes(struct cuda_graph *g, struct cuda_node **out, size_t *n) {
    GUARD(list(g, out, n, true));
}

/* A node of any graph; NULL: none. */
static struct cuda_node *node_of(const struct cuda_node *n) {
    for (const struct cuda_graph *g = graphs; g; g = g->next)
        if (has_node(g, n))
            return (struct cuda_node *)n;
    return NULL;
}

static enum cuda_error type_of(const struct cuda_node *n, int *out) {
    if (!node_of(n) || !out)
        return CUDA_ErrorInvalidValue;
    *out = (int)n->work.kind;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphNodeGetType(const struct cuda_node *n, int *out) { GUARD(type_of(n, out)); }

static enum cuda_error get_kernel(const struct cuda_node *n, struct kernel_params *out) {
    if (!out || !node_of(n) || n->work.kind != NODE_KERNEL)
        return CUDA_ErrorInvalidValue;
    const struct cuda_launch *l = &n->work.launch;
    *out = (struct kernel_params){l->kernel->stub, l->grid, l->block, (unsigned)l->shared, l->args, NULL};
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphKernelNodeGetParams(const struct cuda_node *n, struct kernel_params *out) {
    GUARD(get_kernel(n, out));
}

/* The work in the place of what is there, of the same kind. */
static enum cuda_error replace(struct cuda_work *at, const struct cuda_work *w) {
    struct cuda_work copy = *w;
    if (at->kind != w->kind)
        return CUDA_ErrorInvalidValue;
    if (!own(&copy))
        return CUDA_ErrorMemoryAllocation;
    free_work(at);
    *at = copy;
    return CUDA_Success;
}

static enum cuda_error set_kernel(struct cuda_work *at, const struct kernel_params *p) {
    struct cuda_work w;
    enum cuda_error e = at ? kernel_work(&w, p) : CUDA_ErrorInvalidValue;
    return e ? e : replace(at, &w);
}

static struct cuda_work *work_of(struct cuda_node *n) { return node_of(n) ? &n->work : NULL; }

CUDA_API enum cuda_error cudaGraphKernelNodeSetParams(struct cuda_node *n, const struct kernel_params *p) {
    GUARD(set_kernel(work_of(n), p));
}

/* ---- ready to run ---- */

static void free_exec(struct cuda_graph_exec *x) {
    for (int i = 0; x->work && i < x->n; i++)
        free_work(&x->work[i]);
    free(x->work);
    free(x->of);
    free(x->disabled);
}

static enum cuda_error fill_exec(struct cuda_graph_exec *x, struct cuda_graph *g) {
    enum cuda_error e;
    struct cuda_node **order = order_of(g, &e);
    *x = (struct cuda_graph_exec){.work = order ? calloc((size_t)g->n + 1, sizeof *x->work) : NULL,
                                  .of = calloc((size_t)g->n + 1, sizeof *x->of),
                                  .disabled = calloc((size_t)g->n + 1, sizeof *x->disabled)};
    if (!e && (!x->work || !x->of || !x->disabled))
        e = CUDA_ErrorMemoryAllocation;
    for (int i = 0; !e && i < g->n; i++) {
        x->of[i] = order[i];
        x->work[i] = order[i]->work;
        if (own(&x->work[i]))
            x->n++;
        else
            e = CUDA_ErrorMemoryAllocation;
    }
    free(order);
    if (e)
        free_exec(x);
    return e;
}

static enum cuda_error instantiate(struct cuda_graph_exec **out, struct cuda_graph *g) {
    struct cuda_graph_exec *x = out && graph_of(g) ? malloc(sizeof *x) : NULL;
    if (!x)
        return out && graph_of(g) ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    enum cuda_error e = fill_exec(x, g);
    if (e) {
        free(x);
        return e;
    }
    x->next = execs;
    *out = execs = x;
    return CUDA_Success;
}

/* 11 has more behind it: where to tell of a mistake. */
CUDA_API enum cuda_error cudaGraphInstantiate(struct cuda_graph_exec **out, struct cuda_graph *g) {
    GUARD(instantiate(out, g));
}
CUDA_API enum cuda_error cudaGraphInstantiateWithFlags(struct cuda_graph_exec **out, struct cuda_graph *g,
                                                       unsigned long long flags) {
    (void)flags;
    GUARD(instantiate(out, g));
}

static enum cuda_error destroy_exec(struct cuda_graph_exec *x) {
    for (struct cuda_graph_exec **i = &execs; *i; i = &(*i)->next)
        if (*i == x) {
            *i = x->next;
            free_exec(x);
            free(x);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaGraphExecDestroy(struct cuda_graph_exec *x) { GUARD(destroy_exec(x)); }

/* To be noted by a stream, it becomes a graph of its own: a chain. */
static enum cuda_error capture_exec(struct cuda_stream *s, const struct cuda_graph_exec *x) {
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < x->n; i++)
        e = x->disabled[i] ? CUDA_Success : cuda_capture(s, &x->work[i]);
    return e;
}

static enum cuda_error launch(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    if (!exec_of(x))
        return CUDA_ErrorInvalidValue;
    if (cuda_capturing(s))
        return capture_exec(s, x);
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < x->n; i++)
        e = x->disabled[i] ? CUDA_Success : run_work(&x->work[i]);
    return e;
}

CUDA_API enum cuda_error cudaGraphLaunch(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    GUARD(launch(x, s));
}
CUDA_API enum cuda_error cudaGraphUpload(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    (void)s;
    GUARD(exec_of(x) ? CUDA_Success : CUDA_ErrorInvalidValue);
}

/* The work that a node of the graph became; NULL: none. */
static struct cuda_work *exec_work(struct cuda_graph_exec *x, const struct cuda_node *n) {
    for (int i = 0; exec_of(x) && i < x->n; i++)
        if (x->of[i] == n)
            return &x->work[i];
    return NULL;
}

CUDA_API enum cuda_error cudaGraphExecKernelNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                          const struct kernel_params *p) {
    GUARD(set_kernel(exec_work(x, n), p));
}

static enum cuda_error set_work(struct cuda_work *at, struct cuda_work w) {
    return at ? replace(at, &w) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaGraphExecMemcpyNodeSetParams1D(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                            void *to, const void *from, size_t bytes,
                                                            enum cuda_copy kind) {
    GUARD(set_work(exec_work(x, n), line_work(to, from, bytes, kind)));
}
CUDA_API enum cuda_error cudaGraphExecMemsetNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                          const struct fill_params *f) {
    GUARD(can_fill(f) ? set_work(exec_work(x, n), fill_work(f)) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphExecHostNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct cuda_call *c) {
    GUARD(c && c->call ? set_work(exec_work(x, n), (struct cuda_work){NODE_HOST, .call = *c}) : CUDA_ErrorInvalidValue);
}

static enum cuda_error enable(struct cuda_graph_exec *x, const struct cuda_node *n, bool on) {
    const struct cuda_work *w = exec_work(x, n);
    if (!w)
        return CUDA_ErrorInvalidValue;
    x->disabled[w - x->work] = !on;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphNodeSetEnabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned on) {
    GUARD(enable(x, n, on != 0));
}

/* A graph of the same shape in the place of what is there. */
static enum cuda_error update(struct cuda_graph_exec *x, struct cuda_graph *g) {
    struct cuda_graph_exec fresh;
    enum cuda_error e = exec_of(x) && graph_of(g) ? fill_exec(&fresh, g) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    bool same = fresh.n == x->n;
    for (int i = 0; same && i < x->n; i++)
        same = fresh.work[i].kind == x->work[i].kind;
    if (same) { /* the nodes that changes name stay those of the first graph */
        struct cuda_work *work = x->work;
        x->work = fresh.work;
        fresh.work = work;
    }
    free_exec(&fresh);
    return same ? CUDA_Success : CUDA_ErrorGraphExecUpdateFailure;
}

/* 12 has one place for all that is told of a failure: what it was, and two nodes; 11 has two. */
CUDA_API enum cuda_error cudaGraphExecUpdate(struct cuda_graph_exec *x, struct cuda_graph *g, void *told, int *what) {
    enum { UPDATED = 0, TOPOLOGY_CHANGED = 2 };
    enum cuda_error e = cuda_enter();
    e = cuda_leave(e ? e : update(x, g));
    int *result = cuda_major() >= 12 ? told : what;
    if (told)
        memset(told, 0, cuda_major() >= 12 ? 24 : sizeof(void *));
    if (result)
        *result = e ? TOPOLOGY_CHANGED : UPDATED;
    return e;
}

/* ---- capture ---- */

void cuda_frontier_clear(struct cuda_frontier *f) {
    free(f->nodes);
    *f = (struct cuda_frontier){0};
}

bool cuda_frontier_join(struct cuda_frontier *to, const struct cuda_frontier *from) {
    struct cuda_node **more = realloc(to->nodes, (size_t)(to->n + from->n + 1) * sizeof *more);
    if (!more)
        return false;
    to->nodes = more;
    memcpy(more + to->n, from->nodes, (size_t)from->n * sizeof *more);
    to->n += from->n;
    to->graph = from->graph;
    return true;
}

bool cuda_frontier_copy(struct cuda_frontier *to, const struct cuda_frontier *from) {
    if (to == from)
        return true;
    cuda_frontier_clear(to);
    return !from->graph || cuda_frontier_join(to, from);
}

bool cuda_capturing(const struct cuda_stream *s) {
    const struct cuda_frontier *f = cuda_stream_frontier((struct cuda_stream *)s);
    return f && f->graph;
}

enum cuda_error cuda_capture(struct cuda_stream *s, const struct cuda_work *w) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    struct cuda_node *node;
    enum cuda_error e = add_node(&node, f->graph, f->nodes, (size_t)f->n, w);
    if (e)
        return e;
    struct cuda_frontier now = {f->graph, &node, 1};
    struct cuda_graph *g = f->graph;
    cuda_frontier_clear(f);
    f->graph = g;
    return cuda_frontier_join(f, &now) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

static enum cuda_error begin(struct cuda_stream *s) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!f)
        return CUDA_ErrorStreamCaptureUnsupported;
    return f->graph ? CUDA_ErrorIllegalState : create(&f->graph);
}

CUDA_API enum cuda_error cudaStreamBeginCapture(struct cuda_stream *s, int mode) {
    (void)mode;
    GUARD(begin(s));
}

static enum cuda_error end(struct cuda_stream *s, struct cuda_graph **out) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!out || !f || !f->graph)
        return out ? CUDA_ErrorIllegalState : CUDA_ErrorInvalidValue;
    *out = f->graph;
    cuda_streams_release(f->graph);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaStreamEndCapture(struct cuda_stream *s, struct cuda_graph **out) { GUARD(end(s, out)); }

static enum cuda_error captured(const struct cuda_stream *s, int *out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = cuda_capturing(s);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaStreamIsCapturing(const struct cuda_stream *s, int *out) { GUARD(captured(s, out)); }

static enum cuda_error capture_info(struct cuda_stream *s, int *status, unsigned long long *id,
                                    struct cuda_graph **graph, struct cuda_node *const **nodes, size_t *n) {
    enum cuda_error e = captured(s, status);
    struct cuda_frontier *f = cuda_stream_frontier(s), none = {0};
    f = f ? f : &none;
    if (id)
        *id = (uintptr_t)f->graph;
    if (graph)
        *graph = f->graph;
    if (nodes)
        *nodes = f->nodes;
    if (n)
        *n = (size_t)f->n;
    return e;
}

CUDA_API enum cuda_error cudaStreamGetCaptureInfo_v2(struct cuda_stream *s, int *status, unsigned long long *id,
                                                     struct cuda_graph **graph, struct cuda_node *const **nodes,
                                                     size_t *n) {
    GUARD(capture_info(s, status, id, graph, nodes, n));
}
/* 11 and 12 have it with two results, 13 with one more than _v2: the edges' kinds. */
CUDA_API enum cuda_error cudaStreamGetCaptureInfo(struct cuda_stream *s, int *status, unsigned long long *id,
                                                  struct cuda_graph **graph, struct cuda_node *const **nodes,
                                                  const void **edges, size_t *n) {
    if (cuda_major() < 13)
        return cudaStreamGetCaptureInfo_v2(s, status, id, NULL, NULL, NULL);
    if (edges)
        *edges = NULL;
    return cudaStreamGetCaptureInfo_v2(s, status, id, graph, nodes, n);
}
CUDA_API enum cuda_error cudaThreadExchangeStreamCaptureMode(int *mode) {
    static __thread int now;
    int was = now;
    if (!mode || *mode < 0 || *mode > 2)
        return cuda_note(CUDA_ErrorInvalidValue);
    now = *mode;
    *mode = was;
    return CUDA_Success;
}
