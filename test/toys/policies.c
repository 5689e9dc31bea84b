/* The descriptor of a mechanism that only adds policies. Options select these policies, and every model can use
 * them. */
#include "policies.h"
#include "mechanisms/mechanism.h"

const struct mechanism mechanism_policies = {
    .name = "policies",
    .help = "a warp scheduler, a replacement policy and a CTA policy",
    .kind = MECHANISM_MACHINE,
    .schedulers = SCHEDULERS(&sched_highest),
    .replacements = REPLACEMENTS(&replacement_fifo),
    .cta_policies = CTA_POLICIES(&cta_policy_chunks),
};
