/* What becomes of the stride prefetchers' lines at a slice of the L2: it looks, and asks for nothing. Lines for the L2
 * are those of PREFETCH_INTO_L2 requests, of instructions that prefetch, too; lines for the L1 are reads ahead of
 * whoever reads ahead. */
#include "prefetch_stride.h"
#include <stdlib.h>
#include <string.h>

struct watch {
    const struct prefetch_place *place;
    const char *name;
    bool into_l1;
    uint64_t driven_out; /* a line, by the access that is told of next; 0: none */
    struct prefetch_victims victims;
    struct {
        uint64_t issued, present, useful, late, unused, pollution, bytes;
    } n;
};

static void *make(const struct config *cfg, const struct prefetch_place *place, bool dynamic) {
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->place = place;
    w->name = dynamic ? "ddp" : "stride";
    w->into_l1 = (dynamic ? cfg->ddp.strides.level : cfg->stride.level) == STRIDE_INTO_L1;
    return w;
}

static void *make_stride(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    (void)ctx;
    return make(cfg, place, false);
}

static void *make_ddp(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    (void)ctx;
    return make(cfg, place, true);
}

static void evicted(void *p, const struct prefetch_victim *v) {
    struct watch *w = p;
    w->n.unused += v->unused;
    if (v->ahead)
        w->driven_out = v->line;
}

static void observe(void *p, const struct prefetch_seen *s) {
    struct watch *w = p;
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
    w->n.bytes += 32u * (uint32_t)__builtin_popcount(s->fetched);
}

static void add(struct watch *w, struct stats *s, const char *name, uint64_t value) {
    char key[64];
    snprintf(key, sizeof key, "%s.%s", w->name, name);
    stats_add(s, key, (double)value);
}

static void watch_stats(void *p, const struct prefetch_counts *n, struct stats *s) {
    struct watch *w = p;
    (void)n;
    add(w, s, "bytes", w->n.bytes);
    if (!w->into_l1) {
        add(w, s, "present", w->n.present);
        add(w, s, "issued", w->n.issued);
        add(w, s, "useful", w->n.useful);
        add(w, s, "late", w->n.late);
        add(w, s, "unused", w->n.unused);
        add(w, s, "pollution", w->n.pollution);
    }
    memset(&w->n, 0, sizeof w->n);
}

const struct prefetcher_ops stride_watch = {
    .name = "stride", .make = make_stride, .free = free, .observe = observe, .evicted = evicted, .stats = watch_stats};
const struct prefetcher_ops ddp_watch = {
    .name = "ddp", .make = make_ddp, .free = free, .observe = observe, .evicted = evicted, .stats = watch_stats};
