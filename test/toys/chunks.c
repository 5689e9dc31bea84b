/* A CTA policy: each SM gets a contiguous part of the grid. The parts differ by at most one CTA. */
#include "policies.h"
#include "timing/sm/cta_ops.h"

static size_t size(uint32_t sms) { return sms * sizeof(uint64_t); }

/* Returns the first CTA of the part of the SM. */
static uint64_t first(const struct cta_view *v, uint32_t sm) { return v->total * sm / v->sms; }

static void begin(void *state, const struct cta_view *v) {
    uint64_t *next = state; /* by SM: the CTA that it gets next */
    for (uint32_t i = 0; i < v->sms; i++)
        next[i] = first(v, i);
}

static uint64_t pick(void *state, const struct cta_view *v, uint32_t sm) {
    uint64_t *next = state;
    return next[sm] < first(v, sm + 1) ? next[sm]++ : CTA_NONE;
}

const struct cta_ops cta_policy_chunks = {
    .name = "chunks",
    .help = "each SM gets a contiguous part of the grid",
    .size = size,
    .begin = begin,
    .pick = pick,
};
