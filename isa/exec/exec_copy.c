/* cp.async: copies from device to shared memory (PTX ISA 9.0, section 9.7.9.25). A copy reads global memory when the
 * instruction executes, and writes shared memory when it lands (isa/machine/pending.h). Lanes execute in ascending
 * order. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_mem.h"
#include "isa/machine/pending.h"
#include "isa/rows.h"

/* Sets the number of bytes that each lane reads. On a fault, stores the fault in fx and returns false. */
static bool bytes_to_read(const struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx,
                          uint32_t bytes[WARP_LANES]) {
    const uint32_t *size = reg_ptr(w, in->c);
    rowmask_t ignored = in->dsize ? 0 : pred_get(w, in->c);
    fx->fetched = 0;
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        bytes[l] = in->dsize ? size[l] : ignored >> l & 1 ? 0 : in->msize;
        if (bytes[l] > in->msize) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l, "a copy of %u bytes that reads %u of them", in->msize, bytes[l]);
            return false;
        }
        fx->fetched |= (rowmask_t)(bytes[l] != 0) << l;
    }
    return true;
}

/* Sets the destinations of all lanes; an idle lane gets the destination of an executing lane. Returns true if all are
 * valid. */
static bool destinations(const struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const unsigned char *base = reg_ptr(w, in->b);
    const uint64_t *more = reg_ptr(w, in->e);
    const uint64_t size = w->cta->shared_bytes;
    bool right = true;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        unsigned from = m >> l & 1 ? l : (unsigned)__builtin_ctz(m);
        uint64_t at = 0;
        memcpy(&at, base + (size_t)from * in->rsize, in->rsize);
        at += more[from];
        fx->to[l] = in->rsize == 4 ? (uint32_t)at : at;
        right &= size >= in->msize && fx->to[l] <= size - in->msize && !(fx->to[l] & (in->msize - 1u));
    }
    return right;
}

/* Returns the host address of the source of lane l. If the instruction reads fewer bytes than an element has, only
 * these bytes must be inside an allocation. On a fault, stores the fault in fx and returns NULL. */
static const unsigned char *source(struct warp *w, const struct inst *in, struct effects *fx, int l, uint32_t bytes) {
    uint64_t at = fx->addr[l];
    if (bytes == in->msize || at & (in->msize - 1u))
        return mem_lane(w, in, fx, l, false);
    const struct allocation *a = mem_find(w->cta->launch->memory, at, bytes, &w->alloc_hint);
    if (!a)
        mem_fault(fx, FAULT_OUT_OF_BOUNDS, l, SPACE_GLOBAL, at, bytes);
    return a ? a->host + (at - a->begin) : NULL;
}

/* Returns true if the destination of lane l is valid. Else stores the fault in fx. */
static bool has_destination(const struct warp *w, const struct inst *in, struct effects *fx, int l) {
    uint64_t at = fx->to[l], size = w->cta->shared_bytes;
    bool aligned = !(at & (in->msize - 1u)), inside = size >= in->msize && at <= size - in->msize;
    if (!aligned || !inside)
        mem_fault(fx, aligned ? FAULT_OUT_OF_BOUNDS : FAULT_MISALIGNED, l, SPACE_SHARED, at, in->msize);
    return aligned && inside;
}

/* Reads the data of the lanes. Returns the lanes before the first that faults. */
static rowmask_t read_by_lane(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx,
                              const uint32_t bytes[WARP_LANES], unsigned char *data) {
    const struct held_stores *held = w->cta->held;
    rowmask_t done = 0;
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        unsigned char value[16] = {0};
        const bool placed = has_destination(w, in, fx, l);
        const unsigned char *from = placed && bytes[l] ? source(w, in, fx, l, bytes[l]) : NULL;
        if (!placed || (bytes[l] && !from))
            return done;
        if (from && held && held->used)
            held_read(held, from, value, bytes[l]);
        else if (from)
            memcpy(value, from, bytes[l]);
        memcpy(data + (size_t)l * in->msize, value, in->msize);
        done |= 1u << l;
    }
    return done;
}

static void read_together(const struct inst *in, rowmask_t m, const struct effects *fx, const struct span *s,
                          unsigned char *data) {
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const unsigned char *from = (const unsigned char *)(s->base + fx->addr[l]);
        if (in->msize == 16)
            memcpy(data + 16 * l, from, 16);
        else if (in->msize == 8)
            memcpy(data + 8 * l, from, 8);
        else
            memcpy(data + 4 * l, from, 4);
    }
}

static bool read_whole(const struct inst *in, rowmask_t m, const uint32_t bytes[WARP_LANES]) {
    for (; m; m &= m - 1)
        if (bytes[__builtin_ctz(m)] != in->msize)
            return false;
    return true;
}

static void exec_copy(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    unsigned char spare[PENDING_BYTES], *data;
    uint32_t bytes[WARP_LANES];
    struct span s;
    if (!bytes_to_read(w, in, m, fx, bytes))
        return;
    bool placed = destinations(w, in, m, fx), held = w->cta->held && w->cta->held->used;
    data = pending_room(w, spare);
    if (placed && !held && read_whole(in, m, bytes) && mem_span(w, in, m, fx, 1, false, &s)) {
        read_together(in, m, fx, &s, data);
    } else {
        mem_addresses(w, in, m, fx, 1);
        m = read_by_lane(w, in, m, fx, bytes, data);
    }
    if (m)
        pending_add(w, m, fx->to, in->msize, data);
}

static void exec_commit(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in, (void)fx;
    pending_commit(w, m);
}

static void exec_wait(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    pending_wait(w, m, in->imm);
}

#define ROWS_FILE "isa/exec/exec_copy.c"
#define ROWS_NAME copy
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* exec_mbarrier.c executes cp.async.mbarrier.arrive. */
WARP_FN(CP, T0, FORM(MODE2, CA) | FORM(SPACE, SHARED), COPY, MEM, NO_OPDS, exec_copy)
WARP_FN(CP, T0, FORM(MODE2, CG) | FORM(SPACE, SHARED), COPY, MEM, NO_OPDS, exec_copy)
WARP_FN(CP, T0, FORM(MODE2, COMMIT_GROUP), COMMIT, CONTROL, NO_OPDS, exec_commit)
WARP_FN(CP, T0, FORM(MODE2, WAIT_GROUP), COLLECT, CONTROL, NO_OPDS, exec_wait)
WARP_FN(CP, T0, FORM(MODE2, WAIT_ALL), COLLECT, CONTROL, NO_OPDS, exec_wait)
/* clang-format on */
#endif
