/* Mipmapped arrays. All levels are in one block of memory, one after another, as the simulator's textures expect.
 * Each level is an array, with half the texels of the previous level in each dimension. */
#include "core_texture.h"
#include <stdlib.h>

enum { MOST_LEVELS = 17 };
struct cuda_mipmap {
    struct cuda_mipmap *next;
    uint64_t data;
    unsigned n;
    struct cuda_array *levels[MOST_LEVELS];
};
static struct cuda_mipmap *mipmaps; /* under the lock */

static struct cuda_mipmap **find(const struct cuda_mipmap *m) {
    struct cuda_mipmap **i = &mipmaps;
    while (*i && *i != m)
        i = &(*i)->next;
    return i;
}

const struct cuda_array *cuda_mipmap_base(const struct cuda_mipmap *m, unsigned *levels) {
    CUDA_LOCK;
    const struct cuda_mipmap *found = *find(m);
    if (!found)
        return NULL;
    *levels = found->n;
    return found->levels[0];
}

static size_t halved(size_t n, unsigned level) { return !n ? 0 : n >> level ? n >> level : 1; }

static struct cuda_extent extent_of(struct cuda_extent e, unsigned level, unsigned flags) {
    bool layers = flags & (ARRAY_LAYERED | ARRAY_CUBE);
    return (struct cuda_extent){halved(e.width, level), halved(e.height, level),
                                layers ? e.depth : halved(e.depth, level)};
}

/* Returns the number of levels until all dimensions are 1. */
static unsigned most_levels(struct cuda_extent e, unsigned flags) {
    size_t largest = e.width > e.height ? e.width : e.height;
    if (!(flags & (ARRAY_LAYERED | ARRAY_CUBE)) && e.depth > largest)
        largest = e.depth;
    unsigned n = 1;
    while (n < MOST_LEVELS && largest >> n)
        n++;
    return n;
}

static void free_mipmap(struct cuda_mipmap *m) {
    for (unsigned i = 0; i < m->n; i++)
        cuda_array_forget(m->levels[i]);
    heddle_free(cuda_core.h, m->data);
    free(m);
}

static enum cuda_error make_levels(struct cuda_mipmap *m, const struct channel_format *f, struct cuda_extent e,
                                   unsigned flags) {
    uint64_t at = m->data;
    for (unsigned n = m->n, i = m->n = 0; i < n; i++) {
        struct cuda_extent level = extent_of(e, i, flags);
        if (!(m->levels[i] = cuda_array_view(f, level, flags, at)))
            return CUDA_ErrorMemoryAllocation;
        m->n++;
        at += cuda_array_size(f, level);
    }
    return CUDA_Success;
}

enum cuda_error cuda_mipmap_new(struct cuda_mipmap **out, const struct channel_format *f, struct cuda_extent e,
                                unsigned n, unsigned flags) {
    CUDA_LOCK;
    enum cuda_error error = out && f && n ? cuda_array_check(f, e, flags) : CUDA_ErrorInvalidValue;
    if (error)
        return error;
    uint64_t bytes = 0;
    unsigned most = most_levels(e, flags);
    n = n < most ? n : most;
    for (unsigned i = 0; i < n; i++)
        if (__builtin_add_overflow(bytes, cuda_array_size(f, extent_of(e, i, flags)), &bytes))
            return CUDA_ErrorMemoryAllocation;
    struct cuda_mipmap *m = calloc(1, sizeof *m);
    if (!m || !(m->data = heddle_alloc(cuda_core.h, bytes))) {
        free(m);
        return CUDA_ErrorMemoryAllocation;
    }
    m->n = n;
    if ((error = make_levels(m, f, e, flags))) {
        free_mipmap(m);
        return error;
    }
    m->next = mipmaps;
    *out = mipmaps = m;
    return CUDA_Success;
}

enum cuda_error cuda_mipmap_level(struct cuda_array **out, const struct cuda_mipmap *m, unsigned level) {
    CUDA_LOCK;
    if (!out || !*find(m))
        return out ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    if (level >= m->n)
        return CUDA_ErrorInvalidValue;
    *out = m->levels[level];
    return CUDA_Success;
}

enum cuda_error cuda_mipmap_free(struct cuda_mipmap *m) {
    CUDA_LOCK;
    struct cuda_mipmap **i = find(m);
    if (!m || !*i)
        return m ? CUDA_ErrorInvalidValue : CUDA_Success;
    *i = m->next;
    free_mipmap(m);
    return CUDA_Success;
}
