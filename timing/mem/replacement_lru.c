/* The policy "least recently used". cache.c implements the same policy inline. */
#include "replacement.h"

static uint32_t victim(const void *state, const struct replacement_set *s) {
    uint32_t best = 0;
    (void)state;
    for (uint32_t w = 1; w < s->ways; w++)
        if (s->used[w] < s->used[best])
            best = w;
    return best;
}

const struct replacement_ops replacement_lru = {
    .name = "lru",
    .help = "the least recently used line",
    .victim = victim,
};
