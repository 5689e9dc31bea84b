/* Thread block compaction [Fung and Aamodt, HPCA 2011]. The warps of a CTA share one reconvergence stack. At a
 * divergent branch all warps of the top entry wait for each other; then the threads of each side are compacted into as
 * few warps as possible, in which each thread keeps its lane. When all threads have arrived at the reconvergence point,
 * they return to their own warps.
 *
 * Readings: warps wait at every branch that has a guard or is indirect, whether or not it diverges. Inside a divergent
 * region, the threads of an entry are compacted again when inner branches have reconverged. */
#include "reconv_tbc.h"
#include "capri.h"
#include "isa/paths/cta_stack.h"
#include "mechanisms/mechanism.h"
#include "tbc_unit.h"

static struct cta_stack_plan plan_of(const struct reconv_cfg *cfg) {
    const bool predicts = cfg && cfg->tbc_predict;
    return (struct cta_stack_plan){.fallthrough_first = cfg && cfg->first == FIRST_FALLTHROUGH,
                                   .home = true,
                                   .any_lane = cfg && cfg->joint_lanes == JOINT_ANY,
                                   .waits = predicts ? capri_arrive : NULL,
                                   .predictor = predicts ? sizeof(struct capri) : 0};
}

static size_t tbc_cta_size(const struct reconv_cfg *cfg, uint32_t n_warps) {
    const struct cta_stack_plan plan = plan_of(cfg);
    return cta_stack_size(&plan, n_warps);
}

static void tbc_join(void *st, const struct reconv_cfg *cfg, struct reconv_cta *cta, uint32_t warp) {
    const struct cta_stack_plan plan = plan_of(cfg);
    cta_stack_join(st, &plan, cta, warp);
}

static enum reconv_board tbc_board(const struct reconv_cfg *cfg) {
    (void)cfg;
    return RECONV_BOARD_LANES; /* the lanes of one warp may belong to several compacted warps */
}

static struct reconv_storage tbc_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    /* An entry of the stack holds a PC, an rpc and a count of warps for the CTA, and the active threads of each warp.
     * The result is for a CTA of one warp, where the whole entry counts for this warp. */
    return (struct reconv_storage){.entry = 3 * 32 + 8};
}

const struct reconv_ops reconv_tbc = {
    .name = "tbc",
    .help = "thread block compaction: one stack for the warps of a CTA, which wait for each other at branches",
    CTA_STACK_CALLS,
    .cta_size = tbc_cta_size,
    .join = tbc_join,
    .levels = (const char *const[]){[CTA_LEVEL_WAITING] = "tbc.waiting", NULL},
    .board = tbc_board,
    .storage = tbc_storage,
};

const struct mechanism mechanism_tbc = {
    .name = "tbc",
    .help = "thread block compaction",
    .paper =
        "Fung and Aamodt, Thread block compaction for efficient SIMT control flow, HPCA 2011; Rhu and Erez, CAPRI: "
        "prediction of compaction-adequacy for handling control-divergence in GPGPU architectures, ISCA 2012",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"tbc", "thread block compaction: a stack for the whole CTA, and compacted warps", &reconv_tbc, false,
             NULL},
            {"capri", "tbc in which warps wait only where compaction is predicted to save warps", &reconv_tbc, false,
             "tbc.predict=on"},
            {.name = NULL},
        },
    .options = PREFIXES("tbc."),
    .statistics = PREFIXES("tbc."),
    .unit = &unit_tbc,
};
