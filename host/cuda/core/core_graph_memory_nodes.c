/* Nodes that allocate and free memory. The address is fixed when the node is created, so the memory exists from then
 * until no graph contains the node. */
#include "core_graph_parts.h"
#include <string.h>

/* The place of a new node: after the work of the captured stream `s`, or in graph `g` if `s` is NULL. */
struct place {
    struct cuda_stream *s;
    struct cuda_node **out;
    struct cuda_graph *g;
    node_list before;
    size_t n;
};

static enum cuda_error add(const struct place *at, const struct cuda_work *w) {
    return at->s ? cuda_capture(at->s, w) : cuda_graph_add(at->out, at->g, at->before, at->n, w);
}

static bool is_place(const struct place *at) { return at->out && cuda_graph_of(at->g) && (!at->n || at->before); }

static enum cuda_error add_alloc(const struct place *at, size_t bytes, void **p) {
    struct cuda_work w = {.kind = NODE_ALLOC};
    enum cuda_error e = cuda_graph_memory_new(&w.memory, bytes);
    if (e)
        return e;
    w.memory->uses = 1; /* this reference keeps the memory until the new node has a reference */
    if (!(e = add(at, &w)))
        *p = (void *)(uintptr_t)w.memory->address;
    cuda_graph_memory_drop(w.memory);
    return e;
}

static enum cuda_error add_free(const struct place *at, const void *p) {
    struct cuda_work w = {.kind = NODE_FREE, .memory = cuda_graph_memory_at(p)};
    if (!w.memory || w.memory->freed)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = add(at, &w);
    w.memory->freed = e == CUDA_Success;
    return e;
}

enum cuda_error cuda_graph_add_alloc(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                     struct cuda_alloc_params *p) {
    CUDA_LOCK;
    enum { PINNED = 1, ON_DEVICE = 1 };
    const struct place at = {NULL, out, g, before, n};
    if (!is_place(&at) || !p || p->type != PINNED || p->handle_types || p->location != ON_DEVICE)
        return CUDA_ErrorInvalidValue;
    return p->device ? CUDA_ErrorInvalidDevice : add_alloc(&at, p->bytes, &p->p);
}

enum cuda_error cuda_graph_add_free(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                    const void *p) {
    CUDA_LOCK;
    const struct place at = {NULL, out, g, before, n};
    return is_place(&at) ? add_free(&at, p) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_capture_alloc(void **out, size_t bytes, struct cuda_stream *s) {
    return out ? add_alloc(&(struct place){.s = s}, bytes, out) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_capture_free(const void *p, struct cuda_stream *s) { return add_free(&(struct place){.s = s}, p); }

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
