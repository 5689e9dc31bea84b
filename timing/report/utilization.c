/* Each SP pipe can begin an instruction of 32 lanes every initiation.f32_fma cycles: that is the peak. What it does
 * begin is known lane by lane; the time in which it stands idle goes to the causes of the issue slots that gave it
 * nothing to do. */
#include "utilization.h"
#include "isa/program.h"
#include <math.h>

/* What the launch has so far. */
struct view {
    const struct stats *before, *s;
};

static double get(const struct view *v, const char *name) { return stats_get(v->before, name) + stats_get(v->s, name); }

struct parts {
    double peak, flops, memory, serialization, no_warp, no_flops;
};

/* Of the slots that gave the SP pipes nothing, those of each cause. */
static double waits_memory(const struct view *v) {
    return get(v, "issue.scoreboard_load") + get(v, "issue.queue") + get(v, "issue.pipe_busy_memory");
}

static double waits_others(const struct view *v) {
    return get(v, "issue.barrier") + get(v, "issue.reconvergence") + get(v, "issue.no_warp");
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

static struct parts divide(const struct config *cfg, uint32_t operations, const struct view *v) {
    const double lane = (double)operations / cfg->latency[LAT_F32_FMA].initiation; /* operations a cycle */
    const double slots = get(v, "issue.slots"), sp = get(v, "pipe.sp");
    const double cycles = get(v, "pipe.sp_cycles"), lanes = get(v, "pipe.sp_lane_cycles");
    struct parts p = {.flops = get(v, "op.f32_add") + get(v, "op.f32_mul") + 2 * get(v, "op.f32_fma")};
    p.peak = floor(get(v, "gpu.sm_cycles") * cfg->sm.pipe[PIPE_SP].units * WARP_LANES * lane);
    /* A slot begins one instruction: more pipes than that are lost to the datapath. */
    double usable = fmin(p.peak, slots * WARP_LANES * operations);
    double idle = fmax(usable - cycles * WARP_LANES * lane, 0);
    p.memory = floor(idle * share(waits_memory(v), slots - sp));
    p.serialization = floor(idle * share(waits_others(v), slots - sp) + (cycles * WARP_LANES - lanes) * lane);
    p.no_warp = floor(idle * share(get(v, "issue.no_warp"), slots - sp));
    p.no_flops = floor(idle * share(get(v, "issue.issued") - sp, slots - sp) +
                       (lanes - get(v, "pipe.sp_flop_lane_cycles")) * lane);
    return p;
}

void utilization_stats(const struct config *cfg, uint32_t operations, const struct stats *before, struct stats *s) {
    const struct view v = {before, s};
    struct parts p = divide(cfg, operations, &v);
    double datapath = p.peak - p.flops - p.memory - p.serialization;
    const struct {
        const char *name;
        double value;
    } rows[] = {{"util.flops", p.flops},
                {"util.peak_flops", p.peak},
                {"util.pipe_cycles", get(&v, "gpu.sm_cycles") * cfg->sm.pipe[PIPE_SP].units},
                {"util.lost_datapath", datapath},
                {"util.lost_no_flops", fmax(fmin(p.no_flops, datapath), 0)},
                {"util.lost_memory", p.memory},
                {"util.lost_serialization", p.serialization},
                {"util.lost_no_warp", p.no_warp}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        stats_add(s, rows[i].name, rows[i].value - stats_get(before, rows[i].name));
}
