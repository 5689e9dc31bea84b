/* Simultaneous branch interweaving [Brunie, Collange and Diamos, ISCA 2012]: two divergent paths of a warp issue in one
 * cycle, each in its own lanes. The paper fetches, decodes and schedules two instructions per cycle for a warp, the
 * primary and the secondary one. So here the fetch stage fetches a second time for the same warp. In the paper, paths
 * wait in a table sorted by PC, and the primary path has the lowest PC. Our choice is simpler: the scheduler picks the
 * primary path, and the secondary path is the first other path that can issue. */
#include "mechanisms/mechanism.h"
#include "timing/sm/joint.h"
#include "timing/sm/unit_access.h"

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)u, (void)now;
    sm_joint_fetches(sm, 1, JOINT_SAME_WARP);
    return true;
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    const struct sm_joint_member primary = j->member[0];
    uint32_t n;
    (void)u;
    sm_get_paths(sm, primary.warp, &n);
    for (uint32_t p = 0; p < n && j->n == 1; p++)
        if (p != primary.path)
            sm_joint_add(sm, j, primary.warp, p, now);
}

static const struct sm_unit_ops unit = {.name = "sbi", .make = sm_unit_without_state, .launch = launch, .join = join};

const struct mechanism mechanism_sbi = {
    .name = "sbi",
    .help = "simultaneous branch interweaving: two paths of a warp issue in one slot",
    .paper = "Brunie, Collange and Diamos, Simultaneous branch and warp interweaving for sustained GPU performance, "
             "ISCA 2012",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_paths,
    .groups = GROUPS("extensions that pair paths of a warp"),
    .unit = &unit,
};
