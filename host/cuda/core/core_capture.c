/* Capture: the work that a program submits to a stream becomes nodes of a graph. */
#include "core_graph_parts.h"

enum cuda_error cuda_capture(struct cuda_stream *s, const struct cuda_work *w) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    struct cuda_node *node;
    if (f->graph->spoilt)
        return CUDA_ErrorStreamCaptureInvalidated;
    enum cuda_error e = cuda_graph_add(&node, f->graph, f->nodes, (size_t)f->n, w);
    if (e)
        return e;
    struct cuda_frontier now = {f->graph, &node, 1};
    struct cuda_graph *g = f->graph;
    cuda_frontier_clear(f);
    f->graph = g;
    return cuda_frontier_join(f, &now) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

enum cuda_error cuda_capture_spoil(struct cuda_stream *s) {
    struct cuda_graph *g = cuda_stream_frontier(s)->graph;
    bool before = g->spoilt;
    g->spoilt = true;
    return before ? CUDA_ErrorStreamCaptureInvalidated : CUDA_ErrorStreamCaptureUnsupported;
}

enum cuda_error cuda_capture_begin(struct cuda_stream *s) {
    CUDA_LOCK;
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!f)
        return CUDA_ErrorStreamCaptureUnsupported;
    return f->graph ? CUDA_ErrorIllegalState : cuda_graph_create(&f->graph);
}

enum cuda_error cuda_capture_begin_to(struct cuda_stream *s, struct cuda_graph *g, node_list before, size_t n) {
    CUDA_LOCK;
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!f || !cuda_graph_of(g) || (n && !before))
        return f ? CUDA_ErrorInvalidValue : CUDA_ErrorStreamCaptureUnsupported;
    if (f->graph || g->given)
        return CUDA_ErrorIllegalState;
    for (size_t i = 0; i < n; i++)
        if (!cuda_graph_has(g, before[i]))
            return CUDA_ErrorInvalidValue;
    const struct cuda_frontier first = {g, (struct cuda_node **)before, (int)n};
    if (!cuda_frontier_copy(f, &first))
        return CUDA_ErrorMemoryAllocation;
    g->given = true;
    return CUDA_Success;
}

enum cuda_error cuda_capture_end(struct cuda_stream *s, struct cuda_graph **out) {
    CUDA_LOCK;
    struct cuda_frontier *f = cuda_stream_frontier(s);
    struct cuda_graph *g = f ? f->graph : NULL;
    if (!g || (!out && !g->given))
        return g ? CUDA_ErrorInvalidValue : CUDA_ErrorIllegalState;
    const bool given = g->given, spoilt = g->spoilt;
    cuda_streams_release(g);
    g->given = g->spoilt = false;
    if (out)
        *out = spoilt ? NULL : g;
    if (!spoilt)
        return CUDA_Success;
    if (!given)
        cuda_graph_destroy(g);
    return CUDA_ErrorStreamCaptureInvalidated;
}

enum cuda_error cuda_capture_status(const struct cuda_stream *s, int *out) {
    CUDA_LOCK;
    enum { NONE, ACTIVE, INVALIDATED };
    const struct cuda_frontier *f = cuda_stream_frontier((struct cuda_stream *)s);
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = !f || !f->graph ? NONE : f->graph->spoilt ? INVALIDATED : ACTIVE;
    return CUDA_Success;
}

enum cuda_error cuda_capture_info(struct cuda_stream *s, int *status, unsigned long long *id, struct cuda_graph **graph,
                                  struct cuda_node *const **nodes, const void **edges, size_t *n) {
    CUDA_LOCK;
    enum cuda_error e = cuda_capture_status(s, status);
    struct cuda_frontier *f = cuda_stream_frontier(s), none = {0};
    f = f ? f : &none;
    if (edges)
        *edges = NULL; /* all edges are ordinary */
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

/* Adds the nodes that the frontier does not contain yet. */
static enum cuda_error add_distinct(struct cuda_frontier *f, node_list nodes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct cuda_node *node = nodes[i];
        const struct cuda_frontier one = {f->graph, &node, 1};
        bool known = false;
        if (!cuda_graph_has(f->graph, node))
            return CUDA_ErrorInvalidValue;
        for (int k = 0; k < f->n; k++)
            known |= f->nodes[k] == node;
        if (!known && !cuda_frontier_join(f, &one))
            return CUDA_ErrorMemoryAllocation;
    }
    return CUDA_Success;
}

enum cuda_error cuda_capture_update(struct cuda_stream *s, node_list nodes, size_t n, unsigned flags) {
    CUDA_LOCK;
    struct cuda_frontier *f = cuda_stream_frontier(s), now = {0};
    if (!f || !f->graph)
        return CUDA_ErrorIllegalState;
    if (f->graph->spoilt)
        return CUDA_ErrorStreamCaptureInvalidated;
    if (flags > CAPTURE_SET || (n && !nodes))
        return CUDA_ErrorInvalidValue;
    now.graph = f->graph;
    if (flags == CAPTURE_ADD && !cuda_frontier_join(&now, f))
        return CUDA_ErrorMemoryAllocation;
    enum cuda_error e = add_distinct(&now, nodes, n);
    if (e) {
        cuda_frontier_clear(&now);
        return e;
    }
    cuda_frontier_clear(f);
    *f = now;
    return CUDA_Success;
}

enum cuda_error cuda_capture_exchange_mode(int *mode) {
    CUDA_LOCK;
    static __thread int now;
    int was = now;
    if (!mode || *mode < 0 || *mode > 2)
        return CUDA_ErrorInvalidValue;
    now = *mode;
    *mode = was;
    return CUDA_Success;
}
