#ifndef TIMING_SM_UNIT_GROUP_H
#define TIMING_SM_UNIT_GROUP_H
/* Functions for units of models whose paths have groups (reconv_ops.group): the members of a compacted warp. */
#include "joint.h"
#include "unit_access.h"

/* A path and its group. */
struct group_member {
    uint32_t warp, path, group; /* warp slot; index among the paths of the warp */
};

struct group_member group_member_of(const struct sm *sm, uint32_t warp, uint32_t path);
const struct sm_path *group_path(const struct sm *sm, const struct group_member *m);
/* Fills `out` with the other paths of the group, and returns their number. */
uint32_t group_others(const struct sm *sm, const struct group_member *self, struct group_member out[MAX_WARP_LANES]);
/* Adds the other paths of the leader's group that are at its PC to the slot. */
void group_join(struct sm *sm, struct sm_joint *j, uint64_t now);
#endif
