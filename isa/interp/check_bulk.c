/* Bulk copies (isa/bulk.h) under the checker. The interpreter copies at once. The checker treats shared memory that a
 * copy fills as being written until a thread has seen the end of the mbarrier's phase. It treats shared memory that a
 * copy reads as being read until the copy's thread has waited for the bulk group. The copy's accesses count as accesses
 * of the thread that issues it, and the copy's arrival at the mbarrier as an arrival of this thread. */
#include "check_state.h"
#include "isa/exec/exec.h"
#include "isa/exec/exec_mbarrier.h"
#include <stdlib.h>

/* A part of shared memory that an unfinished copy fills (if `fills` is set) or reads. */
struct check_bulk {
    uint64_t from, to; /* [from, to) */
    uint32_t thread, pc;
    uint32_t signal; /* fills: the mbarrier */
    /* for a part that is read: number of groups that the thread has closed since, including the group of the copy */
    uint32_t since;
    bool fills;
};

void bulk_forget(struct check_cta *c) { c->n_bulks = c->n_jobs = 0; }

static void drop_jobs(struct check_cta *c) {
    for (uint32_t i = 0; i < c->n_jobs; i++)
        free(c->jobs[i].run);
    c->n_jobs = 0;
}

void bulk_free(struct check_cta *c) {
    drop_jobs(c);
    free(c->jobs);
    free(c->bulks);
}

/* Takes a job of the instruction that executes now, and completes its mbarrier. */
static void begin(void *ctx, const struct bulk_job *job) {
    struct check_cta *c = ctx;
    if (job->signals)
        mbarrier_complete_bytes(job->warp->cta, job->signal, job->bytes);
    struct bulk_job *more = realloc(c->jobs, (c->n_jobs + 1) * sizeof *more);
    if (!more) {
        c->checker->out_of_memory = true;
        free(job->run);
        return;
    }
    c->jobs = more;
    c->jobs[c->n_jobs++] = *job;
}

static void commit(void *ctx, const struct warp *w, rowmask_t lanes) {
    struct check_cta *c = ctx;
    for (struct check_bulk *b = c->bulks; b < c->bulks + c->n_bulks; b++)
        if (!b->fills && b->thread / WARP_LANES == w->index)
            b->since += lanes >> b->thread % WARP_LANES & 1;
}

struct bulk_sink *bulk_sink_of(struct check_cta *c) {
    c->sink = (struct bulk_sink){c, begin, commit};
    return &c->sink;
}

/* ---- accesses of a copy ---- */

/* Checks an access of [address, address + bytes) in pieces of at most 16 bytes. */
static void check_piecewise(const struct now *n, int lane, uint64_t address, uint64_t bytes, bool shared, bool read,
                            bool write) {
    struct now access = *n;
    struct effects at = {.space = shared ? SPACE_SHARED : SPACE_GLOBAL};
    access.strong = WEAK;
    access.reads = read;
    access.writes = write;
    while (bytes) {
        uint64_t piece = 16 - address % 16;
        piece = piece < bytes ? piece : bytes;
        if (piece != 16)
            piece = address % 4 || piece < 4 ? 1 : 4;
        access.bytes = (unsigned)piece;
        at.msize = (uint8_t)(piece == 16 ? 4 : piece);
        at.n_elems = (uint8_t)(piece / at.msize);
        at.addr[lane] = address;
        if (!shared)
            check_device(&access, 1u << lane, &at);
        else if (!n->c->foreign)
            race_accesses(&access, &n->c->shared, 0, 1u << lane, &at, SPACE_SHARED);
        address += piece;
        bytes -= piece;
    }
}

static void remember(struct check_cta *c, const struct check_bulk *b) {
    struct check_bulk *more = realloc(c->bulks, (c->n_bulks + 1) * sizeof *more);
    if (!more) {
        c->checker->out_of_memory = true;
        return;
    }
    c->bulks = more;
    c->bulks[c->n_bulks++] = *b;
}

/* Records that the copy arrives at its mbarrier, as an arrival of the thread. */
static void arrive(const struct now *n, int lane, uint32_t signal) {
    struct now now = *n;
    struct inst in = *n->in;
    uint64_t at[WARP_LANES] = {0};
    in.row = isa_row_index(isa_find_row(OP_MBARRIER, T_B64, T_NONE,
                                        form_put(CAT_MODE, MODE_ARRIVE) | form_put(CAT_MODE2, MODE2_EXPECT_TX)));
    in.b = OPND_ZERO;
    at[lane] = signal;
    now.in = &in;
    now.strong = STRONG_CTA;
    now.words = 0;
    now.reads = now.writes = true;
    sync_mbarrier(&now, n->c, 1u << lane, at);
}

void bulk_after(const struct now *n, rowmask_t path) {
    struct check_cta *c = n->c;
    for (uint32_t i = 0; i < c->n_jobs; i++) {
        const struct bulk_job *j = &c->jobs[i];
        const int lane = j->lane % WARP_LANES;
        struct check_bulk b = {.thread = check_thread(n->w, lane), .pc = n->pc};
        for (uint32_t k = 0; k < j->n; k++) {
            const struct bulk_run *r = &j->run[k];
            if (!r->shared && j->traffic == BULK_FETCHES)
                continue;
            check_piecewise(n, lane, r->address, r->bytes, r->shared, r->shared ? !r->write : j->traffic != BULK_WRITES,
                            r->shared ? r->write : j->traffic != BULK_READS);
            b.from = r->address;
            b.to = r->address + r->bytes;
            b.signal = j->signal;
            b.fills = r->write;
            if (r->shared && (r->write ? j->signals : j->grouped))
                remember(c, &b);
        }
    }
    order_path(c, n->w, path); /* the arrivals follow the accesses */
    for (uint32_t i = 0; i < c->n_jobs; i++)
        if (c->jobs[i].signals)
            arrive(n, c->jobs[i].lane % WARP_LANES, c->jobs[i].signal);
    drop_jobs(c);
}

/* ---- waits, and accesses of threads ---- */

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
