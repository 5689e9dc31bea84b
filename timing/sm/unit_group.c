/* The members of a compacted warp. */
#include "unit_group.h"

struct group_member group_member_of(const struct sm *sm, uint32_t warp, uint32_t path) {
    return (struct group_member){warp, path, sm_get_group(sm, warp, path)};
}

const struct sm_path *group_path(const struct sm *sm, const struct group_member *m) {
    uint32_t n;
    return &sm_get_paths(sm, m->warp, &n)[m->path];
}

uint32_t group_others(const struct sm *sm, const struct group_member *self, struct group_member out[MAX_WARP_LANES]) {
    struct warp_set warps = sm_get_cta(sm, sm_get_cta_slot(sm, self->warp))->warps;
    uint32_t found = 0, w, n;
    while (warp_set_take(&warps, &w)) {
        sm_get_paths(sm, w, &n);
        for (uint32_t p = 0; p < n; p++)
            if ((w != self->warp || p != self->path) && sm_get_group(sm, w, p) == self->group)
                out[found++] = (struct group_member){w, p, self->group};
    }
    return found;
}

void group_join(struct sm *sm, struct sm_joint *j, uint64_t now) {
    const struct group_member lead = group_member_of(sm, j->member[0].warp, j->member[0].path);
    struct group_member others[MAX_WARP_LANES];
    for (uint32_t i = 0, n = lead.group ? group_others(sm, &lead, others) : 0; i < n; i++)
        if (group_path(sm, &others[i])->pc == j->member[0].pc)
            sm_joint_add(sm, j, others[i].warp, others[i].path, now);
}
