/* Memory that graph nodes allocate, with a reference count. */
#include "core_graph_parts.h"
#include <stdlib.h>

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
    if (!m->held)
        heddle_free(cuda_core.h, m->address);
    free(m);
}

enum cuda_error cuda_graph_memory_return(struct cuda_graph_memory *m) {
    if (!m->held)
        return CUDA_ErrorInvalidValue;
    m->held = false;
    return CUDA_Success;
}

struct cuda_graph_memory *cuda_graph_memory_at(const void *p) {
    struct cuda_graph_memory *m = all_memory;
    while (m && m->address != (uintptr_t)p)
        m = m->next;
    return m;
}

enum cuda_error cuda_graph_memory_new(struct cuda_graph_memory **out, size_t bytes) {
    struct cuda_graph_memory *m = bytes ? calloc(1, sizeof *m) : NULL;
    uint64_t at = m ? heddle_alloc(cuda_core.h, bytes) : 0;
    if (!at) {
        free(m);
        return bytes ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    }
    *m = (struct cuda_graph_memory){.next = all_memory, .address = at, .bytes = bytes};
    *out = all_memory = m;
    return CUDA_Success;
}

/* Returns the bytes that all nodes have allocated. Used, reserved, current and peak bytes are reported as one
 * number. */
enum cuda_error cuda_graph_memory_attribute(int device, int which, uint64_t *out) {
    CUDA_LOCK;
    if (device || !out || which < 0 || which > 3)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *out = 0;
    for (const struct cuda_graph_memory *m = all_memory; m; m = m->next)
        *out += m->bytes;
    return CUDA_Success;
}
