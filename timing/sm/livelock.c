#include "livelock.h"
#include "isa/decode.h"
#include "isa/paths/control.h"
#include "isa/paths/paths_report.h"
#include "isa/paths/repeat.h"
#include "timing/config/warp_set.h"
#include "tma.h"
#include "unit_access.h"
#include <stdlib.h>
#include <string.h>

struct livelock {
    bool watching, disturbed;
    uint64_t arrivals;        /* number of mbarrier arrivals by copies before the search began */
    struct repeat_warp *warp; /* WARP_SLOTS entries, allocated by the first search; NULL before it */
    struct warp_set noted;    /* the warps whose entries are not all zero. The others take no host memory */
    bool asked[WARP_SLOTS];   /* the warp has executed a strong access since it last read a clock */
    uint32_t polls;           /* number of clock reads of such warps since the search began */
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg;
    (void)sm;
    (void)ctx;
    return calloc(1, sizeof(struct livelock));
}

static void livelock_free(void *u) {
    struct livelock *l = u;
    for (uint32_t w; warp_set_take(&l->noted, &w);)
        repeat_free(&l->warp[w]);
    free(l->warp);
    free(l);
}

static void watch(struct sm *sm, struct livelock *l, bool on) {
    l->watching = on;
    sm_unit_listen(sm, &unit_livelock, HOOK_ISSUED, on);
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)now;
    watch(sm, u, false);
    return true;
}

static void disturb(struct sm *sm, struct livelock *l) {
    l->disturbed = true;
    watch(sm, l, false);
}

static void begin_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    (void)cta;
    (void)now;
    disturb(sm, u);
}

static void exited(void *u, struct sm *sm, uint32_t warp, uint64_t now) {
    (void)warp;
    (void)now;
    disturb(sm, u);
}

/* Counts polls of memory with a time limit: strong accesses, each followed by a clock read. */
static void count_polls(struct livelock *l, const struct sm_issued *i) {
    uint32_t n;
    if (inst_is_ordered(i->in))
        l->asked[i->warp] = true;
    else if (i->in->kind == K_WARP && isa_rows(&n)[i->in->row].op == OP_SREG) {
        l->polls += l->asked[i->warp];
        l->asked[i->warp] = false;
    }
}

/* Returns the entry of a warp, to be changed. */
static struct repeat_warp *entry(struct livelock *l, uint32_t warp) {
    warp_set_add(&l->noted, warp);
    return &l->warp[warp];
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct livelock *l = u;
    if (i->phase == ISSUE_WAITS)
        repeat_forget(entry(l, i->warp));
    if (i->phase == ISSUE_UNIT)
        disturb(sm, l);
    if (!i->fx || (i->in->kind <= K_CVT && !(i->in->hints & HINT_DEQ)) || i->phase == ISSUE_UNIT)
        return;
    count_polls(l, i);
    switch (inst_repeats(sm_get_warp(sm, i->warp), i->in, i->lanes, i->fx)) {
    case REPEAT_CHANGES:
        disturb(sm, l);
        break;
    case REPEAT_ALONE:
        repeat_forget(entry(l, i->warp));
        break;
    case REPEAT_UNKNOWN:
        repeat_unknown(entry(l, i->warp));
        break;
    case REPEAT_FINE:
        if (i->in->ends_block & BLOCK_WAITS)
            repeat_wait(entry(l, i->warp), i->fx->taken);
        if (i->in->kind == K_BRANCH && i->in->target <= i->pc && i->fx->taken)
            repeat_visit(entry(l, i->warp), sm_get_warp(sm, i->warp), i->pc, i->fx->taken);
        break;
    }
}

static void describe_path(const void *u, const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out) {
    const struct livelock *l = u;
    if (!l->watching || !lanes || lanes & ~l->warp[warp].repeats)
        return;
    fprintf(out, "; repeats itself");
    report_loop(out, sm_get_program(sm)->program, pc);
    fprintf(out, ", with the same registers and memory");
}

void livelock_begin(struct sm *sm) {
    struct livelock *l = sm_unit_state(sm, &unit_livelock);
    if (!l->warp && !(l->warp = calloc(WARP_SLOTS, sizeof *l->warp))) {
        l->disturbed = true; /* if memory is out, no search runs: from now on, livelock_disturbed() returns true */
        return;
    }
    uint32_t w;
    for (struct warp_walk at = warp_walk(&l->noted); warp_next(&at, &l->noted, WARP_WORDS, &w);)
        repeat_forget(&l->warp[w]);
    memset(l->asked, 0, sizeof l->asked);
    l->polls = 0;
    l->disturbed = false;
    l->arrivals = sm_copies_arrived(sm);
    watch(sm, l, true);
}

void livelock_end(struct sm *sm) { watch(sm, sm_unit_state(sm, &unit_livelock), false); }

bool livelock_disturbed(const struct sm *sm) {
    const struct livelock *l = sm_unit_state(sm, &unit_livelock);
    return l->disturbed || l->arrivals != sm_copies_arrived(sm);
}

bool livelock_repeats(const struct sm *sm, bool *any) {
    const struct livelock *l = sm_unit_state(sm, &unit_livelock);
    if (!l->warp)
        return false;
    if (sm_copies_in_flight(sm) ||
        tma_is_busy(sm)) /* copies in flight may arrive at mbarriers and so release threads */
        return false;
    for (uint32_t w = 0; w < WARP_SLOTS; w++) {
        if (!sm_is_live(sm, w))
            continue;
        lanemask_t lanes = sm_lanes_may_run(sm, w);
        if (lanes & ~l->warp[w].repeats)
            return false;
        *any |= lanes != 0;
    }
    return true;
}

/* Returns true if one of `lanes` neither repeats nor waits. */
static bool goes_on(const struct repeat_warp *r, lanemask_t lanes) {
    bool any = false;
    for (int l = 0; l < WARP_LANES; l++)
        any |= (lanes & ~r->repeats) >> l & 1 && !r->rounds[l];
    return any;
}

bool livelock_computes(const struct sm *sm) {
    enum { OFTEN = 32 };
    const struct livelock *l = sm_unit_state(sm, &unit_livelock);
    for (uint32_t w = 0; l->warp && w < WARP_SLOTS; w++)
        if (sm_is_live(sm, w) && l->warp[w].visits >= OFTEN && goes_on(&l->warp[w], sm_lanes_may_run(sm, w)))
            return true;
    return false;
}

bool livelock_polls_clock(const struct sm *sm) {
    enum { POLLS = 16 };
    const struct livelock *l = sm_unit_state(sm, &unit_livelock);
    return l->polls >= POLLS;
}

const struct sm_unit_ops unit_livelock = {
    .name = "livelock",
    .observes = true,
    .make = make,
    .free = livelock_free,
    .launch = launch,
    .cta_start = begin_cta,
    .exited = exited,
    .issued = issued,
    .describe_path = describe_path,
};
