/* Lines of the L1 instruction cache, and the fetches that wait for them. */
#include "fetch_lines.h"
#include "isa/hot_assert.h"

/* Makes a fetch wait for the line of an L1 MSHR. The line is then no longer a line for which only stream buffers
 * wait. */
static void join(struct fetch *f, uint32_t mshr, uint64_t now) {
    if (f->ahead[mshr] && !f->miss_latency)
        lsu_fetch_joined(f->lsu, mshr, now);
    f->ahead[mshr] = false;
}

void fetch_join(struct fetch *f, uint64_t address, uint64_t now) {
    struct cache_spot at = cache_look(&f->l1, address >> f->line_bits);
    if (cache_awaits_fill(&f->l1, at))
        join(f, f->l1.way[at.way].filler - 1u, now);
}

enum fetch_result fetch_ask_l1(struct fetch *f, uint64_t address, uint64_t target, bool ahead, uint64_t now) {
    struct cache_out out;
    if (!ahead)
        f->l1_asked = now;
    uint64_t line = address >> f->line_bits;
    switch (cache_read(&f->l1, line, f->l1.all_sectors, target, &out)) {
    case CACHE_HIT:
        f->n.l1_accesses++;
        f->way[line % FETCH_WAYS] = cache_look(&f->l1, line).way;
        return FETCH_HIT;
    case CACHE_MISS:
        f->n.misses += !ahead;
        f->n.prefetch_misses += ahead;
        f->address[out.mshr] = address >> f->line_bits << f->line_bits;
        f->ahead[out.mshr] = ahead;
        f->send[f->n_send++] = out.mshr;
        f->n.l1_accesses++;
        return FETCH_WAIT;
    case CACHE_MERGED:
        if (!ahead)
            join(f, out.mshr, now);
        f->n.l1_accesses++;
        return FETCH_WAIT;
    default:
        return FETCH_REFUSED;
    }
}

void fetch_hand_back(struct fetch *f, uint32_t ticket, uint32_t latency) {
    hot_assert(f->n_ready < f->cap_ready);
    uint32_t at = f->ready_head + f->n_ready++;
    f->ready[at < f->cap_ready ? at : at - f->cap_ready] = (struct fetch_ready){ticket, latency};
}

void fetch_fill_l0(struct fetch *f, uint32_t unit, uint32_t mshr, uint32_t latency) {
    uint64_t ticket;
    cache_fill(&f->l0[unit], mshr, f->l0[unit].all_sectors);
    while (cache_take(&f->l0[unit], mshr, &ticket))
        fetch_hand_back(f, (uint32_t)ticket, latency);
}
