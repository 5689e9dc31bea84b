/* A replacement policy: first in, first out. It evicts the line that was allocated first, however often the line was
 * used. */
#include "policies.h"
#include "timing/mem/replacement.h"

struct fifo {
    uint64_t fills;
    uint64_t filled[]; /* by line of the cache: sequence number of its fill */
};

static size_t size(uint32_t sets, uint32_t ways) {
    return sizeof(struct fifo) + (size_t)sets * ways * sizeof(uint64_t);
}

static void fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct fifo *f = state;
    f->filled[(size_t)set * ways + way] = ++f->fills;
}

static uint32_t victim(const void *state, const struct replacement_set *s) {
    const struct fifo *f = state;
    const uint64_t *filled = &f->filled[(size_t)s->number * s->ways];
    uint64_t first = UINT64_MAX;
    uint32_t best = 0;
    for (uint32_t w = 0; w < s->ways; w++)
        if (s->used[w] != CACHE_STAYS && filled[w] < first) {
            first = filled[w];
            best = w;
        }
    return best;
}

const struct replacement_ops replacement_fifo = {
    .name = "fifo",
    .help = "the line that was allocated first",
    .size = size,
    .victim = victim,
    .fill = fill,
};
