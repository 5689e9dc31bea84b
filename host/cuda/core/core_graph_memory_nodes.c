/* Nodes that allocate and free memory. The address is fixed when the node is created, so the memory exists from then
 * until no graph contains the node. */
#include "core_graph_parts.h"
#include <string.h>

enum cuda_error cuda_graph_add_alloc(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_alloc_params *p) {
    CUDA_LOCK;
    enum { PINNED = 1, ON_DEVICE = 1 };
    struct cuda_work w = {.kind = NODE_ALLOC};
    if (!out || !cuda_graph_of(g) || (n && !before) || !p || p->type != PINNED || p->handle_types ||
        p->location != ON_DEVICE)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = p->device ? CUDA_ErrorInvalidDevice : cuda_graph_memory_new(&w.memory, p->bytes);
    if (e)
        return e;
    struct cuda_graph_memory *m = w.memory;
    m->uses = 1; /* this reference keeps the memory until the new node has a reference */
    if (!(e = cuda_graph_add(out, g, before, n, &w)))
        p->p = (void *)(uintptr_t)m->address;
    cuda_graph_memory_drop(m);
    return e;
}

enum cuda_error cuda_graph_add_free(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const void *p) {
    CUDA_LOCK;
    struct cuda_work w = {.kind = NODE_FREE, .memory = cuda_graph_memory_at(p)};
    if (!out || !cuda_graph_of(g) || (n && !before) || !w.memory || w.memory->freed)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = cuda_graph_add(out, g, before, n, &w);
    w.memory->freed = e == CUDA_Success;
    return e;
}

enum cuda_error cuda_capture_alloc(void **out, size_t bytes, struct cuda_stream *s) {
    struct cuda_work w = {.kind = NODE_ALLOC};
    enum cuda_error e = out ? cuda_graph_memory_new(&w.memory, bytes) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    w.memory->uses = 1; /* this reference keeps the memory until the new node has a reference */
    if (!(e = cuda_capture(s, &w)))
        *out = (void *)(uintptr_t)w.memory->address;
    cuda_graph_memory_drop(w.memory);
    return e;
}

enum cuda_error cuda_capture_free(const void *p, struct cuda_stream *s) {
    struct cuda_work w = {.kind = NODE_FREE, .memory = cuda_graph_memory_at(p)};
    if (!w.memory || w.memory->freed)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = cuda_capture(s, &w);
    w.memory->freed = e == CUDA_Success;
    return e;
}

static const struct cuda_graph_memory *of_node(const struct cuda_node *n, enum cuda_node_kind kind) {
    return cuda_graph_node(n) && n->work.kind == kind ? n->work.memory : NULL;
}

enum cuda_error cuda_node_alloc(const struct cuda_node *n, struct cuda_alloc_params *out) {
    CUDA_LOCK;
    const struct cuda_graph_memory *m = of_node(n, NODE_ALLOC);
    if (!m || !out)
        return CUDA_ErrorInvalidValue;
    memset(out, 0, sizeof *out);
    out->type = out->location = 1; /* pinned, on the device */
    out->bytes = m->bytes;
    out->p = (void *)(uintptr_t)m->address;
    return CUDA_Success;
}

enum cuda_error cuda_node_free_of(const struct cuda_node *n, void **out) {
    CUDA_LOCK;
    const struct cuda_graph_memory *m = of_node(n, NODE_FREE);
    if (!m || !out)
        return CUDA_ErrorInvalidValue;
    *out = (void *)(uintptr_t)m->address;
    return CUDA_Success;
}
