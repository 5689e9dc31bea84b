/* Compacted warps in an SM: the paths with one group number issue together, and none of them runs ahead. A member that
 * is ready waits in the state PATH_BLOCKED until all other members are ready, too. So a compacted warp waits for the
 * slowest of its threads. It does not wait for members that have stopped at a branch or a barrier. Nor does it wait
 * for members whose warp sleeps, because that warp may run only after the others have ended or stopped (our reading of
 * the paper).
 *
 * Each path fetches for itself, but one fetch serves all members at one PC. Members whose instruction must issue alone
 * (joint.h) take one slot each. So do members in different parts of a divided SM, because their registers are there
 * (our reading of the paper). */
#include "tbc_unit.h"
#include "timing/sm/unit_group.h"
#include <stdlib.h>

/* The state of a path in its present group: rider[warp slot][lowest lane of the path]. */
struct rider {
    uint32_t group;
    bool held;         /* true: the path is in state PATH_BLOCKED, because it waits for other members of the group */
    uint32_t executed; /* number of instructions that the path has issued in this group */
};

struct tbc_unit {
    struct rider rider[WARP_SLOTS][MAX_WARP_LANES];
    struct warp_set due; /* warps for tick() to reconsider: their held paths may no longer have to wait */
    uint32_t n_due;
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm, (void)ctx;
    return calloc(1, sizeof(struct tbc_unit));
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct tbc_unit *t = u;
    (void)now;
    *t = (struct tbc_unit){.n_due = 0};
    sm_joint_fetches(sm, JOINT_MOST - 1, JOINT_SAME_PC);
    return true;
}

static struct rider *rider_of(struct tbc_unit *t, const struct sm *sm, const struct group_member *m) {
    struct rider *r = &t->rider[m->warp][lanes_first(group_path(sm, m)->lanes)];
    if (r->group != m->group)
        *r = (struct rider){.group = m->group};
    return r;
}

/* Makes tick() reconsider the warps of all `others` that are held, so that the SM calls may_issue() for them again. */
static void reconsider_others(struct tbc_unit *t, struct sm *sm, const struct group_member *others, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!rider_of(t, sm, &others[i])->held || warp_set_has(&t->due, others[i].warp))
            continue;
        warp_set_add(&t->due, others[i].warp);
        t->n_due++;
    }
}

/* Returns true if a path that waits for nothing else must wait for member `m` of its group. The path has issued
 * `executed` instructions in this group. It does not wait for a member whose warp sleeps. It does not wait for a member
 * that waits for a queue, since the affine warp may fill this queue only after other warps have issued. */
static bool waits_for(struct tbc_unit *t, const struct sm *sm, uint32_t executed, const struct group_member *m) {
    const struct rider *r = rider_of(t, sm, m);
    const uint8_t state = group_path(sm, m)->state;
    if (state == PATH_TURN)
        return false;
    if (r->executed != executed)
        return r->executed < executed;
    return state >= N_PIPES && state != PATH_QUEUE && !(state == PATH_BLOCKED && r->held);
}

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    const struct group_member self = group_member_of(sm, c->warp, c->path);
    struct group_member others[MAX_WARP_LANES];
    (void)now;
    if (!self.group)
        return PATH_READY;
    struct rider *r = rider_of(u, sm, &self);
    uint32_t n = group_others(sm, &self, others);
    bool was_held = r->held;
    r->held = false;
    for (uint32_t i = 0; i < n; i++)
        r->held |= waits_for(u, sm, r->executed, &others[i]);
    if (!r->held || !was_held)
        reconsider_others(u, sm, others, n);
    return r->held ? PATH_BLOCKED : PATH_READY;
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    (void)u;
    group_join(sm, j, now);
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    uint32_t n, p = 0;
    const struct sm_path *paths = sm_get_paths(sm, i->warp, &n);
    while (p < n && paths[p].lanes != i->lanes)
        p++;
    const struct group_member self = p < n ? group_member_of(sm, i->warp, p) : (struct group_member){.group = 0};
    struct group_member others[MAX_WARP_LANES];
    if (i->phase == ISSUE_PERFORMED || !self.group)
        return;
    rider_of(u, sm, &self)->executed++;
    reconsider_others(u, sm, others, group_others(sm, &self, others));
}

static void tick(void *u, struct sm *sm, uint64_t now) {
    struct tbc_unit *t = u;
    struct warp_set due = t->due;
    uint32_t w;
    t->due = (struct warp_set){.word = {0}};
    t->n_due = 0;
    while (warp_set_take(&due, &w))
        sm_reconsider(sm, w, now);
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    (void)sm;
    return ((const struct tbc_unit *)u)->n_due ? now + 1 : UINT64_MAX;
}

const struct sm_unit_ops unit_tbc = {
    .name = "tbc",
    .make = make,
    .free = free,
    .launch = launch,
    .may_issue = may_issue,
    .join = join,
    .issued = issued,
    .tick = tick,
    .next = next,
};
