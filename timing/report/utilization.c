/* Utilization of the peak f32 rate. At the peak rate, each SP pipe begins an instruction of 32 lanes every
 * initiation.f32_fma cycles. Warps that are narrower than a pipe leave some of its lanes idle. The work of the pipes is
 * counted lane by lane. The pipes' idle time is divided among causes in proportion to the issue slots in which no
 * instruction was issued to these pipes. */
#include "utilization.h"
#include "isa/program.h"
#include <math.h>

/* The statistics of the launch so far: the values of `before` plus the values of `s`. */
struct view {
    const struct stats *before, *s;
};

static double get(const struct view *v, enum stat_id id) { return stats_value(v->before, id) + stats_value(v->s, id); }

struct parts {
    double peak, flops, busy, memory, serialization, no_warp, no_flops;
};

/* Return the number of issue slots that issued no instruction to the SP pipes, by cause: memory, and waits for other
 * warps. */
static double waits_memory(const struct view *v) {
    return get(v, STAT_sm_scoreboard_load) + get(v, STAT_sm_queue) + get(v, STAT_sm_busy_memory);
}

static double waits_others(const struct view *v) {
    return get(v, STAT_sm_barrier) + get(v, STAT_sm_reconvergence) + get(v, STAT_sm_no_warp);
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

static struct parts divide(const struct config *cfg, uint32_t operations, const struct view *v) {
    const double lane =
        (double)operations /
        sm_pipe_cycles(&cfg->sm, cfg->latency[LAT_F32_FMA].initiation); /* operations per cycle of one lane */
    const double width = cfg->sm.warp_size;
    const double slots = get(v, STAT_sm_slots), sp = get(v, STAT_sm_pipe_SP);
    const double cycles = get(v, STAT_sm_sp_cycles), lanes = get(v, STAT_sm_sp_lane_cycles);
    struct parts p = {.flops =
                          get(v, STAT_sm_op_f32_add) + get(v, STAT_sm_op_f32_mul) + 2 * get(v, STAT_sm_op_f32_fma)};
    p.peak = floor(get(v, STAT_sm_sm_cycles) * cfg->sm.pipe[PIPE_SP].units * WARP_LANES *
                   ((double)operations / cfg->latency[LAT_F32_FMA].initiation));
    /* One instruction is issued per issue slot. If the machine has more pipes than issue slots, the peak operations
     * of the additional pipes count as lost in the datapath. */
    double usable = fmin(p.peak, slots * width * operations);
    double idle = fmax(usable - cycles * width * lane, 0);
    p.busy = floor(lanes * lane);
    p.memory = floor(idle * share(waits_memory(v), slots - sp));
    p.serialization = floor(idle * share(waits_others(v), slots - sp) + (cycles * width - lanes) * lane);
    p.no_warp = floor(idle * share(get(v, STAT_sm_no_warp), slots - sp));
    p.no_flops =
        floor(idle * share(get(v, STAT_sm_issued) - sp, slots - sp) + (lanes - get(v, STAT_sm_sp_flop_cycles)) * lane);
    return p;
}

void utilization_stats(const struct config *cfg, uint32_t operations, const struct stats *before, struct stats *s) {
    const struct view v = {before, s};
    struct parts p = divide(cfg, operations, &v);
    double datapath = p.peak - p.flops - p.memory - p.serialization;
    const struct {
        enum stat_id id;
        double value;
    } rows[] = {{STAT_util_flops, p.flops},
                {STAT_util_peak_flops, p.peak},
                {STAT_util_busy_flops, p.busy},
                {STAT_util_pipe_cycles, get(&v, STAT_sm_sm_cycles) * cfg->sm.pipe[PIPE_SP].units},
                {STAT_util_tensor_cycles, get(&v, STAT_sm_sm_cycles) * cfg->sm.schedulers},
                {STAT_util_cluster_bytes, get(&v, STAT_sm_sm_cycles) * cfg->cluster.bytes},
                {STAT_util_lost_datapath, datapath},
                {STAT_util_lost_no_flops, fmax(fmin(p.no_flops, datapath), 0)},
                {STAT_util_lost_memory, p.memory},
                {STAT_util_lost_serialization, p.serialization},
                {STAT_util_lost_no_warp, p.no_warp}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        stats_put(s, rows[i].id, rows[i].value - stats_value(before, rows[i].id));
}
