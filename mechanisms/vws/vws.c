/* Variable warp sizing [Rogers, Johnson, O'Connor and Keckler, ISCA 2015]: the warps are narrow (sm.warp_size), and a
 * gang of consecutive warps of a CTA fills the lanes of the pipes. The warps of a gang that are ready at one PC fetch
 * once and issue in one slot, as a wide warp does. Warps that branch elsewhere or wait for memory are left behind, and
 * rejoin the gang when they are ready at its PC. Each warp uses its own slice of the pipes. So parts of gangs whose
 * slices are idle issue in the same slot.
 *
 * Our reading of the paper: Gangs re-form without cost, in each slot anew, and a warp belongs to the same gang until
 * it ends. Only the memory access is shared: a warp continues when its own data have arrived. */
#include "mechanisms/mechanism.h"
#include "timing/sm/joint.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

struct vws_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "vws.def"
};

struct vws {
    uint32_t slices;
    struct vws_counts n;
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct vws *v = calloc(1, sizeof *v);
    (void)sm, (void)ctx;
    if (v)
        v->slices = cfg->sm.warp_size < CFG_LANES ? CFG_LANES / cfg->sm.warp_size : 1;
    return v;
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)now;
    sm_joint_slices(sm);
    sm_joint_fetches(sm, ((const struct vws *)u)->slices - 1, JOINT_SAME_GANG);
    return true;
}

/* Returns the live warps of the gang of a warp. */
static struct warp_set gang_of(const struct vws *v, const struct sm *sm, uint32_t warp) {
    struct warp_set all = sm_get_cta(sm, sm_get_cta_slot(sm, warp))->warps, gang = {.word = {0}};
    const uint32_t number = sm_get_warp(sm, warp)->index / v->slices;
    uint32_t w;
    while (warp_set_take(&all, &w))
        if (sm_is_live(sm, w) && sm_get_warp(sm, w)->index / v->slices == number)
            warp_set_add(&gang, w);
    return gang;
}

/* Returns a ready path of the warp at this PC; MAX_PATHS: none. */
static uint32_t path_at(const struct sm *sm, uint32_t warp, uint32_t pc) {
    uint32_t n, p = 0;
    const struct sm_path *path = sm_get_paths(sm, warp, &n);
    while (p < n && (path[p].pc != pc || path[p].state >= N_PIPES))
        p++;
    return p < n ? p : MAX_PATHS;
}

/* Returns the warps of the gang that are ready at this PC. If one of these warps has no place in the slot, returns an
 * empty set. */
static struct warp_set part_of(struct sm *sm, const struct sm_joint *j, struct warp_set gang, uint32_t pc,
                               uint64_t now) {
    struct warp_set part = {.word = {0}};
    uint32_t w;
    while (warp_set_take(&gang, &w)) {
        const uint32_t p = path_at(sm, w, pc);
        if (p == MAX_PATHS)
            continue;
        if (!sm_joint_may(sm, j, w, p, now))
            return (struct warp_set){.word = {0}};
        warp_set_add(&part, w);
    }
    return part;
}

/* Adds the parts of gangs that fit into the idle slices. */
static void add_others(struct vws *v, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct warp_set ready = sm_joint_ready(sm, j);
    uint32_t w, m, n;
    while (j->lanes != LANES_ALL && warp_set_take(&ready, &w)) {
        if (sm_is_context(sm, w))
            continue;
        const struct sm_path *path = sm_get_paths(sm, w, &n);
        for (uint32_t p = 0; p < n; p++) {
            if (path[p].state >= N_PIPES)
                continue;
            struct warp_set part = part_of(sm, j, gang_of(v, sm, w), path[p].pc, now);
            while (warp_set_take(&part, &m))
                v->n.beside += sm_joint_add(sm, j, m, path_at(sm, m, path[p].pc), now);
        }
    }
}

static void join(void *u, struct sm *sm, struct sm_joint *j, uint64_t now) {
    struct vws *v = u;
    const uint32_t leader = j->member[0].warp, pc = j->member[0].pc;
    if (sm_is_context(sm, leader))
        return;
    struct warp_set gang = gang_of(v, sm, leader);
    uint32_t live = 0, w;
    for (; warp_set_take(&gang, &w); live++) {
        const uint32_t p = path_at(sm, w, pc);
        if (w != leader && p != MAX_PATHS)
            sm_joint_add(sm, j, w, p, now);
    }
    v->n.whole += j->n == live;
    v->n.parts += j->n != live;
    add_others(v, sm, j, now);
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct vws_counts
#include "vws.def"
};
/* clang-format on */

static void stats(void *u, struct stats *s) {
    struct vws *v = u;
    STATS_COUNT(s, rows, &v->n);
    v->n = (struct vws_counts){0};
}

static const struct sm_unit_ops unit = {
    .name = "vws", .make = make, .free = free, .launch = launch, .join = join, .stats = stats};

static const char *refuse(const struct model_spec *s) {
    if (s->base->ops && s->base->ops->group)
        return "makes gangs of whole warps, and this model forms warps of its own";
    return model_needs_time(s);
}

const struct mechanism mechanism_vws = {
    .name = "vws",
    .help = "variable warp sizing: narrow warps (sm.warp_size) issue as a gang while they stay together",
    .paper = "Rogers, Johnson, O'Connor and Keckler, A variable warp size architecture, ISCA 2015",
    .kind = MECHANISM_EXTENSION,
    .refuse = refuse,
    .groups = GROUPS("extensions that pair paths of a warp", "extensions that pair warps"),
    .unit = &unit,
    .statistics = PREFIXES("vws."),
};
