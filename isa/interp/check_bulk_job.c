/* Instructions for bulk copies (isa/bulk.h) under the checker. The interpreter copies at once. The copy's accesses
 * count as accesses of the thread that issues it, and the copy's arrival at the mbarrier as an arrival of this thread.
 * check_bulk.c has the copies until a thread has waited for them. */
#include "check_state.h"
#include "isa/exec/exec.h"
#include "isa/exec/exec_mbarrier.h"
#include <stdlib.h>

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

static void commit(void *ctx, const struct warp *w, rowmask_t lanes) { bulk_commit(ctx, w, lanes); }

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
                bulk_remember(c, &b);
        }
    }
    order_path(c, n->w, path); /* the arrivals follow the accesses */
    for (uint32_t i = 0; i < c->n_jobs; i++)
        if (c->jobs[i].signals)
            arrive(n, c->jobs[i].lane % WARP_LANES, c->jobs[i].signal);
    drop_jobs(c);
}
