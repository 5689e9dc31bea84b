/* Warps that take turns (sm.running_warps): the SM has lanes for only a few warps at a time. A warp with lanes runs
 * until it ends, or until it waits at a barrier, or for other warps at a branch (reconv_ops.meet), with nothing in
 * flight. Then the registers of the oldest warp that can continue are loaded from memory. Warps without a turn sleep.
 * docs/pepsc-core.md describes the choices. */
#include "isa/machine/warp.h"
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include "timing/config/warp_set.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

struct turns_counts {
#define DECLARED_SM_STATISTICS
#define COUNT_FIELDS
#include "turns.def"
};

struct turns {
    const struct sm_cfg *cfg;
    uint32_t words;              /* number of words of a warp_set that the CTAs' warps need */
    struct warp_set waiting;     /* sleeping warps, except warps whose registers are being loaded */
    uint32_t stored[WARP_SLOTS]; /* number of registers (of 32 lanes each) of a waiting warp that are in memory */
    struct turns_counts n;
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct turns *t = calloc(1, sizeof *t);
    (void)sm, (void)ctx;
    if (!t)
        return NULL;
    t->cfg = &cfg->sm;
    t->words = (sm_warp_slots(&cfg->sm) + 63) / 64;
    return t;
}

static uint32_t warps_loaded(const struct config *cfg, const struct launch *l, void *ctx) {
    (void)l, (void)ctx;
    return cfg->sm.running_warps;
}

/* Makes the warp wait for its next turn, in which it must load `stored` registers. */
static void wait_for_turn(struct turns *t, struct sm *sm, uint32_t w, uint32_t stored, uint64_t now) {
    t->stored[w] = stored;
    warp_set_add(&t->waiting, w);
    sm_sleep(sm, w, now);
}

static void warp_start(void *u, struct sm *sm, uint32_t w, uint64_t now) {
    struct turns *t = u;
    warp_set_drop(&t->waiting, w);
    if (!sm_is_finished(sm, w))
        wait_for_turn(t, sm, w, 0, now);
}

/* Returns how many registers, each of 32 lanes, a warp stores when it leaves: the registers that are live at its
 * barrier. If some lanes do not wait at a barrier, or a lane waits in a function that the kernel has called, it returns
 * the number of all registers of the kernel. */
static uint32_t registers_of(const struct turns *t, const struct sm *sm, uint32_t w) {
    const struct program *p = sm_get_program(sm)->program;
    uint32_t all = t->cfg->thread_registers ? t->cfg->thread_registers : p->thread_regs, sum = 0, n;
    const struct sm_path *path = sm_get_paths(sm, w, &n);
    lanemask_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct inst_info *at = &p->info[path[i].pc];
        if (p->code[path[i].pc].kind != K_BARRIER || at->function || at->live >= all)
            return all;
        sum += at->live;
        seen |= path[i].lanes;
    }
    return sum < all && !(sm_get_warp(sm, w)->live & ~seen) ? sum : all;
}

/* Returns the oldest warp without a turn that could run now; NO_WARP_SLOT: none. */
static uint32_t next_warp(const struct turns *t, const struct sm *sm) {
    uint32_t w, next = NO_WARP_SLOT;
    for (struct warp_walk at = warp_walk(&t->waiting); warp_next(&at, &t->waiting, t->words, &w);)
        if (!sm_is_finished(sm, w) && sm_lanes_may_run(sm, w) && (next == NO_WARP_SLOT || sm_is_older(sm, w, next)))
            next = w;
    return next;
}

/* Loads the registers of warp `w`, if it has run before, after `stored` registers of another warp have been stored. The
 * warp then runs. */
static void swap_registers(struct turns *t, struct sm *sm, uint32_t w, uint32_t stored, uint64_t now) {
    uint32_t loaded = t->stored[w], cycles = (stored + loaded + t->cfg->swap_registers - 1) / t->cfg->swap_registers;
    t->n.swaps += stored || loaded;
    t->n.stored += stored;
    t->n.loaded += loaded;
    t->n.cycles += cycles;
    warp_set_drop(&t->waiting, w);
    sm_rouse(sm, w, now + cycles, now);
}

/* Takes the turn from each warp whose lanes all wait for other warps and which has no instruction in flight, if another
 * warp can run. */
static void replace_waiting(struct turns *t, struct sm *sm, uint64_t now) {
    const struct warp_set *live = sm_get_live(sm);
    uint32_t w, next;
    for (struct warp_walk at = warp_walk(live); warp_next(&at, live, t->words, &w) && w < sm_warp_slots(t->cfg);) {
        if (sm_has_in_flight(sm, w) || sm_lanes_may_run(sm, w) || (next = next_warp(t, sm)) == NO_WARP_SLOT)
            continue;
        uint32_t stored = registers_of(t, sm, w);
        wait_for_turn(t, sm, w, stored, now);
        swap_registers(t, sm, next, stored, now);
    }
}

static void after_issue(void *u, struct sm *sm, uint64_t now) {
    struct turns *t = u;
    if (!warp_set_any(&t->waiting, t->words))
        return;
    uint32_t next, running = sm_count_awake(sm);
    for (; running < t->cfg->running_warps && (next = next_warp(t, sm)) != NO_WARP_SLOT; running++)
        swap_registers(t, sm, next, 0, now);
    replace_waiting(t, sm, now);
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_SM_STATISTICS
#define COUNT_ROWS struct turns_counts
#include "turns.def"
};
/* clang-format on */

static void stats(void *u, struct stats *s) {
    struct turns *t = u;
    STATS_COUNT(s, rows, &t->n);
    t->n = (struct turns_counts){0};
}

static void describe(const void *u, const struct sm *sm, FILE *out) {
    const struct turns *t = u;
    uint32_t n = 0, w;
    for (struct warp_walk at = warp_walk(&t->waiting); warp_next(&at, &t->waiting, t->words, &w);)
        n += !sm_is_finished(sm, w);
    if (n)
        fprintf(out, "  %u warp%s for a turn on the lanes (sm.running_warps)\n", n, n == 1 ? " waits" : "s wait");
}

static const struct sm_unit_ops unit = {
    .name = "turns",
    .make = make,
    .free = free,
    .warps_loaded = warps_loaded,
    .warp_start = warp_start,
    .after_issue = after_issue,
    .stats = stats,
    .describe = describe,
};

static bool on(const struct config *cfg) { return cfg->sm.running_warps != 0; }

const struct mechanism mechanism_turns = {
    .name = "turns",
    .help = "few warps of an SM run at a time, with the registers of the others in memory (docs/pepsc-core.md)",
    .kind = MECHANISM_MACHINE,
    .unit = &unit,
    .on = on,
    .options = PREFIXES("sm.running_warps", "sm.swap_registers"),
    .statistics = PREFIXES("sm.warp_swaps", "sm.swap_"),
};
