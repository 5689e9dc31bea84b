/* Adds the counts of an SM to the statistics, and clears them. */
#include "counting.h"
#include "isa/rounding.h"
#include "issue_slots.h"
#include "stages.h"
#include <string.h>

/* clang-format off */
static const struct stat_row sm_rows[] = {
#define COUNT_ROWS struct sm_counts
#include "sm_stats.def"
#define COUNT_ROWS struct sm_counts
#include "work_stats.def"
#define COUNT_ROWS struct sm_counts
#include "op_stats.def"
#define COUNT_ROWS struct sm_counts
#include "op_other_stats.def"
#define COUNT_ROWS struct sm_counts
#include "machine_stats.def"
#define COUNT_ROWS struct sm_counts
#define COUNT_GROUPS
#define DECLARED_SM_COUNTS
#include "timing/report/count_begin.def"
#include "mechanisms/declared.def"
#include "timing/report/count_end.def"
};
static const struct stat_row fetch_rows[] = {
#define COUNT_ROWS struct fetch_counts
#include "timing/sm/fetch/fetch_stats.def"
};
static const struct stat_row joint_rows[] = {
#define COUNT_ROWS struct joint_counts
#include "joint_stats.def"
};
static const struct stat_row remote_rows[] = {
#define COUNT_ROWS struct remote_counts
#include "remote_stats.def"
};
static const struct stat_row modern_rows[] = {
#define COUNT_ROWS struct modern_counts
#include "modern_stats.def"
};
static const struct stat_row regfile_rows[] = {
#define COUNT_ROWS struct regfile_counts
#include "timing/sm/regfile/regfile_stats.def"
};
/* clang-format on */

/* Adds the storage that hardware needs for a warp, in bits: for the largest stack or table so far, and for the
 * scoreboard. */
static void storage_stats(const struct sm *sm, struct stats *s) {
    struct reconv_storage bits = sm->model.ops->storage(sm->model.options);
    stats_put(s, STAT_sm_entry_bits, bits.entry);
    uint64_t deepest = sm->n.max_depth;
    if (sm->model.wants.stack_entries && deepest > sm->model.wants.stack_entries)
        deepest = sm->model.wants.stack_entries;
    stats_put(s, STAT_sm_path_bits, bits.fixed + (double)bits.entry * (double)deepest);
    if (sm->program)
        stats_put(s, STAT_sm_scoreboard_bits, sm->model.sb->bits(sm->program->program->n_regs, sm->cfg->sm.warp_size));
}

/* Adds what the reconvergence model counted, and the sums of its levels, and clears both. */
static void model_stats(struct sm *sm, struct stats *s) {
    const char *const *name = sm->model.ops->counters, *const *level = sm->model.ops->levels;
    for (int i = 0; name && name[i]; i++)
        stats_add(s, name[i], (double)sm->model.counts[i]);
    memset(sm->model.counts, 0, sizeof sm->model.counts);
    for (int i = 0; level && level[i]; i++) {
        reconv_level_sum(&sm->model.level[i], sm->clock.accounted);
        if (stat_index(level[i]) >= 0)
            stats_add(s, level[i], (double)sm->model.level[i].sum);
        sm->model.level[i].sum = 0;
    }
}

/* Adds the rounding errors of the CTAs since the last call. */
static void rounding_stats(struct sm *sm, struct stats *s) {
    struct rounding_error all = {0};
    for (uint32_t i = 0; i < sm->ctas.n_slots; i++)
        if (sm->ctas.slot[i].cta) {
            rounding_error_add(&all, &sm->ctas.slot[i].cta->rounding_error);
            sm->ctas.slot[i].cta->rounding_error = (struct rounding_error){0};
        }
    stats_add_rounding_error(s, &all);
}

void sm_stats(struct sm *sm, uint64_t to, struct stats *s) {
    sm_account(sm, to);
    sm_take_tally(sm);
    STATS_COUNT(s, sm_rows, &sm->n);
    stats_put(s, STAT_sm_lane_slots,
              (double)(sm->n.warp_instructions * (sm->joint.slices ? sm->joint.slices : 1) * sm->cfg->sm.warp_size +
                       sm->joint.n.jumped));
    for (int i = 0; i < N_SLOTS; i++)
        stats_put(s, STAT_sm_slots, (double)sm->n.slot[i]);
    rounding_stats(sm, s);
    storage_stats(sm, s);
    STATS_COUNT(s, joint_rows, &sm->joint.n);
    sm_tensor_stats(sm, s);
    model_stats(sm, s);
    STATS_COUNT(s, fetch_rows, &sm->fetch.n);
    for (uint32_t i = 0; i < sm->operands.n_parts; i++)
        STATS_COUNT(s, regfile_rows, &sm->operands.part[i].regfile.n);
    if (sm->remote) {
        STATS_COUNT(s, remote_rows, &sm->remote->n);
        memset(&sm->remote->n, 0, sizeof sm->remote->n);
    }
    if (sm->modern) {
        STATS_COUNT(s, modern_rows, &sm->modern->n);
        memset(&sm->modern->n, 0, sizeof sm->modern->n);
    }
    lsu_account(sm->lsu, sm->clock.accounted);
    lsu_stats(sm->lsu, s);
    sm_units_stats(sm, s);
    memset(&sm->n, 0, sizeof sm->n);
    memset(&sm->joint.n, 0, sizeof sm->joint.n);
    memset(&sm->fetch.n, 0, sizeof sm->fetch.n);
    for (uint32_t i = 0; i < sm->operands.n_parts; i++)
        memset(&sm->operands.part[i].regfile.n, 0, sizeof sm->operands.part[i].regfile.n);
}

void sm_no_stats(const struct config *cfg, uint32_t sms, uint64_t cycles, struct stats *s) {
    const double slots = (double)cycles * cfg->sm.schedulers * sms;
    stats_put(s, STAT_sm_slots, slots);
    stats_put(s, STAT_sm_no_warp, slots);
}
