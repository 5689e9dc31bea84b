/* Write-back: results are written to the registers, and the paths that wait for them may continue. */
#include "uniform_path.h"

static inline void end_inflight(struct sm *sm, uint32_t inflight, struct sm_warp *sw) {
    in_flight_end(&sm->in_flight, inflight);
    sw->inflight--;
}

/* Updates a path that waits for operands, after a write-back. The path may be ready now, or wait for other operands. */
static void operand_written(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    if (path->state == PATH_LOAD || path->state == PATH_ARITH)
        sm_evaluate(sm, w, (uint32_t)(path - sm->warps.slot[w].path), now);
}

static __attribute__((noinline)) void complete_general(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    uint32_t w = f->warp;
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    if (__builtin_expect(sm->modern != NULL, 0) && !modern_completes(sm, inflight, now))
        return;
    if (ti->regs.n_write)
        sm->model.sb->writeback(sw->board, f->board, f->lanes, &ti->regs);
    if (sm_hooked(sm, HOOK_WRITTEN))
        sm_units_written(
            sm, &(struct sm_written){
                    .from = f->issued, .to = now, .warp = w, .pc = f->pc, .lanes = f->lanes, .missed = f->missed});
    if (sm->model.wants.splits)
        sm_load_ended(sm, inflight);
    end_inflight(sm, inflight, sw);
    if (sm->members.n_served)
        sm_members_start(sm, now);
    if (sw->finished) {
        sm_warp_check_done(sm, w, now);
        return;
    }
    if (!ti->regs.n_write)
        return;
    if (sm->model.wants.interleaves && sw->control.n_held)
        sm_wake_held(sm, w, now);
    if (sw->n_paths == 1)
        operand_written(sm, w, &sw->path[0], now);
    else
        sm_evaluate_all(sm, w, now);
}

/* Does the same as complete_general() for a warp that has not finished (sm_fast_path.guided). Changes of the counters
 * have already updated the states of its paths. */
static __attribute__((noinline)) void complete_guided(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    struct sm_warp *sw = &sm->warps.slot[f->warp];
    const struct sb_regs *r = &sm->program->inst[f->pc].regs;
    if (!modern_completes(sm, inflight, now))
        return;
    if (sm->fast.board_word)
        sb_word_writeback(sw->board, r);
    else if (r->n_write)
        sm->model.sb->writeback(sw->board, f->board, f->lanes, r);
    end_inflight(sm, inflight, sw);
    if (sm->members.n_served)
        sm_members_start(sm, now);
}

/* Does the same as complete_general() for a warp with one path that has not finished (sm_fast_path.instructions).
 * `word`: sm_fast_path.board_word. */
static inline __attribute__((always_inline)) void complete_fast(struct sm *sm, uint32_t inflight, uint64_t now,
                                                                const bool word) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    uint32_t w = f->warp;
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    if (word)
        sb_word_writeback(sw->board, &ti->regs);
    else
        sb_words_writeback(sw->board, &ti->regs);
    end_inflight(sm, inflight, sw);
    struct sm_path *path = &sw->path[0];
    bool waits = (path->state == PATH_LOAD) | (path->state == PATH_ARITH);
    if (!ti->regs.n_write || (!word && !waits))
        return;
    ti = &sm->program->inst[path->pc];
    if (__builtin_expect(ti->flags & TIMED_RARE, 0)) {
        if (waits)
            sm_evaluate(sm, w, 0, now);
        return;
    }
    warps_move_only(&sm->warps, w, path, choose32(waits, sm_fast_state(sw, ti, word), path->state), false);
}

static __attribute__((noinline)) void complete_words(struct sm *sm, uint32_t inflight, uint64_t now) {
    complete_fast(sm, inflight, now, false);
}

/* Ends an instruction whose results are written. Rare work is done in a tail call, or another function handles the
 * whole instruction. So the compiler needs no stack frame for this function. */
void sm_complete(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct sm_warp *sw = &sm->warps.slot[sm->in_flight.entry[inflight].warp];
    if (__builtin_expect(!sm->fast.instructions | (sm->members.n_served != 0) | sw->finished | (sw->n_paths != 1), 0)) {
        if (sm->fast.guided && sw->n_paths == 1 && !sw->finished)
            complete_guided(sm, inflight, now);
        else
            complete_general(sm, inflight, now);
    } else if (__builtin_expect(sm->fast.board_word, 1)) {
        complete_fast(sm, inflight, now, true);
    } else {
        complete_words(sm, inflight, now);
    }
}

void sm_tensor_event(struct sm *sm, uint32_t value, uint64_t now) {
    uint32_t w;
    if (!sm_tensor_step(sm, value, now, &w))
        return;
    if (sm->members.n_served)
        sm_members_start(sm, now);
    if (sm->warps.slot[w].finished)
        sm_warp_check_done(sm, w, now);
    else if (warps_state_has(&sm->warps, PATH_FENCE, w))
        sm_evaluate_all(sm, w, now);
}
