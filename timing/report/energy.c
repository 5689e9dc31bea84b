#include "energy.h"

/* The parts of the GPU. The energy of a part is the sum of count x energy per event. */
enum part { FRONTEND, REGFILE, INT, FLOAT, SFU, SHARED, L1, ICNT, L2, DRAM, AFFINE, N_PARTS };

/* energy_stats.def begins with the parts, in this order. */
_Static_assert(STAT_energy_affine_joules - STAT_energy_frontend_joules == AFFINE, "a statistic for each part");

static const struct event {
    enum part part;
    enum stat_id count;
    size_t pj; /* offset of the energy of one event in struct energy_cfg */
    /* if the event is a sector but the energy is that of a whole line: offset in struct config of the option with the
     * bytes of a line; else 0 */
    size_t line;
} events[] = {
#define STAT_ENERGY(id, part, field) {part, STAT_ID(id), offsetof(struct energy_cfg, field), 0},
#define STAT_ENERGY_SECTOR(id, part, field)                                                                            \
    {part, STAT_ID(id), offsetof(struct energy_cfg, field), offsetof(struct config, field.line)},
#include "stat_none.def"
/* clang-format off */
/* The energies are added in the order of the files below, because the order determines how the sums are rounded. Do not
 * change this order, because results would change, too. The registry (timing/report/stat.c) has another order. */
#include "timing/sm/fetch/fetch_stats.def"
#include "timing/sm/work_stats.def"
#include "timing/sm/sm_stats.def"
#define DECLARED_SM_STATISTICS
#include "mechanisms/declared.def"
#include "timing/mem/lsu_stats.def"
#include "timing/mem/l1_stats.def"
#include "timing/mem/l1_prefetch_stats.def"
#include "timing/mem/cache_stats.def"
#include "timing/mem/gpc_stats.def"
#include "timing/mem/tex_stats.def"
#include "timing/mem/icnt_stats.def"
#include "timing/mem/icnt_reply_stats.def"
#include "timing/mem/l2_stats.def"
#include "timing/mem/dram_stats.def"
#include "timing/sm/op_stats.def"
#define DECLARED_STATISTICS
#include "mechanisms/declared.def"
#include "timing/sm/op_other_stats.def"
#include "timing/sm/joint_stats.def"
#include "timing/sm/remote_stats.def"
#include "timing/sm/tensor_stats.def"
#include "timing/sm/tma_stats.def"
#include "timing/sm/modern_stats.def"
#include "timing/sm/machine_stats.def"
/* clang-format on */
#define COUNT_LIST
#include "timing/report/count_end.def"
};

/* Number of all events. */
enum {
#define STAT_ENERGY(...)        +1
#define STAT_ENERGY_SECTOR(...) +1
#include "stat_none.def"
    N_EVENTS = 0
#include "stats.def"
};
_Static_assert(sizeof events / sizeof events[0] == N_EVENTS, "a file with terms of energy is not in the list");

void energy_stats(const struct config *cfg, struct stats *s) {
    const struct energy_cfg *e = &cfg->energy;
    double joules[N_PARTS] = {0}, dynamic = 0;
    for (const struct event *at = events; at < events + N_EVENTS; at++) {
        uint32_t line = at->line ? *(const uint32_t *)((const char *)cfg + at->line) : 32;
        joules[at->part] += stats_value(s, at->count) * *(const double *)((const char *)e + at->pj) * 1e-12 * 32 / line;
    }
    joules[REGFILE] *= cfg->sm.warp_size < 32 ? cfg->sm.warp_size / 32. : 1; /* a row has at most 32 lanes */
    if (cfg->pepsc.registers)
        joules[REGFILE] *= cfg->pepsc.registers / 16.;
    for (int i = 0; i < N_PARTS; i++) {
        stats_put(s, STAT_energy_frontend_joules + (unsigned)i, joules[i]);
        dynamic += joules[i];
    }
    double seconds = stats_value(s, STAT_sm_cycles) / (cfg->gpu.core_mhz * 1e6);
    double slots = stats_value(s, STAT_sm_slots);
    double active = slots > 0 ? 1 - stats_value(s, STAT_sm_no_warp) / slots : 0; /* share of SMs that have warps */
    double at_rest = ((e->static_sm + e->static_active * active) * cfg->gpu.sms + e->static_gpu) * seconds;
    stats_put(s, STAT_energy_dynamic_joules, dynamic);
    stats_put(s, STAT_energy_static_joules, at_rest);
    stats_put(s, STAT_energy_total_joules, dynamic + at_rest);
}
