#include "fast_path.h"
#include "stages.h"

/* Returns true if no unit of the SM observes or changes instructions. */
static bool units_ignore_instructions(const struct sm *sm) {
    return !sm_hooked(sm, HOOK_MAY_ISSUE) && !sm_hooked(sm, HOOK_TAKE) && !sm_hooked(sm, HOOK_FORM) &&
           !sm_hooked(sm, HOOK_JOIN) && !sm_hooked(sm, HOOK_ISSUED) && !sm_hooked(sm, HOOK_WRITTEN);
}

static bool units_ignore_cycles(const struct sm *sm) {
    return !sm_hooked(sm, HOOK_AFTER_ISSUE) && !sm_hooked(sm, HOOK_TICK) && !sm_hooked(sm, HOOK_NEXT) &&
           !sm_hooked(sm, HOOK_LOOK) && !sm_hooked(sm, HOOK_JOIN);
}

static bool has_warp_board(const struct sm *sm) { return sm->model.sb == &scoreboard_warp && sm->program; }

static bool fast_instructions(const struct sm *sm) {
    const struct reconv_wants *wants = &sm->model.wants;
    return !sm->modern && !sm->remote && !sm->operands.shared && sm->cfg->sm.warp_size <= WARP_LANES &&
           has_warp_board(sm) && !sm->contexts.n && !sm->issue.profile && !wants->gathers && !wants->splits &&
           !wants->interleaves && !sm->model.long_latency && units_ignore_instructions(sm);
}

static bool quiet_cycles(const struct sm *sm) {
    const struct reconv_wants *wants = &sm->model.wants;
    return !sm->clock.polls && !sm->issue.sched[0].ops->cycle_ends && !wants->interleaves && !wants->splits &&
           !sm->contexts.n && !sm->issue.profile && units_ignore_cycles(sm);
}

void sm_find_fast_path(struct sm *sm) {
    const struct reconv_wants *wants = &sm->model.wants;
    struct sm_fast_path fast = {.instructions = fast_instructions(sm), .quiet = quiet_cycles(sm)};
    fast.alone = fast.quiet && units_ignore_instructions(sm);
    fast.modern_instructions = fast.alone && sm->modern && !sm->remote && !wants->gathers && !sm->model.long_latency;
    fast.guided = fast.modern_instructions && sm->modern->guided && !sm->modern->by_lane;
    fast.board_word = has_warp_board(sm) && sm->program->program->n_regs <= SB_WORD;
    fast.plain = fast.guided && fast.board_word && !wants->every_pc;
    fast.modern = fast.alone && sm->modern && sm->operands.n_parts > 2 && sm->warps.words == 1;
    fast.cycles = fast.quiet && !sm->modern && sm->warps.words == 1;
    fast.one_part = fast.instructions && sm->operands.n_parts == 1 && sm->warps.words == 1;
    fast.stack = fast.instructions && sm->model.ops == &reconv_spe && !wants->stack_entries && !wants->every_pc &&
                 !sm_hooked(sm, HOOK_AFTER_ISSUE);
    if (fast.instructions)
        /* the fast path needs false here and never sets the field; the general path sets it for each instruction */
        sm->memory.unlock = false;
    sm->fast = fast;
}
