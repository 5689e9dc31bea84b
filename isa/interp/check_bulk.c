/* Bulk copies that no thread has waited for. The checker treats shared memory that a copy fills as being written until
 * a thread has seen the end of the mbarrier's phase. It treats shared memory that a copy reads as being read until the
 * copy's thread has waited for the bulk group. */
#include "check_state.h"
#include <stdlib.h>

void bulk_remember(struct check_cta *c, const struct check_bulk *b) {
    struct check_bulk *more = realloc(c->bulks, (c->n_bulks + 1) * sizeof *more);
    if (!more) {
        c->checker->out_of_memory = true;
        return;
    }
    c->bulks = more;
    c->bulks[c->n_bulks++] = *b;
}

void bulk_commit(struct check_cta *c, const struct warp *w, rowmask_t lanes) {
    for (struct check_bulk *b = c->bulks; b < c->bulks + c->n_bulks; b++)
        if (!b->fills && b->thread / WARP_LANES == w->index)
            b->since += lanes >> b->thread % WARP_LANES & 1;
}

void bulk_wait(const struct now *n, rowmask_t lanes, int64_t groups) {
    struct check_cta *c = n->c;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_bulks; i++) {
        const struct check_bulk *b = &c->bulks[i];
        const bool mine = !b->fills && b->thread / WARP_LANES == n->w->index && lanes >> b->thread % WARP_LANES & 1;
        if (!mine || b->since <= groups)
            c->bulks[kept++] = *b;
    }
    c->n_bulks = kept;
}

void bulk_phase_ended(struct check_cta *c, uint64_t mbarrier) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_bulks; i++)
        if (!c->bulks[i].fills || c->bulks[i].signal != mbarrier)
            c->bulks[kept++] = c->bulks[i];
    c->n_bulks = kept;
}

void bulk_check(const struct now *n, rowmask_t lanes, const struct effects *fx) {
    for (const struct check_bulk *b = n->c->bulks; b < n->c->bulks + n->c->n_bulks; b++)
        for (rowmask_t m = lanes; m; m &= m - 1) {
            const int lane = __builtin_ctz(m);
            const uint64_t at = fx->addr[lane];
            if ((!b->fills && !n->writes) || at >= b->to || b->from >= at + n->bytes)
                continue;
            struct finding *f = check_count(n->c, CHECK_COPY, n->pc, b->pc);
            if (!f)
                continue;
            f->thread = check_thread(n->w, lane);
            f->other_thread = b->thread;
            f->other_cta = n->c->cta->id;
            f->space = SPACE_SHARED;
            f->address = at;
            f->bytes = n->bytes;
            f->is_write = n->writes;
            f->other_is_write = b->fills;
        }
}
