/* Criticality-aware warp scheduling [Lee, Arunkumar and Wu, ISCA 2015, called CAWA]: the scheduler gcaws stays with a
 * warp until it stalls, and then picks the most critical ready warp. So the slowest warp of a CTA, for which the other
 * warps wait, catches up. cawa_parts.h defines the criticality of a warp. Ties go to the oldest warp. The replacement
 * policy cacp (cacp.c) keeps the lines of critical warps in the L1. */
#include "cawa_parts.h"
#include "mechanisms/mechanism.h"
#include "timing/mem/replacement.h"
#include "timing/sm/sched/sched_ops.h"

struct cawa {
    struct cpl warp[WARP_SLOTS];
};

static size_t cawa_size(const struct sm_cfg *cfg) {
    (void)cfg;
    return sizeof(struct cawa);
}

static void warp_starts(void *state, const struct sched_view *s, uint32_t w) {
    cpl_start(&((struct cawa *)state)->warp[w], sched_now(s));
}

static void executed(void *state, const struct sched_view *s, const struct sched_executed *e) {
    cpl_issue(&((struct cawa *)state)->warp[e->warp], sched_now(s), e->pc, e->in, e->lanes, e->taken);
}

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct cawa *c = state;
    uint32_t w, best = (uint32_t)sched_pick_oldest(s, ready);
    if (s->last / 64 < s->words && warp_set_has(ready, s->last))
        return (int)s->last;
    for (struct warp_walk at = warp_walk(ready); warp_next(&at, ready, s->words, &w);) {
        const int64_t mine = cpl_criticality(&c->warp[w]), most = cpl_criticality(&c->warp[best]);
        if (mine > most || (mine == most && s->age[w] < s->age[best]))
            best = w;
    }
    return (int)best;
}

static const struct sched_ops sched_gcaws = {
    .name = "gcaws",
    .help = "greedy, then the most critical warp: the one with most instructions left and most stalls",
    .size = cawa_size,
    .pick = pick,
    .executed = executed,
    .warp_starts = warp_starts,
};

static bool on(const struct config *cfg) { return cfg->l1.replacement == REPLACEMENT_CHOICE_cacp; }

const struct mechanism mechanism_cawa = {
    .name = "cawa",
    .help = "a warp scheduler that prefers the warps that will end last (gcaws), and a cache policy for them (cacp)",
    .paper = "Lee et al., CAWA: coordinated warp scheduling and cache prioritization for critical warp acceleration of "
             "GPGPU workloads, ISCA 2015",
    .kind = MECHANISM_MACHINE,
    .unit = &cawa_unit,
    .on = on,
    .schedulers = SCHEDULERS(&sched_gcaws),
    .replacements = REPLACEMENTS(&cawa_cacp),
    .statistics = PREFIXES("cawa."),
};
