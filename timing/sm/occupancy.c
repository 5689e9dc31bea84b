#include "occupancy.h"
#include "isa/arith.h"
#include "isa/machine/warp.h"
#include "timing/config/config.h"

void sm_demand_add(struct sm_demand *d, const struct sm_unit_ops *ops, void *ctx, const struct config *cfg,
                   const struct launch *l) {
    uint32_t warps = ops->warps_loaded ? ops->warps_loaded(cfg, l, ctx) : 0;
    d->registers += ops->registers ? ops->registers(cfg, l, ctx) : 0;
    if (warps && (!d->warps || warps < d->warps))
        d->warps = warps;
}

struct sm_demand sm_demand_of(const struct sm_unit_row *units, uint32_t n, const struct config *cfg,
                              const struct launch *l) {
    struct sm_demand d = {0, 0};
    for (uint32_t i = 0; i < n; i++)
        sm_demand_add(&d, units[i].ops, units[i].ctx, cfg, l);
    return d;
}

/* Returns the registers left for CTAs. */
static uint32_t registers_left(const struct config *cfg, struct sm_demand d) {
    return cfg->sm.registers > d.registers ? cfg->sm.registers - d.registers : 0;
}

/* Returns the registers of the warps of a CTA. setmaxnreg moves registers between the warps of a CTA, so such a CTA
 * needs at most all registers of an SM. */
static uint32_t registers_of(const struct config *cfg, const struct launch *l, struct sm_demand d, uint32_t warps) {
    const struct sm_cfg *s = &cfg->sm;
    const uint32_t unit = s->register_unit * launch_lanes(l) / WARP_LANES;
    const uint32_t each = s->thread_registers ? s->thread_registers : l->program->thread_regs;
    const uint32_t all = (uint32_t)(warps * round_up(each * launch_lanes(l), unit ? unit : 1));
    const uint32_t left = registers_left(cfg, d);
    return l->program->moves_registers && all > left ? left : all;
}

struct sm_footprint sm_footprint_of(const struct config *cfg, const struct launch *l, struct sm_demand d) {
    const struct sm_cfg *s = &cfg->sm;
    uint32_t warps = launch_warps(l), loaded = d.warps && d.warps < warps ? d.warps : warps;
    uint32_t shared = launch_shared_bytes(l);
    return (struct sm_footprint){
        .warps = warps,
        .registers = registers_of(cfg, l, d, loaded),
        .shared = shared > UINT32_MAX - s->shared_unit ? shared : (uint32_t)round_up(shared, s->shared_unit),
    };
}

static uint32_t at_most(uint32_t n, uint32_t have, uint32_t need) { return need && have / need < n ? have / need : n; }

uint32_t sm_occupancy(const struct config *cfg, const struct launch *l, struct sm_demand d) {
    struct sm_footprint f = sm_footprint_of(cfg, l, d);
    uint32_t n = at_most(cfg->sm.ctas, sm_warp_slots(&cfg->sm), f.warps);
    n = at_most(n, registers_left(cfg, d), f.registers);
    return at_most(n, cfg->sm.shared_bytes, f.shared);
}

uint32_t sm_most_registers(const struct config *cfg, uint32_t threads, uint32_t shared, uint32_t registers) {
    struct program p = {.thread_regs = registers, .shared_bytes = shared};
    const struct launch l = {.program = &p, .block = {threads, 1, 1}, .warp_size = cfg->sm.warp_size};
    const struct sm_demand none = {0, 0};
    const uint32_t n = sm_occupancy(cfg, &l, none), counted = cfg->sm.thread_registers;
    if (!n || counted)
        return counted > registers ? counted : registers;
    while (p.thread_regs < SM_THREAD_REGISTERS) {
        p.thread_regs++;
        if (sm_occupancy(cfg, &l, none) < n)
            return p.thread_regs - 1;
    }
    return p.thread_regs;
}

uint64_t sm_most_clusters(const struct config *cfg, uint32_t occupancy, uint32_t ctas) {
    uint64_t n = 0;
    for (uint32_t first = 0, sms; first < cfg->gpu.sms; first += sms) {
        sms = cfg->gpu.sms - first < cfg->cluster.sms ? cfg->gpu.sms - first : cfg->cluster.sms;
        n += (uint64_t)sms * occupancy / ctas;
    }
    return n;
}

bool sm_fits(const struct config *cfg, const struct launch *l, struct sm_demand d, char *why, size_t size) {
    const struct sm_cfg *s = &cfg->sm;
    struct sm_footprint f = sm_footprint_of(cfg, l, d);
    uint32_t threads = dim3_count(l->block);
    const struct {
        const char *what, *key;
        uint32_t need, have;
    } rows[] = {{"warps", "sm.warps", f.warps, sm_warp_slots(s)},
                {"registers", d.registers ? "sm.registers, less what extensions take" : "sm.registers", f.registers,
                 registers_left(cfg, d)},
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
