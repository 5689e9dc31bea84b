/* Criticality-aware warp scheduling [Lee, Arunkumar and Wu, ISCA 2015, called CAWA]: the scheduler gcaws stays with a
 * warp until it stalls, and then picks the most critical ready warp, so that the slowest warp of a CTA, for which the
 * others wait, catches up. The criticality of a warp (the paper's CPL) grows with its remaining work and its past
 * stalls:
 *
 *   left x CPI + stalls
 *
 *   left     estimate of the instructions left: each issued instruction subtracts one, and each branch adds the lengths
 *            of the paths that lanes take. If lanes fall through a forward branch, the length is the distance from the
 *            branch to its target. If lanes take it, it is the distance from the target to the reconvergence point. If
 *            lanes take a backward branch, it is the length of the loop's body
 *   CPI      cycles from the start of the warp to its last issue, per issued instruction
 *   stalls   cycles between one issue of the warp and the next one
 *
 * Ties go to the oldest warp. The paper's cache policy (CACP) is not modelled. */
#include "isa/program.h"
#include "mechanisms/mechanism.h"
#include "timing/sm/sched_ops.h"

struct cawa_warp {
    uint64_t start, last; /* cycles of its start and of its last issue */
    uint64_t issued;
    int64_t left;    /* instructions */
    uint64_t stalls; /* cycles */
};

struct cawa {
    struct cawa_warp warp[WARP_SLOTS];
};

static size_t cawa_size(const struct sm_cfg *cfg) {
    (void)cfg;
    return sizeof(struct cawa);
}

static void warp_starts(void *state, const struct sched_view *s, uint32_t w) {
    uint64_t now = sched_now(s);
    ((struct cawa *)state)->warp[w] = (struct cawa_warp){.start = now, .last = now};
}

/* Returns the number of instructions on the paths that the warp takes after a branch. */
static int64_t path_length(const struct sched_executed *e) {
    const struct inst *in = e->in;
    int64_t after = e->pc + 1, target = in->target, length = 0;
    bool forward = target > e->pc;
    if (e->lanes & ~e->taken && forward)
        length += target - after;
    if (e->taken && forward && in->rpc != PC_EXIT && in->rpc > target)
        length += in->rpc - target;
    if (e->taken && !forward)
        length += after - target;
    return length;
}

static void executed(void *state, const struct sched_view *s, const struct sched_executed *e) {
    struct cawa_warp *w = &((struct cawa *)state)->warp[e->warp];
    uint64_t now = sched_now(s);
    w->stalls += now - w->last - (w->issued != 0);
    w->last = now;
    w->issued++;
    w->left--;
    if (e->in->kind == K_BRANCH)
        w->left += path_length(e);
}

static int64_t criticality(const struct cawa_warp *w) {
    int64_t cycles = (int64_t)(w->last - w->start);
    return (w->issued ? w->left * cycles / (int64_t)w->issued : 0) + (int64_t)w->stalls;
}

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct cawa *c = state;
    uint32_t w, best = (uint32_t)sched_pick_oldest(s, ready);
    if (s->last / 64 < s->words && warp_set_has(ready, s->last))
        return (int)s->last;
    for (struct warp_walk at = warp_walk(ready); warp_next(&at, ready, s->words, &w);)
        if (criticality(&c->warp[w]) > criticality(&c->warp[best]) ||
            (criticality(&c->warp[w]) == criticality(&c->warp[best]) && s->age[w] < s->age[best]))
            best = w;
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

const struct mechanism mechanism_cawa = {
    .name = "cawa",
    .help = "a warp scheduler that prefers the warps that will end last: gcaws",
    .paper = "Lee et al., CAWA: coordinated warp scheduling and cache prioritization for critical warp acceleration of "
             "GPGPU workloads, ISCA 2015",
    .kind = MECHANISM_MACHINE,
    .schedulers = SCHEDULERS(&sched_gcaws),
};
