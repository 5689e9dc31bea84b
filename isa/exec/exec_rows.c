/* Executes an instruction in a warp of 64 lanes: in its first row, then in its second row, and joins the effects. */
#include "exec_mem.h"

static lanemask_t high(lanemask_t m) { return m << WARP_LANES; }

static bool has_addresses(const struct inst *in) {
    return in->kind >= K_LOAD && in->kind <= K_COPY && in->kind != K_FENCE && in->kind != K_NOP;
}

/* Writes the addresses of a row's lanes to addr[], if an address pattern stands for them. */
static void spell_addresses(struct effects *fx) {
    for (unsigned l = 0; fx->halves.shape != SHAPE_ANY && l < WARP_LANES; l++)
        fx->addr[l] = halves_lane(&fx->halves, l, (unsigned)fx->n_elems * fx->msize);
    fx->halves.shape = SHAPE_ANY;
}

/* Turns the space of a row's accesses into lane masks. */
static void spell_space(struct effects *fx) {
    if (fx->space == SPACE_SHARED)
        fx->shared_lanes = fx->lanes;
    if (fx->space == SPACE_LOCAL)
        fx->local_lanes = fx->lanes;
}

/* Adds the accesses of the second row, `b`, to those of the first row. */
static void join_addresses(const struct inst *in, struct effects *fx, struct effects *b) {
    spell_addresses(fx);
    spell_addresses(b);
    if (fx->space != b->space) {
        spell_space(fx);
        spell_space(b);
        fx->space = SPACE_GENERIC;
    }
    fx->shared_lanes = (rowmask_t)fx->shared_lanes | high(b->shared_lanes);
    fx->local_lanes = (rowmask_t)fx->local_lanes | high(b->local_lanes);
    memcpy(fx->addr + WARP_LANES, b->addr, WARP_LANES * sizeof *b->addr);
    if (in->kind == K_COPY)
        memcpy(fx->to + WARP_LANES, b->to, WARP_LANES * sizeof *b->to);
    if (in->kind == K_COPY || in->kind == K_PREFETCH)
        fx->fetched = (rowmask_t)fx->fetched | high(b->fetched);
}

/* Prepares the memory fields of a row in which no lane accesses memory. */
static void no_addresses(struct effects *fx, const struct effects *other) {
    fx->space = other->space;
    fx->n_elems = other->n_elems;
    fx->msize = other->msize;
    fx->halves.shape = SHAPE_ANY;
    fx->shared_lanes = fx->local_lanes = fx->fetched = 0;
    memcpy(fx->addr, other->addr, WARP_LANES * sizeof *fx->addr);
}

/* Adds the fault of the second row. */
static void join_fault(struct effects *fx, const struct effects *b) {
    fx->fault = b->fault;
    fx->fault_lane = (uint8_t)(b->fault_lane + WARP_LANES);
    fx->fault_bytes = b->fault_bytes;
    fx->fault_address = b->fault_address;
    fx->fault_text = b->fault_text;
    fx->space = b->space;
}

/* Adds the arrivals of the second row at a barrier. A warp arrives at one barrier at a time. */
static void join_barrier(struct effects *fx, const struct effects *b) {
    if (!fx->lanes) {
        fx->barrier = b->barrier;
        fx->barrier_threads = b->barrier_threads;
        fx->barrier_pred = 0;
    } else if (b->lanes && (b->barrier != fx->barrier || b->barrier_threads != fx->barrier_threads)) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, (int)lanes_first(b->lanes) + WARP_LANES,
                      "the lanes of a warp name different barriers: %u and %u", fx->barrier, b->barrier);
        return;
    }
    fx->barrier_pred = (rowmask_t)fx->barrier_pred | (b->lanes ? high(b->barrier_pred) : 0);
}

static bool sets_taken(uint8_t kind) {
    return 1ull << kind &
           (1ull << K_COMPOUND | 1ull << K_BRANCH | 1ull << K_CALL | 1ull << K_RET | 1ull << K_EXIT | 1ull << K_TRAP);
}

static bool row_is_remote(struct warp *row, const struct inst *in, rowmask_t active, struct effects *fx) {
    const rowmask_t m = guard_row(row, in, active);
    if (m)
        mem_addresses(row, in, m, fx, 1);
    for (rowmask_t left = m; left; left &= left - 1) {
        uint64_t at = fx->addr[__builtin_ctz(left)];
        if (in->space == SPACE_GENERIC)
            at = mem_space(at) == SPACE_SHARED ? at - mem_window(SPACE_SHARED) : 0;
        if (cluster_rank_at(row->cta, at) != row->cta->rank)
            return true;
    }
    return false;
}

bool exec_is_remote(struct warp *w, const struct inst *in, lanemask_t active, struct effects *fx) {
    return row_is_remote(w, in, warp_row(active, 0), fx) ||
           (w->high && row_is_remote(w->high, in, warp_row(active, 1), fx));
}

void exec_rows(struct warp *w, const struct inst *in, lanemask_t active, struct effects *fx) {
    struct effects b;
    w->high->clock = w->clock;
    exec_row(w, in, warp_row(active, 0), fx);
    if (fx->fault)
        return;
    exec_row(w->high, in, warp_row(active, 1), &b);
    if (w->high->clock > w->clock) /* nanosleep */
        w->clock = w->high->clock;
    w->live = warp_lanes(warp_row(w->live, 0), (rowmask_t)w->high->live);
    if (b.fault) {
        join_fault(fx, &b);
        return;
    }
    if (has_addresses(in) && b.lanes) {
        if (!fx->lanes)
            no_addresses(fx, &b);
        join_addresses(in, fx, &b);
    } else if (has_addresses(in) && fx->lanes) {
        spell_addresses(fx);
    }
    if (in->kind == K_BARRIER)
        join_barrier(fx, &b);
    if (in->kind == K_BRX || in->kind == K_CALL || in->kind == K_RET)
        for (int i = 0; i < b.n_targets; i++)
            fx_target(fx, b.targets[i].pc, high(b.targets[i].lanes));
    if (sets_taken(in->kind))
        fx->taken = (in->kind == K_COMPOUND && !fx->lanes ? 0 : fx->taken) |
                    (in->kind == K_COMPOUND && !b.lanes ? 0 : high(b.taken));
    fx->lanes |= high(b.lanes);
}
