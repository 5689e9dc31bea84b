/* Warp schedulers that know the CTAs of their warps [Jog et al., ASPLOS 2013, called OWL]. The CTAs of an SM form
 * groups. One group has priority, then come the following groups, round-robin. A scheduler picks round-robin among the
 * ready warps of the first group that has any. The policies differ in the group with priority:
 *
 *   cta_groups    a group keeps priority until all its warps are parked, that is, wait for loads or barriers. Then the
 *                 next group with a warp that is not parked gets it (CTA-aware two-level scheduling)
 *   cta_locality  a group keeps priority for owl.interval cycles, also while it waits. As soon as its data arrive, its
 *                 warps issue again, so fewer CTAs compete for the L1
 *   cta_banks     cta_locality, but the first group with priority is another one in each SM. SMs hold consecutive CTAs,
 *                 which use the same rows of DRAM, so the SMs' requests spread over more banks
 *
 * owl_rows.c has the paper's prefetches into the L2. */
#include "mechanisms/mechanism.h"
#include "owl_parts.h"
#include "timing/sm/ctas.h"
#include "timing/sm/sched/sched_ops.h"

/* The number of the interval wraps to 0 at MANY. MANY is a multiple of every number of groups up to 16, so the
 * round-robin order of the groups (interval number modulo number of groups) continues at the wrap. */
enum { MANY = 720720 };

struct owl {
    uint32_t wanted;   /* owl.group_warps */
    uint32_t interval; /* owl.interval */
    uint32_t first;    /* cta_groups: group with priority */
};

static size_t owl_size(const struct sm_cfg *cfg) {
    (void)cfg;
    return sizeof(struct owl);
}

static void owl_init(void *state, const struct sm_cfg *cfg) {
    *(struct owl *)state = (struct owl){.wanted = cfg->owl_warps, .interval = cfg->owl_interval};
}

/* Returns the number of CTAs of a group. */
static uint32_t group_ctas(const struct owl *o, const struct sched_view *s) {
    uint32_t each = s->sm->cta_warps ? s->sm->cta_warps : 1;
    return (o->wanted + each - 1) / each;
}

/* Returns the number of groups of the SM. */
static uint32_t groups_of(const struct owl *o, const struct sched_view *s) {
    uint32_t each = group_ctas(o, s);
    return (s->sm->most_ctas + each - 1) / each;
}

/* Returns the rank of the group of warp `w`: 1 for group `first`, 2 for the next one ... Contexts of units have no CTA.
 * Their rank is 0, before all groups. */
static uint32_t rank(const struct owl *o, const struct sched_view *s, uint32_t first, uint32_t w) {
    uint32_t slot = s->sm->warp[w].slot, n = groups_of(o, s);
    return slot >= SM_CTA_SLOTS || !n ? 0 : 1 + (slot / group_ctas(o, s) + n - first % n) % n;
}

/* Returns the next warp, round-robin, of the ready warps in the group with the lowest rank. */
static int pick_from(const struct owl *o, const struct sched_view *s, const struct warp_set *ready, uint32_t first) {
    uint32_t w, lowest = UINT32_MAX;
    struct warp_set best = {.word = {0}};
    for (struct warp_walk at = warp_walk(ready); warp_next(&at, ready, s->words, &w);) {
        uint32_t r = rank(o, s, first, w);
        if (r > lowest)
            continue;
        if (r < lowest)
            best = (struct warp_set){.word = {0}};
        lowest = r;
        warp_set_add(&best, w);
    }
    return (int)warp_set_after(&best, s->last, s->words);
}

static int pick_group(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct owl *o = state;
    return pick_from(o, s, ready, o->first);
}

/* Gives priority to the first group that has a warp that is not parked. */
static void next_group(void *state, const struct sched_view *s, const struct warp_set *live,
                       const struct warp_set *parked) {
    struct owl *o = state;
    uint32_t w, lowest = UINT32_MAX;
    struct warp_set mine = warp_sets_and(s->mine, live), may = warp_sets_without(&mine, parked);
    for (struct warp_walk at = warp_walk(&may); warp_next(&at, &may, s->words, &w);) {
        uint32_t r = rank(o, s, o->first, w);
        lowest = r && r < lowest ? r : lowest;
    }
    if (lowest != UINT32_MAX)
        o->first = (o->first + lowest - 1) % groups_of(o, s);
}

static int pick_locality(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct owl *o = state;
    return pick_from(o, s, ready, (uint32_t)(sched_now(s) / o->interval % MANY));
}

static int pick_banks(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct owl *o = state;
    return pick_from(o, s, ready, (uint32_t)(sched_now(s) / o->interval % MANY) + s->sm->id);
}

static const struct sched_ops sched_cta_groups = {
    .name = "cta_groups",
    .help = "groups of CTAs (owl.group_warps): the next group gets priority when all warps of a group are parked",
    .size = owl_size,
    .init = owl_init,
    .pick = pick_group,
    .cycle_ends = next_group,
};
static const struct sched_ops sched_cta_locality = {
    .name = "cta_locality",
    .help = "groups of CTAs: the next group gets priority after owl.interval cycles",
    .size = owl_size,
    .init = owl_init,
    .pick = pick_locality,
};
static const struct sched_ops sched_cta_banks = {
    .name = "cta_banks",
    .help = "cta_locality, but neighbouring SMs begin with different groups",
    .size = owl_size,
    .init = owl_init,
    .pick = pick_banks,
};

static bool on(const struct config *cfg) { return cfg->owl.prefetch != 0; }

const struct mechanism mechanism_owl = {
    .name = "owl",
    .help = "warp schedulers with groups of CTAs (cta_groups, cta_locality, cta_banks), and prefetches of DRAM rows",
    .paper = "Jog et al., OWL: cooperative thread array aware scheduling techniques for improving GPGPU performance, "
             "ASPLOS 2013",
    .kind = MECHANISM_MACHINE,
    .schedulers = SCHEDULERS(&sched_cta_groups, &sched_cta_locality, &sched_cta_banks),
    .at_slices = &owl_rows,
    .on = on,
    .options = PREFIXES("owl."),
    .statistics = PREFIXES("owl."),
};
