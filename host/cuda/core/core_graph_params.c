/* Makes nodes from descriptions whose first field names the kind of the node (CUDA 12.2). */
#include "core_graph_parts.h"
#include <stdio.h>

enum cuda_error cuda_described_work(struct cuda_work *w, const struct cuda_node_params *p) {
    *w = (struct cuda_work){.kind = (enum cuda_node_kind)p->kind};
    switch (p->kind) {
    case NODE_KERNEL:
        return cuda_kernel_work(w, &p->kernel);
    case NODE_FILL:
        if (!cuda_can_fill(&p->fill))
            return CUDA_ErrorInvalidValue;
        *w = cuda_fill_work(&p->fill);
        return CUDA_Success;
    case NODE_HOST:
        w->call = p->call;
        return w->call.call ? CUDA_Success : CUDA_ErrorInvalidValue;
    case NODE_GRAPH:
        w->graph = p->graph;
        return cuda_graph_of(w->graph) ? CUDA_Success : CUDA_ErrorInvalidValue;
    case NODE_EMPTY:
        return CUDA_Success;
    case NODE_WAIT:
    case NODE_RECORD:
        w->event = p->event;
        return w->event ? CUDA_Success : CUDA_ErrorInvalidValue;
    case NODE_ALLOC:
    case NODE_FREE:
    case NODE_CONDITION:
        return CUDA_ErrorInvalidValue; /* they cannot be replaced */
    default:
        fprintf(stderr, "heddle: a graph node of kind %d (semaphores, operations on memory) is not simulated\n",
                p->kind);
        return CUDA_ErrorNotSupported;
    }
}

enum cuda_error cuda_graph_add_params(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                      struct cuda_node_params *p, cuda_make_work *work) {
    CUDA_LOCK;
    struct cuda_work w;
    if (!out || !p || !cuda_graph_of(g) || (n && !before) || (p->kind == NODE_GRAPH && p->graph == g))
        return CUDA_ErrorInvalidValue;
    if (p->kind == NODE_CONDITION) {
        const struct cuda_condition c = {p->condition.word, (enum cuda_condition_kind)p->condition.kind, p->condition.n,
                                         NULL};
        return cuda_graph_add_condition(out, g, before, n, &c, &p->condition.graphs);
    }
    if (p->kind == NODE_ALLOC)
        return cuda_graph_add_alloc(out, g, before, n, &p->alloc);
    if (p->kind == NODE_FREE)
        return cuda_graph_add_free(out, g, before, n, p->freed);
    const enum cuda_error e = work(&w, p);
    return e ? e : cuda_graph_add_work(out, g, before, n, &w);
}

enum cuda_error cuda_node_set_params(struct cuda_node *n, const struct cuda_node_params *p, cuda_make_work *work) {
    CUDA_LOCK;
    struct cuda_work w;
    enum cuda_error e = n && p ? work(&w, p) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_node_set_work(n, &w);
}

enum cuda_error cuda_exec_set_params(struct cuda_graph_exec *x, const struct cuda_node *n,
                                     const struct cuda_node_params *p, cuda_make_work *work) {
    CUDA_LOCK;
    struct cuda_work w;
    enum cuda_error e = x && n && p ? work(&w, p) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_exec_set_work(x, n, &w);
}
