/* Warps in turn (sm.in_turn): the SM has lanes for few warps at a time. One that has them runs until it ends or stands
 * at a barrier with nothing under way; then the oldest one that can go on has its registers brought from memory. In
 * between a warp is in no state that a scheduler looks at, and it is not live. */
#include "sm_parts.h"

/* Registers of 32 lanes that a warp stores when it leaves: those that the compiler has told its barrier still hold a
 * value. All of a kernel's where that is not enough: lanes that do not stand at a barrier here (another part of a
 * divergent warp has registers of its own), and functions, whose callers have some. */
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
    struct sm_warp *sw = &sm->warp[w];
    if (sw->finished)
        return;
    sw->asleep = true;
    sw->away = 0;
    sm_doze(sm, w, now);
}

void sm_turn_begin(struct sm *sm, uint32_t w, uint64_t now) {
    sm->n_turning--;
    sm->warp[w].turning = false;
    sm->warp[w].asleep = false;
    sm_doze(sm, w, now);
}

/* The oldest warp that waits for its turn and could use it; NO_WARP_SLOT: none. */
static uint32_t next_warp(const struct sm *sm) {
    uint32_t next = NO_WARP_SLOT;
    for (uint32_t w = 0; w < sm->cfg->sm.warps; w++) {
        const struct sm_warp *sw = &sm->warp[w];
        if (sw->w && sw->asleep && !sw->turning && !sw->finished && control_may_run(&sw->control) &&
            (next == NO_WARP_SLOT || (int32_t)(sm->age[w] - sm->age[next]) < 0))
            next = w;
    }
    return next;
}

/* All of its lanes wait for other warps, and nothing of it is under way. */
static bool can_leave(const struct sm_warp *sw) {
    return !sw->inflight && !sw->ordered && !control_may_run(&sw->control);
}

/* `stored` registers leave, and those of warp `w` come: none, when it has not run yet. */
static void change(struct sm *sm, uint32_t w, uint32_t stored, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    uint32_t loaded = sw->away, words = sm->cfg->sm.turn_words;
    uint32_t cycles = (stored + loaded + words - 1) / words;
    sm->n.turns += stored || loaded;
    sm->n.turn_stored += stored;
    sm->n.turn_loaded += loaded;
    sm->n.turn_cycles += cycles;
    sm->n_turning++;
    sw->turning = true;
    if (cycles)
        wheel_add(&sm->wheel, now + cycles, event_make(EVENT_TURN, w));
    else
        sm_turn_begin(sm, w, now);
}

/* Warps at a barrier make room for others. */
static void replace(struct sm *sm, uint64_t now) {
    uint32_t w, next;
    for (struct warp_walk at = warp_walk(&sm->live); warp_next(&at, &sm->live, sm->words, &w);) {
        struct sm_warp *sw = &sm->warp[w];
        if (sw->context || !can_leave(sw) || (next = next_warp(sm)) == NO_WARP_SLOT)
            continue;
        sw->asleep = true;
        sw->away = registers_of(sm, sw);
        sm_doze(sm, w, now);
        change(sm, next, sw->away, now);
    }
}

void sm_turns(struct sm *sm, uint64_t now) {
    uint32_t next, running = warp_set_count(&sm->live, sm->words) - sm_contexts_awake(sm) + sm->n_turning;
    for (; running < sm->cfg->sm.in_turn && (next = next_warp(sm)) != NO_WARP_SLOT; running++)
        change(sm, next, 0, now);
    replace(sm, now);
}
