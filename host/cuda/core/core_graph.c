/* Implements graphs, the work of their nodes, and the order of execution. Nodes run one after another, each after
 * the nodes that it depends on. */
#include "core_graph_parts.h"
#include "core_module.h"
#include <stdlib.h>
#include <string.h>

/* ---- work ---- */

static struct cuda_graph *cuda_graph_new(void);
static struct cuda_graph *cuda_graph_copy(const struct cuda_graph *g);
static void cuda_graph_free(struct cuda_graph *g);
static enum cuda_error cuda_graph_run(struct cuda_graph *g);

/* A conditional node owns its graphs. */
static void condition_free(struct cuda_condition *c) {
    for (unsigned i = 0; c->graphs && i < c->n; i++)
        cuda_graph_free(c->graphs[i]);
    free(c->graphs);
}

static bool condition_own(struct cuda_condition *c) {
    struct cuda_graph *const *from = c->graphs;
    c->graphs = calloc(c->n, sizeof *c->graphs);
    bool ok = c->graphs != NULL;
    for (unsigned i = 0; ok && i < c->n; i++)
        ok = (c->graphs[i] = from ? cuda_graph_copy(from[i]) : cuda_graph_new()) != NULL;
    if (!ok)
        condition_free(c);
    return ok;
}

static enum cuda_error read_word(const struct cuda_condition *c, uint32_t *value) {
    return heddle_read(cuda_core.h, c->word, value, sizeof *value) == HEDDLE_OK ? CUDA_Success : CUDA_ErrorInvalidValue;
}

static enum cuda_error condition_run(const struct cuda_condition *c) {
    uint32_t value;
    enum cuda_error e = read_word(c, &value);
    if (e)
        return e;
    if (c->kind == CONDITION_SWITCH)
        return value < c->n ? cuda_graph_run(c->graphs[value]) : CUDA_Success;
    if (c->kind == CONDITION_IF)
        return value ? cuda_graph_run(c->graphs[0]) : c->n > 1 ? cuda_graph_run(c->graphs[1]) : CUDA_Success;
    if (value && !c->graphs[0]->n) /* nothing can end this loop */
        return CUDA_ErrorInvalidValue;
    while (!e && value) {
        e = cuda_graph_run(c->graphs[0]);
        e = e ? e : read_word(c, &value);
    }
    return e;
}

bool cuda_work_own(struct cuda_work *w) {
    if (w->kind == NODE_KERNEL)
        return cuda_launch_own(&w->launch);
    if (w->kind == NODE_CONDITION)
        return condition_own(&w->condition);
    if (w->kind == NODE_ALLOC || w->kind == NODE_FREE)
        cuda_graph_memory_keep(w->memory);
    return w->kind != NODE_GRAPH || (w->graph = cuda_graph_copy(w->graph)) != NULL;
}

void cuda_work_free(struct cuda_work *w) {
    if (w->kind == NODE_KERNEL)
        free(w->launch.args);
    else if (w->kind == NODE_GRAPH)
        cuda_graph_free(w->graph);
    else if (w->kind == NODE_CONDITION)
        condition_free(&w->condition);
    else if (w->kind == NODE_ALLOC || w->kind == NODE_FREE)
        cuda_graph_memory_drop(w->memory);
}

enum cuda_error cuda_work_run(const struct cuda_work *w) {
    switch (w->kind) {
    case NODE_KERNEL:
        return cuda_run(&w->launch);
    case NODE_COPY:
        return cuda_copy_box("a copy of a stream or graph", &w->box);
    case NODE_FILL:
        return cuda_fill_rows("a fill of a stream or graph", &w->rows);
    case NODE_HOST:
        cuda_call(w->call.call, w->call.data);
        return CUDA_Success;
    case NODE_TASK:
        return w->task.run(w->task.data);
    case NODE_GRAPH:
        return cuda_graph_run(w->graph);
    case NODE_CONDITION:
        return condition_run(&w->condition);
    case NODE_RECORD:
        cuda_event_stamp(w->event);
        return CUDA_Success;
    case NODE_ALLOC:
        w->memory->held = true;
        return CUDA_Success;
    case NODE_FREE:
        w->memory->held = false;
        return CUDA_Success;
    case NODE_WAIT:
    case NODE_EMPTY:
        break;
    }
    return CUDA_Success;
}

/* ---- graphs and their nodes ---- */

static struct cuda_graph *cuda_graph_new(void) {
    struct cuda_graph *g = calloc(1, sizeof *g);
    if (g)
        g->last = &g->first;
    return g;
}

void cuda_node_free(struct cuda_node *n) {
    cuda_work_free(&n->work);
    free(n->before);
    free(n);
}

