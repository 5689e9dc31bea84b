/* Unfinished cp.async copies. The checker treats the destination as being written from the issue until the thread has
 * waited for the copy (or, with an mbarrier, announced its arrival); any access in between is reported. The issue and
 * the wait each count as a write of the destination by the thread. So accesses of other threads must be ordered before
 * the issue or after the wait. */
#include "check_state.h"
#include "isa/exec/exec.h"
#include <stdlib.h>

struct check_copy {
    uint64_t to[WARP_LANES];
    rowmask_t lanes; /* lanes with an unfinished copy */
    uint32_t warp, pc;
    uint8_t bytes;
    /* number of groups that each lane has committed since the issue, including the group of the copy */
    uint32_t since[WARP_LANES];
};

void copies_forget(struct check_cta *c) { c->n_copies = 0; }

void copies_free(struct check_cta *c) { free(c->copies); }

/* Checks the writes of `lanes` to the addresses `to` by the instruction at `pc`. */
static void check_writes_of(const struct now *n, rowmask_t lanes, const uint64_t to[WARP_LANES], unsigned bytes,
                            uint32_t pc) {
    struct now write = *n;
    struct effects at;
    write.pc = pc;
    write.bytes = bytes;
    write.reads = false;
    write.writes = true;
    write.strong = WEAK;
    at.msize = (uint8_t)bytes;
    memcpy(at.addr, to, WARP_LANES * sizeof *to);
    race_accesses(&write, &n->c->shared, 0, lanes, &at, SPACE_SHARED);
}

/* Checks the reads of the source, one group of lanes for each size of a read. */
static void check_reads_of(const struct now *n, const struct effects *fx) {
    const uint32_t *size = reg_ptr(n->w, n->in->c);
    struct now read = *n;
    struct effects at = *fx;
    read.reads = true;
    read.writes = false;
    read.strong = WEAK;
    for (rowmask_t left = fx->fetched, same; left; left &= ~same) {
        read.bytes = n->in->dsize ? size[__builtin_ctz(left)] : n->in->msize;
        same = 0;
        for (rowmask_t m = left; m; m &= m - 1)
            same |= !n->in->dsize || size[__builtin_ctz(m)] == read.bytes ? m & -m : 0;
        at.msize = read.bytes % 4 ? 1 : 4;
        check_device(&read, same, &at);
    }
}

void copies_issue(const struct now *n, const struct effects *fx) {
    struct check_cta *c = n->c;
    check_reads_of(n, fx);
    check_writes_of(n, fx->lanes, fx->to, fx->msize, n->pc);
    if (c->n_copies == c->cap_copies) {
        uint32_t cap = c->cap_copies ? 2 * c->cap_copies : 16;
        struct check_copy *more = realloc(c->copies, cap * sizeof *more);
        if (!more) {
            c->checker->out_of_memory = true;
            return;
        }
        c->copies = more;
        c->cap_copies = cap;
    }
    struct check_copy *k = &c->copies[c->n_copies++];
    *k = (struct check_copy){.lanes = fx->lanes, .warp = n->w->index, .pc = n->pc, .bytes = fx->msize};
    memcpy(k->to, fx->to, sizeof k->to);
}

void copies_commit(struct check_cta *c, const struct warp *w, rowmask_t lanes) {
    for (struct check_copy *k = c->copies; k < c->copies + c->n_copies; k++)
        for (rowmask_t m = k->warp == w->index ? k->lanes & lanes : 0; m; m &= m - 1)
            k->since[__builtin_ctz(m)]++;
}

void copies_wait(const struct now *n, rowmask_t lanes, int64_t groups) {
    struct check_cta *c = n->c;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_copies; i++) {
        struct check_copy *k = &c->copies[i];
        rowmask_t ended = 0;
        for (rowmask_t m = k->warp == n->w->index ? k->lanes & lanes : 0; m; m &= m - 1)
            ended |= k->since[__builtin_ctz(m)] > groups ? m & -m : 0;
        if (ended)
            check_writes_of(n, ended, k->to, k->bytes, k->pc);
        k->lanes &= ~ended;
        if (k->lanes && kept++ != i)
            c->copies[kept - 1] = *k;
    }
    c->n_copies = kept;
}

static void report_copy(const struct now *n, const struct check_copy *k, int lane, int other, uint64_t at) {
    struct finding *f = check_count(n->c, CHECK_COPY, n->pc, k->pc);
    if (!f)
        return;
    f->thread = check_thread(n->w, lane);
    f->other_thread = k->warp * WARP_LANES + (uint32_t)other;
    f->other_cta = n->c->cta->id;
    f->space = SPACE_SHARED;
    f->address = at;
    f->bytes = n->bytes;
    f->is_write = n->writes;
    f->other_is_write = true;
}

void copies_check(const struct now *n, rowmask_t lanes, const struct effects *fx) {
    for (const struct check_copy *k = n->c->copies; k < n->c->copies + n->c->n_copies; k++)
        for (rowmask_t m = lanes; m; m &= m - 1) {
            uint64_t at = fx->addr[__builtin_ctz(m)];
            for (rowmask_t o = k->lanes; o; o &= o - 1)
                if (at < k->to[__builtin_ctz(o)] + k->bytes && k->to[__builtin_ctz(o)] < at + n->bytes)
                    report_copy(n, k, __builtin_ctz(m), __builtin_ctz(o), at);
        }
}
