/* Warps that run alternately (sm.running_warps): the SM has lanes for only a few warps at a time. A warp with lanes
 * runs until it ends, or until it waits at a barrier with nothing in flight. Then the registers of the oldest warp
 * that can continue are loaded from memory. Warps without a turn are in PATH_TURN, which no scheduler picks, and are
 * not live. */
#include "stages.h"

/* Returns the registers of 32 lanes that a warp stores when it leaves: the registers live at its barrier. If some lanes
 * do not wait at a barrier, or a barrier is in a function with live callers, it returns all registers of the kernel. */
static uint32_t registers_of(const struct sm *sm, const struct sm_warp *sw) {
    const struct program *p = sm->program->program;
    uint32_t all = sm->cfg->sm.thread_registers ? sm->cfg->sm.thread_registers : p->thread_regs, sum = 0;
    lanemask_t seen = 0;
    for (uint32_t i = 0; i < sw->n_paths; i++) {
        const struct inst_info *at = &p->info[sw->path[i].pc];
        if (p->code[sw->path[i].pc].kind != K_BARRIER || at->function || at->live >= all)
            return all;
        sum += at->live;
        seen |= sw->path[i].lanes;
    }
    return sum < all && !(sw->w->live & ~seen) ? sum : all;
}

void sm_turn_await(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    if (sw->finished)
        return;
    sw->asleep = true;
    sw->away = 0;
    sm_doze(sm, w, now);
}

void sm_turn_begin(struct sm *sm, uint32_t w, uint64_t now) {
    sm->turns.n_turning--;
    sm->warps.slot[w].turning = false;
    sm->warps.slot[w].asleep = false;
    sm_doze(sm, w, now);
}

/* Returns the oldest warp without lanes that could run now, or NO_WARP_SLOT if no warp could. */
static uint32_t next_warp(const struct sm *sm) {
    uint32_t next = NO_WARP_SLOT;
    for (uint32_t w = 0; w < sm->cfg->sm.warps; w++) {
        const struct sm_warp *sw = &sm->warps.slot[w];
        if (sw->w && sw->asleep && !sw->turning && !sw->finished && control_may_run(&sw->control) &&
            (next == NO_WARP_SLOT || (int32_t)(sm->warps.age[w] - sm->warps.age[next]) < 0))
            next = w;
    }
    return next;
}

/* Returns true if all lanes of the warp wait for other warps, and the warp has no instruction in flight. */
static bool can_leave(const struct sm_warp *sw) {
    return !sw->inflight && !sw->ordered && !control_may_run(&sw->control);
}

/* Swaps warps: stores `stored` registers of the old warp, and loads the registers of warp `w` if it has run before. */
static void swap_registers(struct sm *sm, uint32_t w, uint32_t stored, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint32_t loaded = sw->away, words = sm->cfg->sm.swap_registers;
    uint32_t cycles = (stored + loaded + words - 1) / words;
    sm->n.turns += stored || loaded;
    sm->n.turn_stored += stored;
    sm->n.turn_loaded += loaded;
    sm->n.turn_cycles += cycles;
    sm->turns.n_turning++;
    sw->turning = true;
    if (cycles)
        wheel_add(&sm->wheel, now + cycles, event_make(EVENT_TURN, w));
    else
        sm_turn_begin(sm, w, now);
}

/* Replaces running warps that wait at a barrier by other warps. */
static void replace_waiting(struct sm *sm, uint64_t now) {
    uint32_t w, next;
    for (struct warp_walk at = warp_walk(&sm->warps.live); warp_next(&at, &sm->warps.live, sm->warps.words, &w);) {
        struct sm_warp *sw = &sm->warps.slot[w];
        if (sw->context || !can_leave(sw) || (next = next_warp(sm)) == NO_WARP_SLOT)
            continue;
        sw->asleep = true;
        sw->away = registers_of(sm, sw);
        sm_doze(sm, w, now);
        swap_registers(sm, next, sw->away, now);
    }
}

void sm_turns(struct sm *sm, uint64_t now) {
    uint32_t next,
        running = warp_set_count(&sm->warps.live, sm->warps.words) - contexts_awake(sm) + sm->turns.n_turning;
    for (; running < sm->cfg->sm.running_warps && (next = next_warp(sm)) != NO_WARP_SLOT; running++)
        swap_registers(sm, next, 0, now);
    replace_waiting(sm, now);
}
