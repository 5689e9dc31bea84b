/* Executes branches through tables, exits and barriers: the functions
 * write branch targets and barrier arrivals to struct effects. The
 * driver (isa/paths/control.c) and the reconvergence model then move the paths. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec.h"
#include "isa/machine/call.h"
#include "isa/rows.h"

static void exec_brx(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const uint32_t *index = reg_ptr(w, in->a), *table = w->program->lists + in->list;
    fx->n_targets = 0;
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (index[l] >= table[0]) {
            fx_fault_text(fx, FAULT_BAD_CALL, l, "brx.idx with index %u, but its table has %u targets", index[l],
                          table[0]);
            return;
        }
        fx_target(fx, table[1 + index[l]], (rowmask_t)1 << l);
    }
}

static void deq_predicate(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    blend_lanes(reg_ptr(w, in->d), reg_ptr(w, in->a), m, 0);
}

static void exec_trap(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in;
    fx->taken = m;
    if (!m)
        return;
    fx->fault = FAULT_TRAP;
    fx->fault_lane = (uint8_t)__builtin_ctz(m);
    fx->fault_text = NULL;
}

/* Returns the value of a barrier operand. The value must be the same in all lanes of m; otherwise the function sets a
 * fault. */
static bool uniform_operand(const struct warp *w, opnd_t o, rowmask_t m, const char *what, struct effects *fx,
                            uint32_t *out) {
    const uint32_t *v = reg_ptr(w, o);
    *out = v[__builtin_ctz(m)];
    if (o & 1) /* a constant */
        return true;
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (v[l] != *out) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l, "the lanes of a warp name different %s: %u and %u", what, *out,
                          v[l]);
            return false;
        }
    }
    return true;
}

static void exec_barrier(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned mode) {
    fx->barrier_mode = (uint8_t)mode;
    if (!m)
        return;
    if (!uniform_operand(w, in->a, m, "barriers", fx, &fx->barrier) ||
        !uniform_operand(w, in->b, m, "barrier thread counts", fx, &fx->barrier_threads))
        return;
    const uint32_t lanes = launch_lanes(w->cta->launch);
    int lane = __builtin_ctz(m);
    if (fx->barrier >= MAX_NAMED_BARRIERS)
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "barrier %u: there are %d", fx->barrier, MAX_NAMED_BARRIERS);
    else if (fx->barrier_threads & (lanes - 1) || fx->barrier_threads > MAX_CTA_THREADS)
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "barrier %u with %u threads: not a multiple of %u up to %d",
                      fx->barrier, fx->barrier_threads, lanes, MAX_CTA_THREADS);
    else if (mode == BARRIER_ARRIVE && !fx->barrier_threads)
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "barrier %u: arrive without a number of threads", fx->barrier);
    if (mode >= BARRIER_AND)
        fx->barrier_pred = pred_get(w, in->c) & m;
}

#define BARRIER(name, mode)                                                                                            \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        exec_barrier(w, in, m, fx, mode);                                                                              \
    }
void exec_barrier_sync(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    exec_barrier(w, in, m, fx, BARRIER_SYNC);
}
BARRIER(barrier_arrive, BARRIER_ARRIVE)
BARRIER(barrier_and, BARRIER_AND)
BARRIER(barrier_or, BARRIER_OR)
BARRIER(barrier_popc, BARRIER_POPC)

static void cluster_arrives(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    cluster_arrive(w, m, fx);
}

static void cluster_wait(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    fx->barrier = CLUSTER_BARRIER;
    fx->barrier_threads = 0;
    fx->barrier_mode = BARRIER_SYNC;
    fx->barrier_pred = 0;
    cluster_may_wait(w, m, fx);
}

bool exec_is_cluster_arrive(const struct inst *in) { return in->kind == K_WARP && in->fn.warp == cluster_arrives; }

static void exec_warpsync(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in, (void)m, (void)fx;
}

