/* Memory pools. */
#include "core_pool.h"
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

struct cuda_pool {
    struct cuda_pool *next;
    /* an attribute: number of freed bytes to keep; it has no effect, because freed memory is never kept */
    uint64_t threshold;
    uint64_t used, most_used;
    /* attributes about reuse: attribute number (REUSE_FIRST to REUSE_LAST) -> value; reuse[0] is unused */
    int reuse[4];
};
static struct cuda_pool standard;
static struct cuda_pool *pools, *current = &standard; /* under the lock */

/* An allocation, found by its address when it is freed. */
struct piece {
    struct piece *next;
    uint64_t at, bytes;
    struct cuda_pool *of;
};
enum { PIECE_CHAINS = 256 };
static struct piece *pieces[PIECE_CHAINS];

static struct piece **chain_of(uint64_t at) { return &pieces[(at >> 8) % PIECE_CHAINS]; }

static bool is_pool(const struct cuda_pool *p) {
    const struct cuda_pool *i = pools;
    while (i && i != p)
        i = i->next;
    return p == &standard || i;
}

enum cuda_error cuda_pool_allocate(void **out, size_t bytes, struct cuda_pool *pool, struct cuda_stream *s) {
    CUDA_LOCK;
    pool = pool ? pool : current;
    if (!is_pool(pool))
        return CUDA_ErrorInvalidValue;
    if (cuda_capturing(s))
        return cuda_capture_alloc(out, bytes, s);
    enum cuda_error e = cuda_allocate(out, bytes);
    struct piece *p = e || !bytes ? NULL : malloc(sizeof *p);
    if (e || !bytes)
        return e;
    if (!p) {
        cuda_free(*out);
        return CUDA_ErrorMemoryAllocation;
    }
    struct piece **chain = chain_of((uintptr_t)*out);
    *p = (struct piece){*chain, (uintptr_t)*out, bytes, pool};
    *chain = p;
    pool->used += bytes;
    if (pool->used > pool->most_used)
        pool->most_used = pool->used;
    return CUDA_Success;
}

static enum cuda_error free_now(void *p) {
    enum cuda_error e = cuda_free(p);
    for (struct piece **i = chain_of((uintptr_t)p); !e && *i; i = &(*i)->next)
        if ((*i)->at == (uintptr_t)p) {
            struct piece *gone = *i;
            *i = gone->next;
            gone->of->used -= gone->bytes;
            free(gone);
            break;
        }
    return e;
}

/* Frees memory as work of a stream. */
static void free_in_order(void *p) {
    cuda_waits.kind = WAIT_NOTHING;
    CUDA_LOCK;
    free_now(p);
}

enum cuda_error cuda_pool_free(void *p, struct cuda_stream *s) {
    CUDA_LOCK;
    if (cuda_capturing(s))
        return cuda_capture_free(p, s);
    return cuda_pends(s) ? cuda_submit(&(struct cuda_work){NODE_HOST, .call = {free_in_order, p}}, s, 0, NULL)
                         : free_now(p);
}

enum cuda_error cuda_pool_new(struct cuda_pool **out, const struct cuda_pool_properties *p) {
    CUDA_LOCK;
    enum { PINNED = 1, ON_DEVICE = 1 };
    if (!out || !p || p->type != PINNED || p->location != ON_DEVICE || p->device)
        return CUDA_ErrorInvalidValue;
    if (p->handles)
        return CUDA_ErrorNotSupported; /* handles for other processes */
    struct cuda_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return CUDA_ErrorMemoryAllocation;
    for (int i = 0; i < 4; i++)
        pool->reuse[i] = 1;
    pool->next = pools;
    *out = pools = pool;
    return CUDA_Success;
}

