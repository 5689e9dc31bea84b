#include "prefetchers.h"
#include "timing/mem/prefetch.h"
#include <stdlib.h>

struct next_line {
    struct next_line_toy *out, own;
    const struct prefetch_place *place;
};

static void *make(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    struct next_line *n = malloc(sizeof *n);
    (void)cfg;
    if (n)
        *n = (struct next_line){.out = ctx ? ctx : &n->own, .place = place};
    return n;
}

static void observe(void *p, const struct prefetch_seen *s) {
    struct next_line *n = p;
    n->out->seen++;
    if (s->kind != SEEN_LOAD || (s->result == SEEN_HIT && !s->first_use))
        return;
    const struct prefetch_request r = {
        .address = s->line + n->place->line_bytes, .pc = s->pc, .warp = s->warp, .want = PREFETCH_LINE};
    n->out->asked[prefetch_ask(n->place, &r, s->cycle)]++;
}

static void answer(void *p, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    (void)tag, (void)now;
    ((struct next_line *)p)->out->answered[a]++;
}

static void stats(void *p, const struct prefetch_counts *n, struct stats *s) {
    struct next_line_toy *out = ((struct next_line *)p)->out;
    (void)s;
    out->useful += n->useful;
    out->late += n->late;
    out->unused += n->unused;
}

const struct prefetcher_ops next_line_prefetcher = {
    .name = "next_line", .make = make, .free = free, .observe = observe, .answer = answer, .stats = stats};