static void cuda_graph_free(struct cuda_graph *g) {
    while (g && g->first) {
        struct cuda_node *n = g->first;
        g->first = n->next;
        cuda_node_free(n);
    }
    if (g)
        cuda_held_drop(&g->held);
    free(g);
}

bool cuda_graph_depend(struct cuda_node *n, struct cuda_node *on) {
    struct cuda_node **more = realloc(n->before, (size_t)(n->n_before + 1) * sizeof *more);
    if (!more)
        return false;
    n->before = more;
    n->before[n->n_before++] = on;
    return true;
}

enum cuda_error cuda_graph_add(struct cuda_node **out, struct cuda_graph *g, struct cuda_node *const *before, size_t n,
                               const struct cuda_work *w) {
    for (size_t i = 0; i < n; i++)
        if (!cuda_graph_has(g, before[i]))
            return CUDA_ErrorInvalidValue;
    struct cuda_node *node = calloc(1, sizeof *node);
    if (!node)
        return CUDA_ErrorMemoryAllocation;
    *node = (struct cuda_node){.work = *w};
    if (!cuda_work_own(&node->work)) {
        free(node);
        return CUDA_ErrorMemoryAllocation;
    }
    *g->last = node;
    g->last = &node->next;
    g->n++;
    for (size_t i = 0; i < n; i++)
        if (!cuda_graph_depend(node, before[i]))
            return CUDA_ErrorMemoryAllocation;
    if (out)
        *out = node;
    return CUDA_Success;
}

/* Puts all nodes that a node depends on into the order, and then the node. Returns false if there is a cycle. The
 * recursion depth is the length of the longest chain of nodes in which each node was added to the graph before the node
 * that it depends on. Programs mostly add a node after the nodes that it depends on, so the recursion is shallow. */
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

struct cuda_node **cuda_graph_order(struct cuda_graph *g, enum cuda_error *e) {
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

static enum cuda_error cuda_graph_run(struct cuda_graph *g) {
    enum cuda_error e;
    struct cuda_node **order = cuda_graph_order(g, &e);
    for (int i = 0; !e && i < g->n; i++)
        e = cuda_work_run(&order[i]->work);
    free(order);
    return e;
}

static struct cuda_graph *cuda_graph_copy(const struct cuda_graph *from) {
    enum cuda_error e;
    struct cuda_graph *g = cuda_graph_new();
    struct cuda_node **order = g ? cuda_graph_order((struct cuda_graph *)from, &e) : NULL;
    struct cuda_node **copies = order ? calloc((size_t)from->n + 1, sizeof *copies) : NULL;
    bool ok = copies && cuda_held_copy(&g->held, from->held);
    for (int i = 0; ok && i < from->n; i++) {
        ok = cuda_graph_add(&copies[i], g, NULL, 0, &order[i]->work) == CUDA_Success;
        if (ok)
            copies[i]->copy_of = order[i];
        for (int k = 0; ok && k < order[i]->n_before; k++)
            ok = cuda_graph_depend(copies[i], copies[order[i]->before[k]->at]);
    }
    free(order);
    free(copies);
    if (!ok) {
        cuda_graph_free(g);
        return NULL;
    }
    return g;
}

enum cuda_error cuda_graph_create(struct cuda_graph **out) {
    CUDA_LOCK;
    if (!out || !(*out = cuda_graph_new()))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    cuda_graph_list(*out);
    return CUDA_Success;
}

enum cuda_error cuda_graph_destroy(struct cuda_graph *g) {
    CUDA_LOCK;
    if (!cuda_graph_unlist(g))
        return CUDA_ErrorInvalidValue;
    cuda_streams_release(g);
    cuda_graph_free(g);
    return CUDA_Success;
}

enum cuda_error cuda_graph_clone(struct cuda_graph **out, const struct cuda_graph *from) {
    CUDA_LOCK;
    if (!out || !cuda_graph_of(from))
        return CUDA_ErrorInvalidValue;
    if (!(*out = cuda_graph_copy(from)))
        return CUDA_ErrorMemoryAllocation;
    cuda_graph_list(*out);
    return CUDA_Success;
}

/* ---- the nodes of a graph ---- */

enum cuda_error cuda_graph_nodes(struct cuda_graph *g, struct cuda_node **out, size_t *n, bool roots) {
    CUDA_LOCK;
    if (!cuda_graph_of(g) || !n)
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

enum cuda_error cuda_node_type(const struct cuda_node *n, int *out) {
    CUDA_LOCK;
    if (!cuda_graph_node(n) || !out)
        return CUDA_ErrorInvalidValue;
    *out = (int)n->work.kind;
    return CUDA_Success;
}