/* Destroys a pool. The struct is not freed, because allocations point to it. */
enum cuda_error cuda_pool_destroy(struct cuda_pool *p) {
    CUDA_LOCK;
    for (struct cuda_pool **i = &pools; *i; i = &(*i)->next)
        if (*i == p) {
            *i = p->next;
            current = current == p ? &standard : current;
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

enum { REUSE_FIRST = 1, REUSE_LAST = 3, RELEASE_THRESHOLD, RESERVED, RESERVED_MOST, USED, USED_MOST };

enum cuda_error cuda_pool_get(const struct cuda_pool *p, int which, void *out) {
    CUDA_LOCK;
    if (!is_pool(p) || !out)
        return CUDA_ErrorInvalidValue;
    if (which >= REUSE_FIRST && which <= REUSE_LAST)
        *(int *)out = p == &standard ? 1 : p->reuse[which];
    else if (which == RELEASE_THRESHOLD)
        *(uint64_t *)out = p->threshold;
    else if (which == RESERVED || which == USED)
        *(uint64_t *)out = p->used;
    else if (which == RESERVED_MOST || which == USED_MOST)
        *(uint64_t *)out = p->most_used;
    else
        return CUDA_ErrorInvalidValue;
    return CUDA_Success;
}

enum cuda_error cuda_pool_set(struct cuda_pool *p, int which, const void *value) {
    CUDA_LOCK;
    if (!is_pool(p) || !value)
        return CUDA_ErrorInvalidValue;
    if (which >= REUSE_FIRST && which <= REUSE_LAST)
        p->reuse[which] = *(const int *)value;
    else if (which == RELEASE_THRESHOLD)
        p->threshold = *(const uint64_t *)value;
    else if ((which == RESERVED_MOST || which == USED_MOST) && !*(const uint64_t *)value)
        p->most_used = p->used;
    else
        return CUDA_ErrorInvalidValue;
    return CUDA_Success;
}

static enum cuda_error put(struct cuda_pool **out, int device, struct cuda_pool *p) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *out = p;
    return CUDA_Success;
}

enum cuda_error cuda_pool_check(const struct cuda_pool *p) {
    CUDA_LOCK;
    return is_pool(p) ? CUDA_Success : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_pool_default(struct cuda_pool **out, int device) {
    CUDA_LOCK;
    return put(out, device, &standard);
}

enum cuda_error cuda_pool_current(struct cuda_pool **out, int device) {
    CUDA_LOCK;
    return put(out, device, current);
}

enum cuda_error cuda_pool_use(int device, struct cuda_pool *p) {
    CUDA_LOCK;
    if (device || !is_pool(p))
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    current = p;
    return CUDA_Success;
}

enum { ON_DEVICE = 1, PINNED = 1 };

static enum cuda_error check_place(const struct cuda_pool_place *at, int type) {
    if (!at)
        return CUDA_ErrorInvalidValue;
    return at->type == ON_DEVICE && type == PINNED ? CUDA_Success : CUDA_ErrorNotSupported;
}

enum cuda_error cuda_pool_at(struct cuda_pool **out, const struct cuda_pool_place *at, int type, bool standard_one) {
    const enum cuda_error e = check_place(at, type);
    return e ? e : standard_one ? cuda_pool_default(out, at->device) : cuda_pool_current(out, at->device);
}

enum cuda_error cuda_pool_use_at(const struct cuda_pool_place *at, int type, struct cuda_pool *p) {
    const enum cuda_error e = check_place(at, type);
    return e ? e : cuda_pool_use(at->device, p);
}

enum cuda_error cuda_pool_access(int *out, const struct cuda_pool *p, const struct cuda_pool_place *at) {
    CUDA_LOCK;
    enum { READS_AND_WRITES = 3 };
    if (!out || !at || !is_pool(p))
        return CUDA_ErrorInvalidValue;
    *out = at->type == ON_DEVICE ? READS_AND_WRITES : 0;
    return at->type == ON_DEVICE && at->device ? CUDA_ErrorInvalidDevice : CUDA_Success;
}
