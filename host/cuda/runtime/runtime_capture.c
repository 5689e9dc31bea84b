/* Capture: what is given to a stream becomes nodes of a graph. */
#include "runtime_graph_parts.h"
#include <stdlib.h>
#include <string.h>

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

static enum cuda_error begin(struct cuda_stream *s) {
    struct cuda_frontier *f = cuda_stream_frontier(s);
    if (!f)
        return CUDA_ErrorStreamCaptureUnsupported;
    return f->graph ? CUDA_ErrorIllegalState : cuda_graph_create(&f->graph);
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
    if (!(*out)->spoilt)
        return CUDA_Success;
    cuda_graph_destroy(*out);
    *out = NULL;
    return CUDA_ErrorStreamCaptureInvalidated;
}

CUDA_API enum cuda_error cudaStreamEndCapture(struct cuda_stream *s, struct cuda_graph **out) { GUARD(end(s, out)); }

static enum cuda_error captured(const struct cuda_stream *s, int *out) {
    enum { NONE, ACTIVE, INVALIDATED };
    const struct cuda_frontier *f = cuda_stream_frontier((struct cuda_stream *)s);
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = !f || !f->graph ? NONE : f->graph->spoilt ? INVALIDATED : ACTIVE;
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
/* With the edges' kinds, of which none is simulated: they are all the ordinary one. */
CUDA_API enum cuda_error cudaStreamGetCaptureInfo_v3(struct cuda_stream *s, int *status, unsigned long long *id,
                                                     struct cuda_graph **graph, struct cuda_node *const **nodes,
                                                     const void **edges, size_t *n) {
    if (edges)
        *edges = NULL;
    return cudaStreamGetCaptureInfo_v2(s, status, id, graph, nodes, n);
}
/* 11 and 12 have it with two results, 13 as _v3. */
CUDA_API enum cuda_error cudaStreamGetCaptureInfo(struct cuda_stream *s, int *status, unsigned long long *id,
                                                  struct cuda_graph **graph, struct cuda_node *const **nodes,
                                                  const void **edges, size_t *n) {
    if (cuda_major() < 13)
        return cudaStreamGetCaptureInfo_v2(s, status, id, NULL, NULL, NULL);
    return cudaStreamGetCaptureInfo_v3(s, status, id, graph, nodes, edges, n);
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
