/* Simultaneous warp interweaving [Brunie, Collange and Diamos, ISCA 2012]: an instruction of another warp issues in the
 * lanes that the scheduler's choice leaves idle. Of the instructions that fit, the one with the most lanes issues. Of
 * several such instructions, the one of the oldest warp issues. The paper's secondary scheduler selects in the same
 * way, but searches only one set of warps per cycle. Here it searches all warps of its scheduler, which is our choice.
 * The paper also shuffles the lanes of warps, so that more masks fit; this is not built. Together with sbi, a path of
 * the same warp comes first, as in the paper. A second fetch per cycle, for any warp, feeds the second instruction. */
#include "mechanisms/mechanism.h"
#include "timing/sm/joint.h"
#include "timing/sm/unit_access.h"

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)u, (void)now;
    sm_joint_fetches(sm, 1, JOINT_ANY_WARP);
    return true;
}

struct choice {
    uint32_t warp, path;
    int lanes; /* 0: none */
};

/* Sets *best to a path of warp `w` if this path fits better than *best. */
static void choose(struct choice *best, struct sm *sm, const struct sm_joint *j, uint32_t w, uint64_t now) {
    uint32_t n;
    const struct sm_path *path = sm_get_paths(sm, w, &n);
    for (uint32_t p = 0; p < n; p++) {
        int lanes = (int)lanes_count(path[p].lanes);
        bool better = lanes > best->lanes || (lanes == best->lanes && sm_is_older(sm, w, best->warp));
        if (better && sm_joint_may(sm, j, w, p, now))
            *best = (struct choice){w, p, lanes};
    }
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct warp_set ready = sm_joint_ready(sm, j);
    struct choice best = {0, 0, 0};
    uint32_t w;
    (void)u;
    if (j->n > 1 || j->lanes == j->all)
        return;
    warp_set_drop(&ready, j->member[0].warp);
    while (warp_set_take(&ready, &w))
        choose(&best, sm, j, w, now);
    if (best.lanes)
        sm_joint_add(sm, j, best.warp, best.path, now);
}

static const struct sm_unit_ops unit = {.name = "swi", .make = sm_unit_without_state, .launch = launch, .join = join};

const struct mechanism mechanism_swi = {
    .name = "swi",
    .help = "simultaneous warp interweaving: another warp issues in the idle lanes of a warp",
    .paper = "Brunie, Collange and Diamos, Simultaneous branch and warp interweaving for sustained GPU performance, "
             "ISCA 2012",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("extensions that pair warps"),
    .unit = &unit,
};
