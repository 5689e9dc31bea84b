/* An upper bound, not hardware: all paths of a warp that can issue do so in one slot, and fetch in one cycle. Under
 * anypc, where the threads at each PC are a path, every thread then runs as on a core of its own, and divergent control
 * flow costs no slot. Memory and pipes stay as they are: instructions of different pipes need a pass each, and memory
 * instructions at different PCs do not issue together. Threads drift apart, so memory accesses may coalesce worse; the
 * bound holds for control flow alone. */
#include "mechanisms/mechanism.h"
#include "timing/sm/joint.h"
#include "timing/sm/unit_access.h"

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    static char nothing; /* the unit has no state */
    (void)cfg, (void)sm, (void)ctx;
    return &nothing;
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)u, (void)now;
    sm_joint_fetches(sm, MAX_PATHS - 1, JOINT_SAME_WARP);
    return true;
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    const struct sm_joint_member leader = j->member[0];
    uint32_t n;
    (void)u;
    sm_get_paths(sm, leader.warp, &n);
    for (uint32_t p = 0; p < n; p++)
        if (p != leader.path)
            sm_joint_add(sm, j, leader.warp, p, now);
}

static const struct sm_unit_ops unit = {.name = "mimd", .make = make, .launch = launch, .join = join};

const struct mechanism mechanism_mimd = {
    .name = "mimd",
    .help = "an upper bound, not hardware: all paths of a warp that can issue do so in one slot",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_paths,
    .groups = GROUPS("extensions that pair paths of a warp", "extensions that pair warps"),
    .unit = &unit,
};
