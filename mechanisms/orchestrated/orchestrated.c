/* The prefetch-aware warp scheduler [Jog et al., Orchestrated scheduling and prefetching for GPGPUs, ISCA 2013]. Groups
 * of warps have priority in turn, as under two_level, but consecutive warps are in different groups. Consecutive warps
 * often load consecutive lines. So while the warps of one group run, a simple prefetcher, such as sld or nextline,
 * fetches the lines of the next group, whose loads come later.
 *
 * Our reading of the paper: Warp w is in group w % groups. The number of groups is the smallest that meets two
 * conditions: a group has at most sched.active_warps warps of each scheduler, and the number has no common factor with
 * the number of schedulers. The second condition gives each scheduler warps of each group. A group keeps priority
 * until all its warps are parked, that is, wait for loads or barriers. Ready warps of other groups fill idle issue
 * slots. */
#include "mechanisms/mechanism.h"
#include "timing/sm/sched/sched_ops.h"

struct aware {
    uint32_t warps, groups; /* warp slots of CTAs */
    uint32_t first;         /* group with priority */
};

static size_t aware_size(const struct sm_cfg *cfg) {
    (void)cfg;
    return sizeof(struct aware);
}

static bool have_common_factor(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a != 1;
}

static void init(void *state, const struct sm_cfg *cfg) {
    struct aware *a = state;
    const uint32_t each = cfg->active_warps * cfg->schedulers;
    a->warps = sm_warp_slots(cfg);
    a->groups = (a->warps + each - 1) / each;
    while (have_common_factor(a->groups, cfg->schedulers))
        a->groups++;
}

/* Returns the rank of warp `w`: 1 for the group with priority, 2 for the next group ... Contexts of units are in no
 * group. Their rank is 0, before all groups. */
static uint32_t rank(const struct aware *a, uint32_t w) {
    return w >= a->warps ? 0 : 1 + (w % a->groups + a->groups - a->first) % a->groups;
}

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct aware *a = state;
    uint32_t w, lowest = UINT32_MAX;
    struct warp_set best = {.word = {0}};
    for (struct warp_walk at = warp_walk(ready); warp_next(&at, ready, s->words, &w);) {
        const uint32_t r = rank(a, w);
        if (r < lowest)
            best = (struct warp_set){.word = {0}};
        lowest = r < lowest ? r : lowest;
        if (r == lowest)
            warp_set_add(&best, w);
    }
    return (int)warp_set_after(&best, s->last, s->words);
}

/* Gives priority to the first group that has a warp that is not parked. */
static void cycle_ends(void *state, const struct sched_view *s, const struct warp_set *live,
                       const struct warp_set *parked) {
    struct aware *a = state;
    uint32_t w, lowest = UINT32_MAX;
    struct warp_set mine = warp_sets_and(s->mine, live), may = warp_sets_without(&mine, parked);
    for (struct warp_walk at = warp_walk(&may); warp_next(&at, &may, s->words, &w);) {
        const uint32_t r = rank(a, w);
        lowest = r && r < lowest ? r : lowest;
    }
    if (lowest != UINT32_MAX)
        a->first = (a->first + lowest - 1) % a->groups;
}

static const struct sched_ops sched_prefetch_aware = {
    .name = "prefetch_aware",
    .help = "groups of warps (sched.active_warps) take turns; consecutive warps are in different groups",
    .size = aware_size,
    .init = init,
    .pick = pick,
    .cycle_ends = cycle_ends,
};

const struct mechanism mechanism_orchestrated = {
    .name = "orchestrated",
    .help = "a warp scheduler that gives prefetches time: prefetch_aware",
    .paper = "Jog et al., Orchestrated scheduling and prefetching for GPGPUs, ISCA 2013",
    .kind = MECHANISM_MACHINE,
    .schedulers = SCHEDULERS(&sched_prefetch_aware),
};
