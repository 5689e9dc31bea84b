/* Launches on an SM: the number of CTAs that fit, and the begin and end of a launch. */
#include "counting.h"
#include "isa/arith.h"
#include <assert.h>
#include <stdlib.h>

/* Resources of one CTA: 32-bit registers, and shared memory in bytes. */
struct footprint {
    uint32_t warps, registers, shared;
};

static struct footprint footprint_of(const struct config *cfg, const struct launch *l) {
    const struct sm_cfg *s = &cfg->sm;
    uint32_t warps = launch_warps(l);
    uint32_t resident =
        s->running_warps && s->running_warps < warps ? s->running_warps : warps; /* warps with registers in the SM */
    uint32_t shared = launch_shared_bytes(l),
             each = s->thread_registers ? s->thread_registers : l->program->thread_regs;
    return (struct footprint){
        .warps = warps,
        .registers = (uint32_t)(resident * round_up(each * WARP_LANES, s->register_unit)),
        .shared = shared > UINT32_MAX - s->shared_unit ? shared : (uint32_t)round_up(shared, s->shared_unit),
    };
}

static uint32_t at_most(uint32_t n, uint32_t have, uint32_t need) { return need && have / need < n ? have / need : n; }

/* Returns the number of registers left for CTAs. */
static uint32_t registers_left(const struct config *cfg, uint32_t taken) {
    return cfg->sm.registers > taken ? cfg->sm.registers - taken : 0;
}

uint32_t sm_occupancy(const struct config *cfg, const struct launch *l, uint32_t taken) {
    struct footprint f = footprint_of(cfg, l);
    uint32_t n = at_most(cfg->sm.ctas, cfg->sm.warps, f.warps);
    n = at_most(n, registers_left(cfg, taken), f.registers);
    return at_most(n, cfg->sm.shared_bytes, f.shared);
}

bool sm_fits(const struct config *cfg, const struct launch *l, uint32_t taken, char *why, size_t size) {
    const struct sm_cfg *s = &cfg->sm;
    struct footprint f = footprint_of(cfg, l);
    uint32_t threads = dim3_count(l->block);
    const struct {
        const char *what, *key;
        uint32_t need, have;
    } rows[] = {{"warps", "sm.warps", f.warps, s->warps},
                {"registers", taken ? "sm.registers, less what extensions take" : "sm.registers", f.registers,
                 registers_left(cfg, taken)},
                {"bytes of shared memory", "sm.shared_bytes", f.shared, s->shared_bytes}};
    int n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].need <= rows[i].have)
            continue;
        if (!n)
            n = snprintf(why, size, "a CTA of %u threads does not fit on an SM:", threads);
        if (n > 0 && (size_t)n < size)
            n += snprintf(why + n, size - (size_t)n, "%s it needs %u %s, and an SM has %u (%s)",
                          why[n - 1] == ':' ? "" : ";", rows[i].need, rows[i].what, rows[i].have, rows[i].key);
    }
    return n == 0;
}

/* Allocates the counts per instruction. */
static bool begin_counts(struct sm *sm, bool wanted) {
    free(sm->issue.profile);
    sm->issue.profile = wanted ? calloc(sm->program->program->n + 1, sizeof *sm->issue.profile) : NULL;
    sm->issue.tally = calloc(sm->program->program->n + 1, sizeof *sm->issue.tally);
    return sm->issue.tally && (sm->issue.profile || !wanted);
}

bool sm_launch(struct sm *sm, const struct launch *l, const struct timed_program *p, bool profile, uint64_t now) {
    struct footprint f = footprint_of(sm->cfg, l);
    uint32_t taken = 0;
    assert(!sm->status.ctas);
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        taken += sm_unit_registers(sm->units.all[i].ops, sm->units.all[i].ctx, sm->cfg, l);
    sm->launch = l;
    sm->program = p;
    sm->ctas.warps_each = f.warps;
    sm->memory.hold_stores = sm->cfg->sm.hold_stores;
    sm->memory.local_stride = 4 * WARP_LANES;
    if (sm->cfg->lsu.local_map == LOCAL_BY_WORD)
        sm->memory.local_stride *= (uint64_t)f.warps * sm_occupancy(sm->cfg, l, taken) * sm->cfg->gpu.sms;
    sm->fetching.spent = sm->fetching.reclaimed = (struct warp_set){.word = {0}};
    sm->ctas.registers_each = f.registers;
    sm->ctas.shared_each = f.shared;
    sm->clock.accounted = now;
    sm->status.finished_at = now;
    sm->status.stopped = false;
    sm->contexts.asleep = true;
    bool ok = warps_place_boards(&sm->warps, sm->model.sb->size(p->program->n_regs)) && begin_counts(sm, profile) &&
              sm_copies_begin(sm) && sm_units_launch(sm, now);
    sm_find_fast_path(sm);
    return ok;
}

void sm_launch_end(struct sm *sm) {
    if (sm->launch) {
        sm_units_launch_end(sm);
        sm_take_tally(sm);
    }
    free(sm->issue.tally);
    sm->issue.tally = NULL;
    sm_contexts_end(sm);
    for (uint32_t i = 0; i < sizeof sm->ctas.slot / sizeof sm->ctas.slot[0]; i++) {
        cta_free(sm->ctas.slot[i].cta);
        sm->ctas.slot[i].cta = NULL;
    }
    warps_free_boards(&sm->warps);
    sm_copies_end(sm);
    sm->launch = NULL;
    sm->program = NULL;
}
