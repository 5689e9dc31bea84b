/* Executes one instruction of a warp, with the checker and the memory watch if they are enabled. The interpreter and
 * native code share this function. */
#include "interp_watch.h"
#include "isa/decode.h"

static bool run_checked(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes) {
    check_before(r->check, w, in, lanes);
    exec_inst(w, in, lanes, &r->fx);
    if (r->fx.fault != FAULT_NONE)
        return false;
    check_after(r->check, w, in, lanes, &r->fx);
    if (in->kind < K_BRANCH && !in->ends_block)
        tensor_block(r->check, w, in + 1);
    return true;
}

/* Returns true for an mbarrier wait that was false in all lanes. Of the mbarrier operations, only waits write a
 * predicate. */
static bool polls_in_vain(const struct warp *w, const struct inst *in, const struct effects *fx) {
    uint32_t n;
    return in->d != OPND_SINK && !in->dsize && isa_rows(&n)[in->row].op == OP_MBARRIER &&
           !(pred_get(w, in->d) & fx->lanes);
}

bool cta_execute(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes, uint64_t clock) {
    if (!r->communicates && in->kind < K_BRANCH && inst_is_ordered(in)) {
        if (r->wait_for_turn && !r->wait_for_turn(r->turn_ctx)) {
            r->fx.fault = FAULT_NONE;
            return false;
        }
        r->communicates = true;
    }
    w->clock = clock;
    if (__builtin_expect(r->counts_loads, 0))
        r->n.affine.all_loads += inst_is_counted_load(in);
    if (__builtin_expect(r->check != NULL, 0))
        return run_checked(r, w, in, lanes);
    exec_inst(w, in, lanes, &r->fx);
    if (in->kind == K_ATOM)
        r->polled |= polls_in_vain(w, in, &r->fx);
    if (__builtin_expect(r->watch != NULL, 0))
        cta_watch_note(r, w, in, lanes);
    if (__builtin_expect(r->observer != NULL, 0) && r->fx.fault == FAULT_NONE)
        r->observer->executed(r->observer->ctx, w, in, &r->fx);
    return r->fx.fault == FAULT_NONE;
}
