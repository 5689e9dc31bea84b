/* Prefetching into the L1 and the L2, and lines held in the L1. */
#include "lsu_parts.h"

static struct lsu_pipe *l1_of(struct lsu *l) { return &l->pipe[PIPE_L1]; }

/* Into the L1: the line is reserved at once, and the request leaves. */
static enum lsu_prefetch into_l1(struct lsu *l, uint64_t address, uint32_t tag, uint64_t now) {
    struct lsu_pipe *p = l1_of(l);
    uint64_t line = address >> p->line_shift;
    uint8_t sectors = p->all_sectors;
    struct cache_out out;
    if (p->cache.shape.sectored)
        sectors = (uint8_t)(1u << (address & ((1u << p->line_shift) - 1)) / SECTOR_BYTES);
    struct cache_spot at = cache_look(&p->cache, line);
    if ((sectors & (uint8_t)~cache_valid(&p->cache, at)) == 0)
        return LSU_PREFETCH_PRESENT;
    if (at.way != CACHE_NO_WAY && p->cache.way[at.way].mshr != CACHE_NONE)
        return LSU_PREFETCH_PENDING;
    if (memport_room(l->port, now) < 2 ||
        cache_prefetch(&p->cache, line, sectors, (uint64_t)PREFETCH_SLOT << 32 | tag, &out) != CACHE_MISS)
        return LSU_PREFETCH_FULL;
    lsu_miss(l, p, line, &out, now);
    return LSU_PREFETCH_SENT;
}

enum lsu_prefetch lsu_prefetch(struct lsu *l, uint64_t address, bool to_l1, uint32_t tag, uint64_t now) {
    if (l->prefetch.in_flight == LSU_PREFETCHES)
        return LSU_PREFETCH_FULL;
    enum lsu_prefetch r = LSU_PREFETCH_FULL;
    if (to_l1 && l1_of(l)->present) {
        r = into_l1(l, address, tag, now);
    } else if (memport_room(l->port, now)) {
        uint32_t line = l->cfg.l2.line;
        lsu_send(l,
                 &(struct mem_request){.kind = MEM_PREFETCH,
                                       .address = address & ~(uint64_t)(line - 1),
                                       .tag = tag,
                                       .sectors = (1u << line / SECTOR_BYTES) - 1},
                 now);
        r = LSU_PREFETCH_SENT;
    }
    l->prefetch.in_flight += r == LSU_PREFETCH_SENT;
    return r;
}

bool lsu_prefetch_done(struct lsu *l, uint64_t now, uint32_t *tag) {
    (void)now;
    if (l->prefetch.head == l->prefetch.tail)
        return false;
    *tag = l->prefetch.tag[l->prefetch.head++ % LSU_PREFETCHES];
    l->prefetch.in_flight--;
    return true;
}

struct lsu_prefetch_counts lsu_prefetch_counts(const struct lsu *l) {
    const struct cache *c = &l->pipe[PIPE_L1].cache;
    return (struct lsu_prefetch_counts){c->n.prefetches, c->n.prefetch_useful, c->n.prefetch_late,
                                        c->n.prefetch_unused};
}

bool lsu_lock(struct lsu *l, uint64_t address) {
    struct lsu_pipe *p = l1_of(l);
    if (!p->present || !cache_lock(&p->cache, address >> p->line_shift))
        return false;
    p->n.locked++;
    return true;
}

void lsu_unlock(struct lsu *l, uint64_t address) {
    struct lsu_pipe *p = l1_of(l);
    if (!p->present)
        return;
    cache_unlock(&p->cache, address >> p->line_shift);
    l->retry = true; /* an access may have waited for a way to be free */
}
