/* The list of built-in CTA policies, and the policy in_order: the next CTA in the order of the grid goes to any SM that
 * has room. */
#include "cta_ops.h"

const struct cta_ops *const cta_built_in[] = {
#define CTA_POLICY(name) &cta_policy_##name,
#include "timing/config/policies.def"
    NULL,
};

static uint64_t pick_in_order(void *state, const struct cta_view *v, uint32_t sm) {
    (void)state, (void)sm;
    return v->begun;
}

const struct cta_ops cta_policy_in_order = {
    .name = "in_order",
    .help = "SMs take turns, and each gets the next CTA of the grid while it has room",
    .pick = pick_in_order,
};
