/* Counts the lines of stride prefetchers at a slice of the L2. This observer makes no requests. If the prefetchers
 * prefetch into the L2, it counts the lines of PREFETCH_INTO_L2 requests, which include prefetch instructions. If
 * they prefetch into the L1, it counts the lines of all reads that serve prefetches into the L1. */
#include "prefetch_stride.h"
#include <stdlib.h>
#include <string.h>

struct stride_watch {
    const struct prefetch_place *place;
    int first; /* first of its statistics */
    bool into_l1;
    /* line that a prefetch has just evicted, until observe() is called for this prefetch; 0: no line */
    uint64_t driven_out;
    struct prefetch_victims victims;
    uint64_t bytes; /* bytes that the L2 requested from memory */
    struct stride_line_counts n;
};

struct stride_watch *stride_watch_new(const struct prefetch_place *place, const char *name, bool into_l1) {
    struct stride_watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->place = place;
    w->first = stride_first_stat(name);
    w->into_l1 = into_l1;
    return w;
}

void stride_watch_evicted(void *watch, const struct prefetch_victim *v) {
    struct stride_watch *w = watch;
    w->n.unused += v->unused;
    if (v->ahead)
        w->driven_out = v->line;
}

void stride_watch_observe(void *watch, const struct prefetch_seen *s) {
    struct stride_watch *w = watch;
    uint64_t out = w->driven_out;
    w->driven_out = 0;
    if (!w->place->line_bytes)
        return;
    w->n.useful += s->first_use;
    w->n.late += s->first_use && s->late;
    if (s->kind != SEEN_AHEAD) {
        if (s->result == SEEN_MISS && prefetch_victims_take(&w->victims, s->line, w->place->line_bytes))
            w->n.pollution++;
        return;
    }
    if (s->into_l1 != w->into_l1)
        return;
    if (out)
        prefetch_victims_add(&w->victims, out, w->place->line_bytes);
    if (s->result != SEEN_MISS) {
        w->n.present++;
        return;
    }
    w->n.issued++;
    w->bytes += 32u * (uint32_t)__builtin_popcount(s->fetched);
}

void stride_watch_stats(void *watch, const struct prefetch_counts *n, struct stats *s) {
    struct stride_watch *w = watch;
    (void)n;
    stats_put(s, (enum stat_id)(w->first + STAT_of_strides_bytes), (double)w->bytes);
    if (!w->into_l1)
        stride_line_stats(&w->n, w->first, s);
    w->bytes = 0;
    memset(&w->n, 0, sizeof w->n);
}
