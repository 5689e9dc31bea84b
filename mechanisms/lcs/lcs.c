/* Lazy and block CTA scheduling [Lee et al., HPCA 2014], three CTA policies and a warp scheduler:
 *
 *   lcs   lazy CTA scheduling: an SM first holds as many CTAs as fit. When its first CTA ends, the SM knows how many
 *         instructions each CTA has issued. Its limit becomes the sum of these counts divided by the largest count,
 *         rounded up. Under a greedy warp scheduler, CTAs beyond this limit hardly got an issue slot, and only compete
 *         for the cache.
 *   bcs   block CTA scheduling: an SM gets two consecutive CTAs (a block) at a time, which often share data
 *   lbcs  both: the limit of lcs is rounded up to whole blocks
 *   baws  block-aware warp scheduling: picks from the block that issued last, else from the oldest block. It picks
 *         round-robin within a block, so that the CTAs of a block advance together
 *
 * A unit counts the instructions of each CTA until the first CTA of the SM ends. */
#include "mechanisms/mechanism.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/sched/sched_ops.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2 }; /* CTAs of a block */

struct lcs_counts {
#define DECLARED_SM_STATISTICS
#define COUNT_FIELDS
#include "lcs.def"
};

/* The unit of an SM. */
struct lcs {
    uint64_t issued[SM_CTA_SLOTS]; /* by slot: warp instructions of the slot's first CTA */
    uint32_t limit;                /* most CTAs of the SM; 0: not known yet */
    struct lcs_counts n;
};

static const struct sm_unit_ops lcs_unit;

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm, (void)ctx;
    return calloc(1, sizeof(struct lcs));
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct lcs *t = u;
    (void)now;
    memset(t->issued, 0, sizeof t->issued);
    t->limit = 0;
    sm_unit_listen(sm, &lcs_unit, HOOK_ISSUED, true);
    sm_unit_listen(sm, &lcs_unit, HOOK_CTA_END, true);
    return true;
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct lcs *t = u;
    uint32_t slot = sm_get_cta_slot(sm, i->warp);
    /* an ordered instruction, such as an atomic, is reported a second time as ISSUE_PERFORMED; this report is not
     * counted */
    if (slot < SM_CTA_SLOTS && i->phase != ISSUE_PERFORMED)
        t->issued[slot]++;
}

static void cta_end(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct lcs *t = u;
    uint64_t sum = 0, most = 1;
    (void)cta, (void)now;
    for (uint32_t i = 0; i < SM_CTA_SLOTS; i++) {
        sum += t->issued[i];
        most = t->issued[i] > most ? t->issued[i] : most;
    }
    t->limit = (uint32_t)((sum + most - 1) / most);
    t->n.limits++;
    t->n.limit_sum += t->limit;
    sm_unit_listen(sm, &lcs_unit, HOOK_ISSUED, false);
    sm_unit_listen(sm, &lcs_unit, HOOK_CTA_END, false);
}

static const struct stat_row rows[] = {
#define DECLARED_SM_STATISTICS
#define COUNT_ROWS struct lcs_counts
#include "lcs.def"
};

static void unit_stats(void *u, struct stats *s) {
    struct lcs *t = u;
    STATS_COUNT(s, rows, &t->n);
    t->n = (struct lcs_counts){0};
}

static const struct sm_unit_ops lcs_unit = {
    .name = "lcs",
    .make = make,
    .free = free,
    .launch = launch,
    .issued = issued,
    .cta_end = cta_end,
    .stats = unit_stats,
};

static bool on(const struct config *cfg) {
    return cfg->gpu.cta_policy == CTA_CHOICE_lcs || cfg->gpu.cta_policy == CTA_CHOICE_lbcs;
}

/* Returns the most CTAs that the SM may hold now. */
static uint32_t limit_of(const struct cta_view *v, uint32_t sm) {
    const struct lcs *t = sm_unit_state(v->sm[sm], &lcs_unit);
    return t && t->limit && t->limit < v->occupancy ? t->limit : v->occupancy;
}

