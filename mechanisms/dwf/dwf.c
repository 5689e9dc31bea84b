/* Dynamic warp formation [Fung, Sham, Yuan and Aamodt, MICRO 2007], with threads at their home lanes: paths of several
 * warps at the same PC, in different lanes, issue as one formed warp, which fetches once. The paper moves single
 * threads into formed warps. Our choice is different: only whole paths of warps join, and warps form anew in each issue
 * slot from the paths that can issue. The paper has no reconvergence points, so anypc is the base model nearest to it,
 * but every base model works. sched.policy=oldest is similar to the paper's FIFO policy, and dwf.majority is its
 * majority policy. */
#include "mechanisms/mechanism.h"
#include "timing/sm/joint.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

enum { NO_PC = 0xffffffffu };

struct dwf {
    bool majority;
    uint32_t pc[8];    /* by scheduler: the majority PC, at which paths issue until none is ready; NO_PC: none */
    uint32_t *threads; /* by PC: number of threads that can issue there; used while the majority PC is chosen */
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct dwf *d = calloc(1, sizeof *d);
    (void)sm, (void)ctx;
    if (!d)
        return NULL;
    d->majority = cfg->sm.dwf_majority;
    return d;
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct dwf *d = u;
    (void)now;
    sm_joint_fetches(sm, JOINT_MOST - 1, JOINT_SAME_PC);
    for (int i = 0; i < 8; i++)
        d->pc[i] = NO_PC;
    d->threads = d->majority ? calloc(sm_get_program(sm)->program->n, sizeof *d->threads) : NULL;
    return d->threads || !d->majority;
}

static void launch_end(void *u, struct sm *sm) {
    (void)sm;
    free(((struct dwf *)u)->threads);
    ((struct dwf *)u)->threads = NULL;
}

/* A path that is ready. */
struct at {
    uint32_t warp, path, pc;
    lanemask_t lanes;
};

/* Iterates over the paths that are ready, warp by warp. Returns false at the end. */
static bool next_ready(const struct sm *sm, struct warp_set *ready, struct at *at) {
    for (;;) {
        uint32_t n = 0;
        const struct sm_path *path = at->warp == NO_WARP_SLOT ? NULL : sm_get_paths(sm, at->warp, &n);
        while (++at->path < n)
            if (path[at->path].state < N_PIPES) {
                at->pc = path[at->path].pc;
                at->lanes = path[at->path].lanes;
                return true;
            }
        at->path = UINT32_MAX;
        if (!warp_set_take(ready, &at->warp))
            return false;
    }
}
#define EACH_READY(sm, j, at)                                                                                          \
    struct warp_set ready = sm_joint_ready(sm, j);                                                                     \
    for (struct at at = {NO_WARP_SLOT, UINT32_MAX, 0, 0}; next_ready(sm, &ready, &at);)

/* Returns the PC at which the most threads of the slot's scheduler are ready. */
static uint32_t most_common(struct dwf *d, struct sm *sm, const struct sm_joint *j) {
    uint32_t best = j->member[0].pc;
    EACH_READY(sm, j, at) {
        d->threads[at.pc] += lanes_count(at.lanes);
        best = d->threads[at.pc] > d->threads[best] ? at.pc : best;
    }
    ready = sm_joint_ready(sm, j);
    for (struct at at = {NO_WARP_SLOT, UINT32_MAX, 0, 0}; next_ready(sm, &ready, &at);)
        d->threads[at.pc] = 0;
    return best;
}

/* Makes the oldest warp with a ready path at `pc` the leader. Returns false if there is none. */
static bool lead(struct sm *sm, struct sm_joint *j, uint32_t pc, uint64_t now) {
    struct at best = {NO_WARP_SLOT, 0, 0, 0};
    EACH_READY(sm, j, at)
    if (at.pc == pc && (best.warp == NO_WARP_SLOT || sm_is_older(sm, at.warp, best.warp)))
        best = at;
    return best.warp != NO_WARP_SLOT && sm_joint_lead(sm, j, best.warp, best.path, now);
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct dwf *d = u;
    uint32_t *pc = &d->pc[j->scheduler];
    if (d->majority && (*pc == NO_PC || !lead(sm, j, *pc, now))) {
        *pc = most_common(d, sm, j);
        lead(sm, j, *pc, now);
    }
    const uint32_t formed = j->member[0].pc;
    EACH_READY(sm, j, at)
    if (at.pc == formed && at.warp != j->member[0].warp)
        sm_joint_add(sm, j, at.warp, at.path, now);
}

static const struct sm_unit_ops unit = {
    .name = "dwf", .make = make, .free = free, .launch = launch, .launch_end = launch_end, .join = join};

const struct mechanism mechanism_dwf = {
    .name = "dwf",
    .help = "dynamic warp formation: paths of several warps at one PC issue as one warp, each thread in its lane",
    .paper = "Fung, Sham, Yuan and Aamodt, Dynamic warp formation and scheduling for efficient GPU control flow, MICRO "
             "2007",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("extensions that pair paths of a warp", "extensions that pair warps"),
    .unit = &unit,
    .options = PREFIXES("dwf."),
};
