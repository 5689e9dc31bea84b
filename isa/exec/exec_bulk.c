/* Bulk copies and their relatives (isa/bulk.h). Their effects on memory happen when the instruction executes, which PTX
 * allows, since no thread may access source or destination before a wait. The effects of several lanes happen in
 * ascending order. The driver decides when the copy is complete (isa/machine/bulk_job.h). */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_bulk.h"
#include "bulk_combine.h"
#include "isa/rows.h"
#include <stdlib.h>

/* ---- copies without a tensor ---- */

/* Returns the size of a copy. On a fault, stores the fault in fx and returns 0. */
static uint64_t size_of(const struct bulk *b) {
    const uint64_t bytes = bulk_operand(b, BULK_BYTES);
    if (bytes && bytes % 16 == 0)
        return bytes;
    bulk_fail(b, "a bulk copy of %llu bytes; the size is a multiple of 16 and not 0", bytes);
    return 0;
}

static void load(struct bulk *b) {
    struct cluster_place to[MAX_CLUSTER_CTAS], mbarrier[MAX_CLUSTER_CTAS];
    const uint64_t bytes = size_of(b), from = bulk_operand(b, BULK_FROM);
    const uint64_t left = bulk_operand(b, BULK_MASK), right = bulk_operand(b, BULK_MASK2);
    if (!bytes || !bulk_aligned(b, from, 16, SPACE_GLOBAL))
        return;
    if (left > 15 || right > 15) {
        bulk_fail(b, "a bulk copy ignores at most 15 bytes at each end, not %llu", left > 15 ? left : right);
        return;
    }
    const uint64_t moved = bytes - (left + right < bytes ? left + right : bytes);
    const unsigned char *host = bulk_global(b, from + left, moved ? moved : 1, 1, false);
    const unsigned n = host ? bulk_destinations(b, bytes, 16, to, mbarrier) : 0;
    for (unsigned i = 0; i < n; i++)
        bulk_read_global(b, to[i].cta->shared + to[i].offset + left, host, moved);
    if (n)
        bulk_moves_global(b, from + left, moved);
    for (unsigned i = 0; i < n; i++) {
        bulk_moves_shared(b, &to[i], bytes, true);
        if (!bulk_signal(b, &mbarrier[i], (uint32_t)bytes))
            return;
    }
}

static void store(struct bulk *b) {
    struct cluster_place place;
    const uint64_t bytes = size_of(b), to = bulk_operand(b, BULK_TO);
    const uint64_t mask = b->form.cp_mask ? bulk_operand(b, BULK_MASK) : 0xffff;
    const unsigned char *from = bytes ? bulk_shared(b, bulk_operand(b, BULK_FROM), bytes, 16, false, &place) : NULL;
    unsigned char *host = from ? bulk_global(b, to, bytes, 16, true) : NULL;
    if (!host)
        return;
    if (b->form.what == BULK_RED)
        bulk_combine(b->form.op, b->form.type, host, from, (uint32_t)bytes);
    else
        for (uint64_t i = 0; i < bytes; i++)
            if (mask >> i % 16 & 1)
                host[i] = from[i];
    bulk_moves_shared(b, &place, bytes, false);
    bulk_moves_global(b, to, bytes);
}

/* Copies from shared memory to shared memory of a CTA of the cluster. */
static void pass(struct bulk *b) {
    struct cluster_place from, to, mbarrier;
    const uint64_t bytes = size_of(b);
    const unsigned char *source = bytes ? bulk_shared(b, bulk_operand(b, BULK_FROM), bytes, 16, false, &from) : NULL;
    unsigned char *host = source ? bulk_shared(b, bulk_operand(b, BULK_TO), bytes, 16, true, &to) : NULL;
    if (!host || !bulk_shared(b, bulk_operand(b, BULK_SIGNAL), 8, 8, true, &mbarrier))
        return;
    if (b->form.what == BULK_RED)
        bulk_combine(b->form.op, b->form.type, host, source, (uint32_t)bytes);
    else
        memmove(host, source, bytes);
    bulk_moves_shared(b, &from, bytes, false);
    bulk_moves_shared(b, &to, bytes, true);
    bulk_signal(b, &mbarrier, (uint32_t)bytes);
}

static void prefetch(struct bulk *b) {
    const uint64_t bytes = size_of(b), at = bulk_operand(b, BULK_TO);
    if (bytes && bulk_aligned(b, at, 16, SPACE_GLOBAL) && mem_find(b->w->cta->launch->memory, at, bytes, NULL))
        bulk_moves_global(b, at, bytes);
}

