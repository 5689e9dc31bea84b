/* An upper bound, not hardware: each lane is a core of its own, which in each slot executes an instruction of any ready
 * thread of this lane. All ready paths of the leader's warp join, and then those of other warps, while their lanes are
 * free. Every path fetches in the cycle of the first fetch. Under anypc, where the threads at each PC are a path,
 * divergent control flow then costs no slot that other threads could use. Memory and pipes stay as they are:
 * instructions of different pipes need a pass each, and memory instructions at different PCs do not issue together.
 * Threads drift apart, so memory accesses may coalesce worse; the bound holds for control flow alone. */
#include "mechanisms/mechanism.h"
#include "timing/sm/joint.h"
#include "timing/sm/unit_access.h"

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)u, (void)now;
    sm_joint_fetches(sm, JOINT_MOST - 1, JOINT_ANY_WARP);
    return true;
}

/* Adds those ready paths of a warp whose lanes no member of `j` uses. */
static void add_paths(struct sm *sm, struct sm_joint *j, uint32_t warp, uint64_t now) {
    uint32_t n;
    sm_get_paths(sm, warp, &n);
    for (uint32_t p = 0; p < n; p++)
        sm_joint_add(sm, j, warp, p, now);
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct warp_set ready = sm_joint_ready(sm, j);
    const uint32_t first = j->member[0].warp;
    uint32_t w;
    (void)u;
    add_paths(sm, j, first, now);
    warp_set_drop(&ready, first);
    while (j->lanes != j->all && warp_set_take(&ready, &w))
        add_paths(sm, j, w, now);
}

static const struct sm_unit_ops unit = {.name = "mimd", .make = sm_unit_without_state, .launch = launch, .join = join};

const struct mechanism mechanism_mimd = {
    .name = "mimd",
    .help = "an upper bound, not hardware: in each slot, every lane issues for any of its ready threads",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_paths,
    .groups = GROUPS("extensions that pair paths of a warp", "extensions that pair warps"),
    .unit = &unit,
};
