/* Executes one instruction of a warp, with the checker and the memory watch if they are enabled. The interpreter and
 * native code share this function. */
#include "interp_watch.h"
#include "isa/decode.h"
#include "isa/machine/pending.h"

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

bool cta_yields(const struct cta_run *r, const struct warp *w, const struct inst *in) {
    return in->kind == K_STORE && in->hints & HINT_OVERWRITES && r->cta->n_warps > 1 && !r->warps[w->index].has_yielded;
}

/* Returns true for an mbarrier wait that was false in all lanes. Of the mbarrier operations, only waits write a
 * predicate. */
static bool polls_in_vain(const struct warp *w, const struct inst *in, const struct effects *fx) {
    uint32_t n;
    return in->d != OPND_SINK && !in->dsize && isa_rows(&n)[in->row].op == OP_MBARRIER &&
           !(pred_get(w, in->d) & fx->lanes);
}

/* Returns how many cycles to skip after a clock read in a loop that waits for a clock (inst_info.waits). From the 65th
 * read on, each skips 1/64 of the time since the first, so the loop ends at most 1/64 of its time late. */
static uint64_t skip_in_loop(struct clock_wait *k, uint32_t pc, uint64_t executed, uint64_t clock) {
    enum { READS = 64, PART = 64, LONGEST_ITERATION = 256 };
    const bool continues = k->latest && k->pc == pc && executed - k->latest <= LONGEST_ITERATION;
    k->latest = executed;
    if (continues)
        return ++k->reads > READS ? (clock - k->began) / PART : 0;
    *k = (struct clock_wait){.pc = pc, .latest = executed, .began = clock};
    return 0;
}

static bool reads_special(const struct inst *in) {
    uint32_t n;
    return isa_rows(&n)[in->row].op == OP_SREG;
}

/* Counts a clock read at `clock`. Returns true for the 64th, the 128th and so on of reads in a row: the path polls with
 * a time limit. Other paths must run before the limit, because the path may wait for them. */
static bool polls_clock(struct warp_run *wr, uint64_t clock) {
    enum { READS = 64, CLOCKS_APART = 256 };
    if (clock - wr->clock_read_at > CLOCKS_APART)
        wr->clock_reads = 0;
    wr->clock_read_at = clock;
    return ++wr->clock_reads % READS == 0;
}

/* Adds the cycles that pass while the warp sleeps or waits for a clock, after `in` has executed at `clock`. */
static void pass_time(struct cta_run *r, struct warp *w, const struct inst *in, uint64_t clock) {
    struct warp_run *wr = &r->warps[w->index];
    const uint32_t pc = (uint32_t)(in - w->program->code);
    uint64_t slept = w->clock - (clock + wr->slept);
    if (w->program->info[pc].waits)
        slept += skip_in_loop(&wr->clock_wait, pc, clock, w->clock);
    else if (reads_special(in)) { /* the start of the next wait */
        wr->clock_wait.latest = 0;
        const bool polls = polls_clock(wr, clock);
        r->polls_clock |= polls;
        r->rests |= polls;
    }
    wr->slept += slept;
    r->slept += slept;
    r->rests |= slept != 0;
}

static void note_poll(struct cta_run *r, const struct warp *w, const struct inst *in) {
    const enum poll polls = host_polls_note(&r->warps[w->index].host_polls, w, in, &r->fx);
    r->polls = polls > r->polls ? polls : r->polls;
}

bool cta_lands_fresh(const struct cta_run *r, const struct warp *w, const struct inst *in, lanemask_t lanes) {
    return exec_lands_copies(in) && r->cta->n_warps > 1 &&
           pending_is_fresh(w, guard_row(w, in, (rowmask_t)lanes), in->kind == K_COLLECT ? in->imm : -1);
}

bool cta_execute(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes, uint64_t clock) {
    if (!r->communicates && in->kind < K_BRANCH && inst_is_ordered(in)) {
        if (r->wait_for_turn && !r->wait_for_turn(r->turn_ctx)) {
            r->fx.fault = FAULT_NONE;
            return false;
        }
        r->communicates = true;
    }
    w->clock = clock + r->warps[w->index].slept;
    if (__builtin_expect(r->counts_loads, 0))
        r->n.affine.all_loads += inst_is_counted_load(in);
    if (__builtin_expect(r->check != NULL, 0)) {
        const bool went_on = run_checked(r, w, in, lanes);
        if (in->kind == K_WARP && !r->keeps_clock)
            pass_time(r, w, in, clock);
        return went_on;
    }
    exec_inst(w, in, lanes, &r->fx);
    if (in->kind == K_ATOM)
        r->polled |= polls_in_vain(w, in, &r->fx);
    if (__builtin_expect(r->has_host, 0) && (in->kind == K_LOAD || in->kind == K_ATOM) && r->fx.fault == FAULT_NONE)
        note_poll(r, w, in);
    if (in->kind == K_WARP && !r->keeps_clock)
        pass_time(r, w, in, clock);
    if (__builtin_expect(r->watch != NULL, 0))
        cta_watch_note(r, w, in, lanes);
    if (__builtin_expect(r->observer != NULL, 0) && r->fx.fault == FAULT_NONE)
        r->observer->executed(r->observer->ctx, w, in, &r->fx);
    return r->fx.fault == FAULT_NONE;
}
