/* Memory in graphs: nodes that allocate and give back. An address is fixed when its node is made, so that it is memory
 * from then on, until no graph or graph made ready has the node any more; what no node gives back is the program's. */
#include "runtime_graph_parts.h"
#include <stdlib.h>
#include <string.h>

/* cudaMemAllocNodeParams. */
struct alloc_params {
    int type, handle_types, location, device;
    char more[72];
    const void *access;
    size_t n_access, bytes;
    void *p;
};

static struct cuda_graph_memory *all_memory; /* under the lock */

void cuda_graph_memory_keep(struct cuda_graph_memory *m) { m->uses++; }

void cuda_graph_memory_drop(struct cuda_graph_memory *m) {
    if (--m->uses)
        return;
    for (struct cuda_graph_memory **i = &all_memory; *i; i = &(*i)->next)
        if (*i == m) {
            *i = m->next;
            break;
        }
    if (m->given_back)
        heddle_free(cuda_runtime.h, m->address);
    free(m);
}

static struct cuda_graph_memory *memory_at(const void *p) {
    struct cuda_graph_memory *m = all_memory;
    while (m && m->address != (uintptr_t)p)
        m = m->next;
    return m;
}

/* Without a use yet. */
static enum cuda_error allocate(struct cuda_graph_memory **out, size_t bytes) {
    struct cuda_graph_memory *m = bytes ? calloc(1, sizeof *m) : NULL;
    uint64_t at = m ? heddle_alloc(cuda_runtime.h, bytes) : 0;
    if (!at) {
        free(m);
        return bytes ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    }
    *m = (struct cuda_graph_memory){.next = all_memory, .address = at, .bytes = bytes};
    *out = all_memory = m;
    return CUDA_Success;
}

static enum cuda_error add_alloc(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                 struct alloc_params *p) {
    enum { PINNED = 1, ON_DEVICE = 1 };
    struct cuda_work w = {.kind = NODE_ALLOC};
    if (!out || !cuda_graph_of(g) || (n && !before) || !p || p->type != PINNED || p->handle_types ||
        p->location != ON_DEVICE)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = p->device ? CUDA_ErrorInvalidDevice : allocate(&w.memory, p->bytes);
    if (e)
        return e;
    struct cuda_graph_memory *m = w.memory;
    m->uses = 1; /* while it becomes a node */
    m->given_back = true;
    if (!(e = cuda_graph_add(out, g, before, n, &w)))
        p->p = (void *)(uintptr_t)m->address;
    m->given_back = e != CUDA_Success;
    cuda_graph_memory_drop(m);
    return e;
}

CUDA_API enum cuda_error cudaGraphAddMemAllocNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                  size_t n, struct alloc_params *p) {
    GUARD(add_alloc(out, g, before, n, p));
}

static enum cuda_error add_free(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                const void *p) {
    struct cuda_work w = {.kind = NODE_FREE, .memory = memory_at(p)};
    if (!out || !cuda_graph_of(g) || (n && !before) || !w.memory || w.memory->given_back)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = cuda_graph_add(out, g, before, n, &w);
    w.memory->given_back = e == CUDA_Success;
    return e;
}

CUDA_API enum cuda_error cudaGraphAddMemFreeNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                 size_t n, void *p) {
    GUARD(add_free(out, g, before, n, p));
}

static const struct cuda_graph_memory *of_node(const struct cuda_node *n, enum cuda_node_kind kind) {
    return cuda_graph_node(n) && n->work.kind == kind ? n->work.memory : NULL;
}

static enum cuda_error get_alloc(const struct cuda_node *n, struct alloc_params *out) {
    const struct cuda_graph_memory *m = of_node(n, NODE_ALLOC);
    if (!m || !out)
        return CUDA_ErrorInvalidValue;
    memset(out, 0, sizeof *out);
    out->type = out->location = 1; /* pinned, on the device */
    out->bytes = m->bytes;
    out->p = (void *)(uintptr_t)m->address;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphMemAllocNodeGetParams(const struct cuda_node *n, struct alloc_params *out) {
    GUARD(get_alloc(n, out));
}

static enum cuda_error get_free(const struct cuda_node *n, void **out) {
    const struct cuda_graph_memory *m = of_node(n, NODE_FREE);
    if (!m || !out)
        return CUDA_ErrorInvalidValue;
    *out = (void *)(uintptr_t)m->address;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphMemFreeNodeGetParams(const struct cuda_node *n, void *out) {
    GUARD(get_free(n, out));
}

/* Of all graphs: what they have now, which is as much as they ever reserved. */
static enum cuda_error attribute(int device, int which, uint64_t *out) {
    if (device || !out || which < 0 || which > 3)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *out = 0;
    for (const struct cuda_graph_memory *m = all_memory; m; m = m->next)
        *out += m->bytes;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDeviceGetGraphMemAttribute(int device, int which, void *out) {
    GUARD(attribute(device, which, out));
}
CUDA_API enum cuda_error cudaDeviceGraphMemTrim(int device) { GUARD(device ? CUDA_ErrorInvalidDevice : CUDA_Success); }
