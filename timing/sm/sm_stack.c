/* A reconvergence stack of which only the top is in hardware, managed by software (dual-path paper, section 7.3, which
 * leaves the details open). A push onto a full stack first drives the lowest entry that is there out to memory, and a
 * pop of the last one brings the entry below back. Both are done by instructions that the warp executes, one for each
 * word of an entry (three of SPE, five of DPE), one a cycle; a fill also waits for its loads, which find their line in
 * the L1. The warp issues nothing else meanwhile. Words, not requests, go to memory: the L1 that they hit is not
 * disturbed. */
#include "sm_parts.h"

/* A pop shows the entry below, and may be followed by another one at once: an entry in memory must be brought back to
 * see where it stands. Nobody asks for what is below when all lanes have left. */
static uint32_t pop(struct sm_warp *sw, uint32_t entries) {
    uint32_t kept = sw->stack_resident > entries ? sw->stack_resident - entries : 0;
    uint32_t beyond = entries + 1 > sw->stack_resident ? entries + 1 - sw->stack_resident : 0;
    sw->stack_resident = kept ? kept : 1;
    return beyond;
}

static uint32_t push(const struct sm *sm, struct sm_warp *sw, uint32_t entries) {
    uint32_t all = sw->stack_resident + entries;
    sw->stack_resident = all < sm->wants.stack_entries ? all : sm->wants.stack_entries;
    return all - sw->stack_resident;
}

void sm_stack_moved(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    uint32_t was = sw->stack_depth, depth = (uint32_t)sm->ops->depth(sw->control.model), spills = 0, fills = 0;
    if (depth > was)
        spills = push(sm, sw, depth - was);
    else if (depth < was && depth)
        fills = pop(sw, was - depth);
    sw->stack_depth = depth;
    if (!spills && !fills)
        return;
    uint32_t words = (sm->ops->storage(sm->options).entry + 31) / 32;
    uint64_t done = now + (uint64_t)(spills + fills) * words + (uint64_t)fills * sm->cfg->l1.latency;
    sm->n.stack_spills += spills;
    sm->n.stack_fills += fills;
    sm->n.stack_bytes += 4ull * words * (spills + fills);
    for (uint32_t p = 0; p < sw->n_paths; p++)
        if (sw->path[p].switched < done)
            sw->path[p].switched = done;
    wheel_add(&sm->wheel, done, event_make(EVENT_SWITCHED, w));
}