#define BARRIER_ROWS(OP)                                                                                               \
    WARP_FN(OP, T0, 0, BARRIER, CONTROL, NO_OPDS, exec_barrier_sync)                                                   \
    WARP_FN(OP, T0, FORM(MODE, ARRIVE), BARRIER, CONTROL, NO_OPDS, barrier_arrive)                                     \
    WARP_FN(OP, T1(PRED), FORM(MODE, RED) | FORM(OPN, AND), BARRIER, CONTROL,                                          \
            OPDS(PRED, NONE, NONE, NONE, NONE, NONE), barrier_and)                                                     \
    WARP_FN(OP, T1(PRED), FORM(MODE, RED) | FORM(OPN, OR), BARRIER, CONTROL, OPDS(PRED, NONE, NONE, NONE, NONE, NONE), \
            barrier_or)                                                                                                \
    WARP_FN(OP, T1(U32), FORM(MODE, RED) | FORM(OPN, POPC), BARRIER, CONTROL, OPDS(U32, NONE, NONE, NONE, NONE, NONE), \
            barrier_popc)

#define ROWS_FILE "isa/exec/exec_control.c"
#define ROWS_NAME control
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Control, synchronisation. */
NOTHING(BRA, T0, 0, BRANCH, CONTROL, NO_OPDS)
WARP_FN(BRX, T0, FORM(MODE, IDX), BRX, CONTROL, NO_OPDS, exec_brx)
WARP_FN(CALL, T0, 0, CALL, CONTROL, NO_OPDS, exec_call)
WARP_FN(RET, T0, 0, RET, CONTROL, NO_OPDS, exec_ret)
WARP_FN(EXIT, T0, 0, EXIT, CONTROL, NO_OPDS, exec_exit)
WARP_FN(TRAP, T0, 0, TRAP, CONTROL, NO_OPDS, exec_trap)
WARP_FN(BRKPT, T0, 0, TRAP, CONTROL, NO_OPDS, exec_trap)
BARRIER_ROWS(BAR)
BARRIER_ROWS(BARRIER)
WARP_FN(BARRIER, T0, FORM(MODE, ARRIVE) | FORM(MODE2, CLUSTER), WARP, CONTROL, NO_OPDS, cluster_arrives)
WARP_FN(BARRIER, T0, FORM(MODE, WAIT) | FORM(MODE2, CLUSTER), BARRIER, CONTROL, NO_OPDS, cluster_wait)
WARP_FN(BAR, T0, FORM(MODE, WARP), WARPSYNC, CONTROL, NO_OPDS, exec_warpsync)
NOTHING(MEMBAR, T0, 0, FENCE, MEM, NO_OPDS)
NOTHING(FENCE, T0, 0, FENCE, MEM, NO_OPDS)
NOTHING(BSSY, T0, 0, BSSY, CONTROL, NO_OPDS)
NOTHING(BSYNC, T0, 0, BSYNC, CONTROL, NO_OPDS)
NOTHING(BREAK, T0, 0, BREAK, CONTROL, NO_OPDS)
NOTHING(ENQ, T0, FORM(MODE, DATA), ENQ_DATA, MEM, NO_OPDS)
NOTHING(ENQ, T0, FORM(MODE, ADDR), ENQ_ADDR, MEM, NO_OPDS)
NOTHING(ENQ, T1(PRED), 0, ENQ_PRED, CONTROL, OPDS(NONE, NONE, PRED, NONE, NONE, NONE))
WARP_FN(DEQ, T1(PRED), 0, WARP, INT_OTHER, OPDS(PRED, NONE, PRED, NONE, NONE, NONE), deq_predicate)
NOTHING(PMEVENT, T0, 0, NOP, CONTROL, NO_OPDS)
NOTHING(FILL, T0, 0, NOP, CONTROL, NO_OPDS)
NOTHING(FILL, T1(B32), 0, NOP, SHFL, NO_OPDS)
NOTHING(GRIDDEPCONTROL, T0, FORM(MODE, LAUNCH_DEPENDENTS), NOP, CONTROL, NO_OPDS)
NOTHING(GRIDDEPCONTROL, T0, FORM(MODE, WAIT), NOP, CONTROL, NO_OPDS)
/* clang-format on */
#endif