static uint64_t lcs_pick(void *state, const struct cta_view *v, uint32_t sm) {
    (void)state;
    return v->held[sm] < limit_of(v, sm) ? v->begun : CTA_NONE;
}

/* State of bcs and lbcs. */
struct blocks {
    uint64_t next;     /* first CTA of the next block */
    uint64_t second[]; /* by SM: 1 + the second CTA of its block, until the SM gets this CTA; 0: none */
};

static size_t blocks_size(uint32_t sms) { return sizeof(struct blocks) + sms * sizeof(uint64_t); }

/* Returns the next CTA for an SM that may hold `limit` CTAs. An SM with room for one CTA waits until there is room for
 * two, except if a block never fits. */
static uint64_t pick_of_block(struct blocks *b, const struct cta_view *v, uint32_t sm, uint32_t limit) {
    uint64_t cta = b->second[sm];
    if (cta) {
        b->second[sm] = 0;
        return cta - 1;
    }
    bool whole = v->occupancy >= BLOCK;
    if (v->held[sm] + (whole ? BLOCK : 1) > limit || b->next == v->total)
        return CTA_NONE;
    cta = b->next++;
    if (whole && b->next < v->total)
        b->second[sm] = ++b->next;
    return cta;
}

static uint64_t bcs_pick(void *state, const struct cta_view *v, uint32_t sm) {
    return pick_of_block(state, v, sm, v->occupancy);
}

static uint64_t lbcs_pick(void *state, const struct cta_view *v, uint32_t sm) {
    uint32_t limit = (limit_of(v, sm) + BLOCK - 1) / BLOCK * BLOCK;
    return pick_of_block(state, v, sm, limit < v->occupancy ? limit : v->occupancy);
}

static const struct cta_ops cta_policy_lcs = {
    .name = "lcs",
    .help = "lazy: an SM holds fewer CTAs after its first CTA, as many as had issue slots under a greedy scheduler",
    .pick = lcs_pick,
};
static const struct cta_ops cta_policy_bcs = {
    .name = "bcs",
    .help = "blocks: an SM gets two consecutive CTAs at a time",
    .size = blocks_size,
    .pick = bcs_pick,
};
static const struct cta_ops cta_policy_lbcs = {
    .name = "lbcs",
    .help = "lazy and blocks: lcs with blocks of two consecutive CTAs",
    .size = blocks_size,
    .pick = lbcs_pick,
};

/* Returns the number of the block of warp `w`. */
static uint64_t block_of(const struct sched_view *s, uint32_t w) { return s->sm->warp[w].cta / BLOCK; }

static int baws_pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    uint32_t w, oldest = (uint32_t)sched_pick_oldest(s, ready);
    uint64_t block = block_of(s, oldest);
    struct warp_set of_block = {.word = {0}};
    (void)state;
    for (struct warp_walk at = warp_walk(ready); warp_next(&at, ready, s->words, &w);)
        if (warp_set_has(s->mine, s->last) && block_of(s, w) == block_of(s, s->last))
            block = block_of(s, w);
    for (struct warp_walk at = warp_walk(ready); warp_next(&at, ready, s->words, &w);)
        if (block_of(s, w) == block)
            warp_set_add(&of_block, w);
    return (int)warp_set_after(&of_block, s->last, s->words);
}

static const struct sched_ops sched_baws = {
    .name = "baws",
    .help = "block-aware: the block of two CTAs that issued last, then the oldest; round-robin in a block",
    .pick = baws_pick,
};

const struct mechanism mechanism_lcs = {
    .name = "lcs",
    .help = "CTA policies: lazy (fewer CTAs on an SM), blocks of two CTAs, both, and a scheduler that knows the blocks",
    .paper = "Lee et al., Improving GPGPU resource utilization through alternative thread block scheduling, HPCA 2014",
    .kind = MECHANISM_MACHINE,
    .unit = &lcs_unit,
    .on = on,
    .schedulers = SCHEDULERS(&sched_baws),
    .cta_policies = CTA_POLICIES(&cta_policy_lcs, &cta_policy_bcs, &cta_policy_lbcs),
    .statistics = PREFIXES("lcs."),
};
