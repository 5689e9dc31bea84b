/* Large warps [Narasiman, Shebanow, Lee, Miftakhutdinov, Mutlu and Patt, MICRO 2011]. Consecutive warps of a CTA are
 * the rows of a large warp, which has one reconvergence stack. An instruction issues for one sub-warp after the other:
 * each takes at most one thread of each lane, so threads keep their lanes. large_unit.c issues the sub-warps.
 *
 * Reading: sub-warps are formed when an entry of the stack begins, and again after its inner branches. In between the
 * active threads do not change, except for exits, so the sub-warps would be the same. */
#include "isa/paths/cta_stack.h"
#include "large_unit.h"
#include "mechanisms/mechanism.h"

static struct cta_stack_plan plan_of(const struct reconv_cfg *cfg) {
    return (struct cta_stack_plan){.warps = cfg->large_warps,
                                   .fallthrough_first = cfg->first == FIRST_FALLTHROUGH,
                                   .any_lane = cfg->joint_lanes == JOINT_ANY};
}

static size_t large_cta_size(const struct reconv_cfg *cfg, uint32_t n_warps) {
    const struct cta_stack_plan plan = plan_of(cfg);
    return cta_stack_size(&plan, n_warps);
}

static void large_join(void *st, const struct reconv_cfg *cfg, struct reconv_cta *cta, uint32_t warp) {
    const struct cta_stack_plan plan = plan_of(cfg);
    cta_stack_join(st, &plan, cta, warp);
}

static enum reconv_board large_board(const struct reconv_cfg *cfg) {
    (void)cfg;
    return RECONV_BOARD_LANES; /* a row can take part in several sub-warps */
}

static struct reconv_storage large_storage(const struct reconv_cfg *cfg) {
    /* An entry has a PC, an rpc and the active threads of all rows. Its bits are divided equally among the rows. */
    return (struct reconv_storage){.entry = WARP_LANES + (2 * 32 + cfg->large_warps - 1) / cfg->large_warps};
}

static const struct reconv_ops reconv_large = {
    .name = "large",
    .help = "large warps: several warps with one stack, whose threads issue in sub-warps of one thread per lane",
    CTA_STACK_CALLS,
    .cta_size = large_cta_size,
    .join = large_join,
    .levels = (const char *const[]){[CTA_LEVEL_WAITING] = "large.waiting", NULL},
    .board = large_board,
    .storage = large_storage,
};

const struct mechanism mechanism_large = {
    .name = "large",
    .help = "large warps (docs/models.md)",
    .paper = "Narasiman, Shebanow, Lee, Miftakhutdinov, Mutlu and Patt, Improving GPU performance via large warps and "
             "two-level warp scheduling, MICRO 2011",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"large", "large warps: several warps share a stack, and issue in sub-warps", &reconv_large, false, NULL},
            {.name = NULL},
        },
    .options = PREFIXES("large."),
    .statistics = PREFIXES("large."),
    .unit = &unit_large,
};
