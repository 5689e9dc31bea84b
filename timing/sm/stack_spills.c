/* A reconvergence stack with only the top in hardware, managed by software (dual-path paper, section 7.3, which
 * leaves the details open). A push onto a full stack first stores the lowest hardware entry to memory. A pop of the
 * last hardware entry loads the entry below. The warp executes one instruction per cycle for each word of an entry
 * (three words for SPE, five for DPE). A load also waits for the latency of an L1 hit. During this time the warp
 * issues nothing else. The words are counted as memory traffic, but no requests are sent, so the contents of the L1
 * do not change. */
#include "stages.h"

/* Returns the number of entries to load after popping `entries` entries. A pop exposes the entry below. If this
 * entry is in memory, it must be loaded, even if it is popped at once, because its PC must be read. If all lanes
 * have exited, no entry is loaded. */
static uint32_t pop(struct sm_warp *sw, uint32_t entries) {
    uint32_t kept = sw->stack_resident > entries ? sw->stack_resident - entries : 0;
    uint32_t beyond = entries + 1 > sw->stack_resident ? entries + 1 - sw->stack_resident : 0;
    sw->stack_resident = kept ? kept : 1;
    return beyond;
}

/* Returns the number of entries to store after pushing `entries` entries. */
static uint32_t push(const struct sm *sm, struct sm_warp *sw, uint32_t entries) {
    uint32_t all = sw->stack_resident + entries;
    sw->stack_resident = all < sm->model.wants.stack_entries ? all : sm->model.wants.stack_entries;
    return all - sw->stack_resident;
}

void sm_stack_moved(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint32_t was = sw->stack_depth, depth = (uint32_t)sm->model.ops->depth(sw->control.model), spills = 0, fills = 0;
    if (depth > was)
        spills = push(sm, sw, depth - was);
    else if (depth < was && depth)
        fills = pop(sw, was - depth);
    sw->stack_depth = depth;
    if (!spills && !fills)
        return;
    uint32_t words = (sm->model.ops->storage(sm->model.options).entry + 31) / 32;
    uint64_t done = now + (uint64_t)(spills + fills) * words + (uint64_t)fills * sm->cfg->l1.latency;
    sm->n.stack_spills += spills;
    sm->n.stack_fills += fills;
    sm->n.stack_bytes += 4ull * words * (spills + fills);
    for (uint32_t p = 0; p < sw->n_paths; p++)
        if (sw->path[p].switched < done) {
            sw->path[p].switched = done;
            sw->path[p].sleeps = false;
        }
    wheel_add(&sm->wheel, done, event_make(EVENT_SWITCHED, w));
}
