/* Large warps in an SM. The paths at the current PC of a large warp issue. Paths at other PCs wait in the state
 * PATH_BLOCKED until no path is left at the current PC. Then the next PC becomes current. The paths of a sub-warp
 * (reconv_ops.group) issue together, when all of them are ready.
 *
 * A scheduler that has begun an instruction issues all ready sub-warps that execute it back to back. An unguarded
 * direct branch changes the PC of the large warp, so it issues once for all sub-warps.
 *
 * Our reading of the paper: Paths may be at several PCs, for example after threads return to different places. They
 * take turns, in the order of PCs. A large warp does not wait for paths whose warp sleeps, or that wait for a queue. If
 * the SM has several schedulers, each issues sub-warps of its warps. */
#include "large_unit.h"
#include "timing/report/stat.h"
#include "timing/sm/unit_group.h"
#include <stdlib.h>
#include <string.h>

struct large_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "large.def"
};

enum { NO_PC = 0xffffffffu, CTAS = SM_CTA_SLOTS + MAX_CONTEXTS, SCHEDULERS_MOST = 8 };

struct large_warp {
    uint32_t pc; /* the current PC; NO_PC: none */
    bool begun;  /* a sub-warp has issued at `pc` */
    bool due;    /* true: tick() must check the paths of this large warp */
};

struct large_unit {
    uint32_t warps; /* of a large warp */
    bool looks;     /* look() is running */
    uint32_t n_due;
    uint16_t due[CTAS * MAX_CTA_WARPS];       /* numbers of the large warps whose `due` is true */
    struct large_warp *last[SCHEDULERS_MOST]; /* by scheduler: the large warp that issued last */
    struct large_counts n;
    /* indexed by the slot of the CTA and the number of the large warp in the CTA */
    struct large_warp warp[CTAS][MAX_CTA_WARPS];
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct large_unit *u = calloc(1, sizeof *u);
    (void)sm, (void)ctx;
    if (u)
        u->warps = cfg->reconv.large_warps;
    return u;
}

static bool launch(void *unit, struct sm *sm, uint64_t now) {
    struct large_unit *u = unit;
    (void)now;
    memset(u->last, 0, sizeof u->last);
    memset(u->warp, 0, sizeof u->warp);
    u->n_due = 0;
    sm_joint_gangs(sm, u->warps);
    sm_joint_fetches(sm, u->warps * MAX_WARP_LANES, JOINT_SAME_GANG);
    return true;
}

static void begin_cta(void *unit, struct sm *sm, uint32_t cta, uint64_t now) {
    struct large_unit *u = unit;
    (void)sm, (void)now;
    for (uint32_t i = 0; i < MAX_CTA_WARPS; i++)
        u->warp[cta][i] = (struct large_warp){.pc = NO_PC, .due = u->warp[cta][i].due};
}

static struct large_warp *large_of(struct large_unit *u, const struct sm *sm, uint32_t warp) {
    return &u->warp[sm_get_cta_slot(sm, warp)][sm_get_warp(sm, warp)->index / u->warps];
}

/* Iterates over the paths of the large warp to which `l` belongs. */
struct walk {
    struct warp_set warps;
    const struct sm_path *paths;
    uint32_t warp, path, n;
};

static struct walk walk_of(struct large_unit *u, const struct sm *sm, const struct large_warp *l) {
    const uint32_t at = (uint32_t)(l - &u->warp[0][0]);
    return (struct walk){.warps = sm_get_cta(sm, at / MAX_CTA_WARPS)->warps, .path = UINT32_MAX};
}

static const struct sm_path *next_path(struct large_unit *u, const struct sm *sm, const struct large_warp *l,
                                       struct walk *at) {
    while (++at->path >= at->n) {
        do
            if (!warp_set_take(&at->warps, &at->warp))
                return NULL;
        while (!sm_get_warp(sm, at->warp) || large_of(u, sm, at->warp) != l);
        at->paths = sm_get_paths(sm, at->warp, &at->n);
        at->path = UINT32_MAX;
    }
    return &at->paths[at->path];
}

static bool is_waited_for(const struct sm_path *p) { return p->state != PATH_TURN && p->state != PATH_QUEUE; }

/* Makes the next PC current if no path is left at the present one: the lowest PC above it, else the lowest. */
static void choose(struct large_unit *u, const struct sm *sm, struct large_warp *l) {
    uint32_t above = NO_PC, lowest = NO_PC;
    struct walk at = walk_of(u, sm, l);
    for (const struct sm_path *p; (p = next_path(u, sm, l, &at));) {
        if (!is_waited_for(p))
            continue;
        if (p->pc == l->pc)
            return;
        lowest = p->pc < lowest ? p->pc : lowest;
        above = p->pc > l->pc && p->pc < above ? p->pc : above;
    }
    l->pc = above != NO_PC ? above : lowest;
    l->begun = false;
}

static void set_due(struct large_unit *u, struct large_warp *l) {
    if (!l->due)
        u->due[u->n_due++] = (uint16_t)(l - &u->warp[0][0]);
    l->due = true;
}

/* Returns true if the candidate must wait for other paths that issue in the same slot: those of its sub-warp, and at a
 * jump all that are at the current PC. Blocked paths become ready together, in look(). */