/* Executes st.async or red.async for the elements of one lane. */
static void element(struct bulk *b) {
    struct cluster_place to, mbarrier;
    const unsigned size = type_bytes(b->form.type), n = b->form.vec ? b->form.vec : 1;
    unsigned char *host = bulk_shared(b, bulk_operand(b, BULK_TO), size * n, size * n, true, &to);
    if (!host || !bulk_shared(b, bulk_operand(b, BULK_SIGNAL), 8, 8, true, &mbarrier))
        return;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t value = bulk_operand(b, BULK_VALUE + i);
        unsigned char bytes[8];
        memcpy(bytes, &value, sizeof bytes);
        if (b->form.what == BULK_RED_ASYNC)
            bulk_combine(b->form.op, b->form.type, host, bytes, size);
        else
            memcpy(host + (size_t)i * size, bytes, size);
    }
    bulk_moves_shared(b, &to, size * n, true);
    bulk_signal(b, &mbarrier, size * n);
}

static void zero(struct bulk *b) {
    struct cluster_place to;
    const uint64_t bytes = bulk_operand(b, BULK_BYTES);
    if (bytes % 8) {
        bulk_fail(b, "st.bulk of %llu bytes; the size is a multiple of 8", bytes);
        return;
    }
    unsigned char *host = bulk_shared(b, bulk_operand(b, BULK_TO), bytes, 8, true, &to);
    if (!host)
        return;
    memset(host, 0, bytes);
    bulk_moves_shared(b, &to, bytes, true);
}

/* ---- instructions ---- */

static uint8_t traffic_of(const struct bulk_form *f) {
    if (f->what == BULK_PREFETCH)
        return BULK_FETCHES;
    if (f->what == BULK_RED && f->to == SPACE_GLOBAL)
        return BULK_UPDATES;
    return f->to == SPACE_GLOBAL ? BULK_WRITES : BULK_READS;
}

static void run_lane(struct bulk *b) {
    const struct bulk_form *f = &b->form;
    switch (f->what) {
    case BULK_ST_ASYNC:
    case BULK_RED_ASYNC:
        element(b);
        break;
    case BULK_ZERO:
        zero(b);
        break;
    case BULK_REPLACE:
        bulk_replace(b);
        break;
    case BULK_COPY_MAP:
        bulk_copy_map(b);
        break;
    default:
        if (f->dims)
            bulk_tensor(b);
        else if (f->what == BULK_PREFETCH)
            prefetch(b);
        else if (f->from == SPACE_GLOBAL)
            load(b);
        else if (f->to == SPACE_GLOBAL)
            store(b);
        else
            pass(b);
    }
}

/* Passes the job to the CTA's sink. If the lane has faulted, or the job has no work, frees the job's memory instead. */
static void begin_job(struct bulk *b) {
    const struct bulk_sink *sink = b->w->cta->bulk;
    if (b->job.failed)
        fx_fault_text(b->fx, FAULT_MEMORY, b->lane, "memory for a bulk copy ran out");
    if (b->fx->fault || !(b->job.n || b->job.signals || b->job.grouped)) {
        free(b->job.run);
        return;
    }
    sink->begin(sink->ctx, &b->job);
}

static void exec_bulk(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct bulk b = {.w = w, .in = in, .fx = fx, .form = bulk_unpack(in->imm)};
    const bool high = w != &w->cta->warps[w->index];
    for (; m && !fx->fault; m &= m - 1) {
        b.lane = __builtin_ctz(m);
        b.job = (struct bulk_job){.warp = w,
                                  .lane = (uint8_t)(b.lane + (high ? WARP_LANES : 0)),
                                  .traffic = traffic_of(&b.form),
                                  .grouped = b.form.grouped,
                                  .element = 4};
        run_lane(&b);
        if (bulk_has_job(&b))
            begin_job(&b);
    }
}

static void exec_bulk_commit(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct bulk_sink *sink = w->cta->bulk;
    (void)in, (void)fx;
    if (sink)
        sink->commit(sink->ctx, w, m);
}

/* Does nothing: the driver has let the warp wait before it executes this instruction. */
static void exec_bulk_wait(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in, (void)m, (void)fx;
}

#define ROWS_FILE "isa/exec/exec_bulk.c"
#define ROWS_NAME bulk
#include "isa/rows_expand.h"
#else
/* clang-format off */
WARP_FN(BULK, T0, 0, WARP, MEM, NO_OPDS, exec_bulk)
WARP_FN(BULK_COMMIT, T0, 0, WARP, CONTROL, NO_OPDS, exec_bulk_commit)
WARP_FN(BULK_WAIT, T0, 0, WARP, CONTROL, NO_OPDS, exec_bulk_wait)
/* clang-format on */
#endif
