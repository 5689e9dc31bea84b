/* Memory pools: all of them give the device's memory; each counts what came from it. */
#include "host/cuda/core/core_graph_parts.h"
#include "runtime_api.h"
#include <stdlib.h>
#include <string.h>

struct cuda_pool {
    struct cuda_pool *next;
    uint64_t threshold; /* bytes to keep when they are free: noted, as nothing is ever kept */
    uint64_t used, most_used;
    int reuse[4]; /* the three ways to use memory again, from 1 */
};
static struct cuda_pool standard;
static struct cuda_pool *pools, *current = &standard; /* under the lock */

/* What is allocated, to be found when it is freed. */
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

/* A captured stream gets its memory at once: the graph has the address in it. */
static enum cuda_error take(void **out, size_t bytes, struct cuda_pool *pool) {
    if (!is_pool(pool))
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = cudaMalloc(out, bytes);
    struct piece *p = e || !bytes ? NULL : malloc(sizeof *p);
    if (e || !bytes)
        return e;
    if (!p) {
        cudaFree(*out);
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

CUDA_API enum cuda_error cudaMallocAsync(void **out, size_t bytes, struct cuda_stream *s) {
    (void)s;
    GUARD(take(out, bytes, current));
}
CUDA_API enum cuda_error cudaMallocFromPoolAsync(void **out, size_t bytes, struct cuda_pool *pool,
                                                 struct cuda_stream *s) {
    (void)s;
    GUARD(take(out, bytes, pool));
}

/* What a captured stream frees stays: its graph may run again. */
static enum cuda_error give(void *p, const struct cuda_stream *s) {
    if (cuda_capturing(s))
        return CUDA_Success;
    enum cuda_error e = cudaFree(p);
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

CUDA_API enum cuda_error cudaFreeAsync(void *p, struct cuda_stream *s) { GUARD(give(p, s)); }

struct properties {
    int type, handles, location, device;
    void *windows;
    size_t largest;
    char reserved[56];
};

static enum cuda_error create(struct cuda_pool **out, const struct properties *p) {
    enum { PINNED = 1, ON_DEVICE = 1 };
    if (!out || !p || p->type != PINNED || p->location != ON_DEVICE || p->device)
        return CUDA_ErrorInvalidValue;
    if (p->handles)
        return CUDA_ErrorNotSupported; /* to be shared with other processes */
    struct cuda_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return CUDA_ErrorMemoryAllocation;
    for (int i = 0; i < 4; i++)
        pool->reuse[i] = 1;
    pool->next = pools;
    *out = pools = pool;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaMemPoolCreate(struct cuda_pool **out, const struct properties *p) {
    GUARD(create(out, p));
}

/* It stays for what was allocated from it. */
static enum cuda_error destroy(struct cuda_pool *p) {
    for (struct cuda_pool **i = &pools; *i; i = &(*i)->next)
        if (*i == p) {
            *i = p->next;
            current = current == p ? &standard : current;
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaMemPoolDestroy(struct cuda_pool *p) { GUARD(destroy(p)); }

enum { REUSE_FIRST = 1, REUSE_LAST = 3, RELEASE_THRESHOLD, RESERVED, RESERVED_MOST, USED, USED_MOST };

static enum cuda_error get(const struct cuda_pool *p, int which, void *out) {
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

CUDA_API enum cuda_error cudaMemPoolGetAttribute(const struct cuda_pool *p, int which, void *out) {
    GUARD(get(p, which, out));
}

static enum cuda_error set(struct cuda_pool *p, int which, const void *value) {
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

CUDA_API enum cuda_error cudaMemPoolSetAttribute(struct cuda_pool *p, int which, const void *value) {
    GUARD(set(p, which, value));
}
CUDA_API enum cuda_error cudaMemPoolTrimTo(struct cuda_pool *p, size_t keep) {
    (void)keep;
    GUARD(is_pool(p) ? CUDA_Success : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaMemPoolSetAccess(struct cuda_pool *p, const void *list, size_t n) {
    GUARD(is_pool(p) && (list || !n) ? CUDA_Success : CUDA_ErrorInvalidValue);
}

static enum cuda_error put(struct cuda_pool **out, int device, struct cuda_pool *p) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *out = p;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDeviceGetDefaultMemPool(struct cuda_pool **out, int device) {
    GUARD(put(out, device, &standard));
}
CUDA_API enum cuda_error cudaDeviceGetMemPool(struct cuda_pool **out, int device) { GUARD(put(out, device, current)); }

static enum cuda_error use(int device, struct cuda_pool *p) {
    if (device || !is_pool(p))
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    current = p;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDeviceSetMemPool(int device, struct cuda_pool *p) { GUARD(use(device, p)); }