static bool is_held(struct large_unit *u, const struct sm *sm, struct large_warp *l, const struct sm_candidate *c) {
    const uint32_t group = sm_get_group(sm, c->warp, c->path);
    const bool jump = c->in->kind == K_BRANCH && c->in->guard == NO_GUARD;
    bool held = false;
    struct walk at = walk_of(u, sm, l);
    for (const struct sm_path *p; (p = next_path(u, sm, l, &at));) {
        if (p->pc != c->pc || !is_waited_for(p) || (at.warp == c->warp && at.path == c->path))
            continue;
        if (!jump && (!group || sm_get_group(sm, at.warp, at.path) != group))
            continue;
        /* the SM has not determined the state of this path yet */
        const bool new = p->state == PATH_FETCH && p->buffered;
        held |= p->state >= N_PIPES && !new && (p->state != PATH_BLOCKED || !u->looks);
        if (p->state == PATH_BLOCKED)
            set_due(u, l);
    }
    return held;
}

static uint8_t may_issue(void *unit, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    struct large_unit *u = unit;
    if (sm_is_context(sm, c->warp))
        return PATH_READY;
    struct large_warp *l = large_of(u, sm, c->warp);
    const uint32_t was = l->pc;
    (void)now;
    choose(u, sm, l);
    if (l->pc == NO_PC)
        l->pc = c->pc;
    if (l->pc != was)
        set_due(u, l);
    return c->pc != l->pc || is_held(u, sm, l, c) ? PATH_BLOCKED : PATH_READY;
}

/* If a large warp has begun an instruction at this scheduler, makes one of the large warp's paths the leader. */
static void go_on(struct large_unit *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct large_warp *l = u->last[j->scheduler];
    if (!l || l == large_of(u, sm, j->member[0].warp) || !l->begun)
        return;
    struct warp_set ready = sm_joint_ready(sm, j);
    struct walk at = walk_of(u, sm, l);
    for (const struct sm_path *p; (p = next_path(u, sm, l, &at));)
        if (p->pc == l->pc && p->state < N_PIPES && warp_set_has(&ready, at.warp) &&
            sm_joint_lead(sm, j, at.warp, at.path, now))
            return;
}

static bool has_member(const struct sm_joint *j, uint32_t warp, uint32_t path) {
    for (uint32_t i = 0; i < j->n; i++)
        if (j->member[i].warp == warp && j->member[i].path == path)
            return true;
    return false;
}

static void join(void *unit, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct large_unit *u = unit;
    if (sm_is_context(sm, j->member[0].warp))
        return;
    go_on(u, sm, j, now);
    struct large_warp *l = u->last[j->scheduler] = large_of(u, sm, j->member[0].warp);
    group_join(sm, j, now);
    struct walk at = walk_of(u, sm, l);
    for (const struct sm_path *p; sm_joint_is_jump(sm, j) && (p = next_path(u, sm, l, &at));)
        if (p->pc == l->pc && !has_member(j, at.warp, at.path))
            sm_joint_add_jump(sm, j, at.warp, at.path, now);
    u->n.subwarps -= j->n - 1; /* issued() counts each member */
}

static void issued(void *unit, struct sm *sm, const struct sm_issued *i) {
    struct large_unit *u = unit;
    if (i->phase == ISSUE_PERFORMED || sm_is_context(sm, i->warp))
        return;
    struct large_warp *l = large_of(u, sm, i->warp);
    u->n.instructions += !l->begun;
    u->n.subwarps++;
    l->begun = true;
    set_due(u, l);
}

/* Lets the SM ask again whether the blocked paths at the current PC may issue. */
static void look(struct large_unit *u, struct sm *sm, struct large_warp *l, uint64_t now) {
    struct warp_set due = {.word = {0}};
    uint32_t w;
    choose(u, sm, l);
    struct walk at = walk_of(u, sm, l);
    for (const struct sm_path *p; (p = next_path(u, sm, l, &at));)
        if (p->pc == l->pc && p->state == PATH_BLOCKED)
            warp_set_add(&due, at.warp);
    u->looks = true;
    while (warp_set_take(&due, &w))
        sm_reconsider(sm, w, now);
    u->looks = false;
}

static void tick(void *unit, struct sm *sm, uint64_t now) {
    struct large_unit *u = unit;
    const uint32_t n = u->n_due;
    for (uint32_t i = 0; i < n; i++) {
        struct large_warp *l = &u->warp[0][0] + u->due[i];
        l->due = false;
        look(u, sm, l, now); /* may add entries */
    }
    u->n_due -= n;
    memmove(u->due, u->due + n, u->n_due * sizeof *u->due);
}

static uint64_t next(void *unit, struct sm *sm, uint64_t now) {
    (void)sm;
    return ((const struct large_unit *)unit)->n_due ? now + 1 : UINT64_MAX;
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct large_counts
#include "large.def"
};
/* clang-format on */

static void stats(void *unit, struct stats *s) {
    struct large_unit *u = unit;
    STATS_COUNT(s, rows, &u->n);
    u->n = (struct large_counts){0};
}

const struct sm_unit_ops unit_large = {
    .name = "large",
    .make = make,
    .free = free,
    .launch = launch,
    .cta_start = begin_cta,
    .may_issue = may_issue,
    .join = join,
    .issued = issued,
    .tick = tick,
    .next = next,
    .stats = stats,
};
