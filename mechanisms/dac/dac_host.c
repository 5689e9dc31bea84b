/* The host side of decoupled affine computation: collects the counts of the functional model and of the pass. */
#include "dac_host.h"
#include "isa/interp/interp.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include <stdio.h>

void dac_interp(const struct config *cfg, struct interp_cfg *out) {
    out->affine = true;
    out->affine_batch = cfg->dac.batch;
    out->affine_corners = cfg->dac.corners;
}

/* Adds the counts of affine warps. All are zero if the kernel was not decoupled. */
void dac_interpreted(const struct interp_stats *all, struct stats *s) {
    const struct interp_affine_stats *n = &all->affine;
    stats_put(s, STAT_dac_instructions, (double)n->instructions);
    stats_put(s, STAT_dac_slots, (double)n->slots);
    stats_put(s, STAT_dac_scalar, (double)n->by_class[STEP_SCALAR]);
    stats_put(s, STAT_dac_tuple, (double)n->by_class[STEP_AFFINE]);
    stats_put(s, STAT_dac_each, (double)n->by_class[STEP_EACH]);
    stats_put(s, STAT_dac_vector, (double)n->by_class[STEP_VECTOR]);
    stats_put(s, STAT_dac_fallbacks, (double)n->fallbacks);
    stats_put(s, STAT_dac_warp_divergences, (double)n->warp_divergences);
    stats_put(s, STAT_dac_thread_divergences, (double)n->thread_divergences);
    stats_put(s, STAT_dac_loads, (double)n->all_loads);
    stats_put(s, STAT_dac_decoupled_loads, (double)n->loads);
    stats_put(s, STAT_dac_decoupled_addresses, (double)n->addresses);
    stats_put(s, STAT_dac_decoupled_predicates, (double)n->predicates);
    stats_put(s, STAT_dac_predicates_cta, (double)n->compared[COMPARE_CTA]);
    stats_put(s, STAT_dac_predicates_ends, (double)n->compared[COMPARE_ENDS]);
    stats_put(s, STAT_dac_predicates_lanes, (double)n->compared[COMPARE_LANES]);
}

/* Adds the counts of the pass for the kernel of this launch. */
void dac_count(const struct program *p, const struct config *cfg, struct stats *s) {
    (void)cfg;
    stats_put(s, STAT_dac_kernels, 1);
    stats_put(s, STAT_dac_decoupled_kernels, program_affine_stream(p) != 0);
    stats_put(s, STAT_dac_cut_kernels, p->coverage.tuples_all > p->coverage.tuples);
    stats_put(s, STAT_dac_static_instructions, p->coverage.instructions);
    stats_put(s, STAT_dac_static_affine, p->coverage.potential);
}

bool dac_remark(const struct program *p, const struct config *cfg, char *out, size_t size) {
    const struct program_coverage *c = &p->coverage;
    if (c->tuples_all <= cfg->dac.tuples)
        return false;
    snprintf(out, size,
             "kernel '%s': its affine stream needs %u tuple registers, and the affine warp has %u (dac.tuples), so %s; "
             "raise dac.tuples to %u to decouple all that can be",
             p->name, c->tuples_all, cfg->dac.tuples, c->tuples ? "only a part of it is decoupled" : "it is left whole",
             c->tuples_all);
    return true;
}
