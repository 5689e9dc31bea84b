/* The statistics registry. A new figure is a row here and a stats_add() at the end of a launch. */
#include "stat.h"
#include "isa/chain.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SUM(name, unit, help)                                                                                          \
    { name, unit, help, STAT_SUM, NULL, NULL, sizeof(name) - 1 }
#define MAX(name, unit, help)                                                                                          \
    { name, unit, help, STAT_MAX, NULL, NULL, sizeof(name) - 1 }
#define RATIO(name, unit, help, num, den)                                                                              \
    { name, unit, help, STAT_RATIO, num, den, sizeof(name) - 1 }
#define CACHE_STATS(name, what)                                                                                        \
    SUM(name ".accesses", "count", "accesses to the " what ", one a line"),                                            \
        SUM(name ".hits", "count", "accesses that found their data in the " what),                                     \
        SUM(name ".misses", "count", "accesses that did not, pending hits included"),                                  \
        SUM(name ".pending_hits", "count", "misses that joined an outstanding one"),                                   \
        SUM(name ".stalls", "cycles", "cycles an access waited for a free entry of the " what),                        \
        SUM(name ".writebacks", "count", "dirty lines written to the next level"),                                     \
        RATIO(name ".miss_rate", "1", "misses / accesses", name ".misses", name ".accesses")
#define STRIDE_STATS(name)                                                                                             \
    SUM(name ".misses", "count",                                                                                       \
        "line accesses of global loads that missed the L1, or would have without prefetches"),                         \
        SUM(name ".trained", "count", "executions of loads among them: their first miss"),                             \
        SUM(name ".believed", "count", "of these, those with a stride that is believed"),                              \
        RATIO(name ".confidence", "1", "executions with a stride that is believed / executions that missed",           \
              name ".believed", name ".trained"),                                                                      \
        SUM(name ".changes", "count", "strides given up for others"),                                                  \
        SUM(name ".conflicts", "count", "entries of the table that had to make room for others"),                      \
        SUM(name ".lookups", "count", "entries looked for in the table"),                                              \
        SUM(name ".searches", "count", "lines looked for among those asked for"),                                      \
        SUM(name ".wanted", "count", "lines that a stride led to"),                                                    \
        SUM(name ".outside", "count", "of these, those outside of device memory, or without a cache to go to"),        \
        SUM(name ".queued", "count", "those that were asked for already and had not come"),                            \
        SUM(name ".full", "count", "those without a place in " name ".queue or lsu.prefetch_queue"),                   \
        SUM(name ".asked", "count", "those asked for: all others"),                                                    \
        SUM(name ".present", "count", "of these, those that the cache had, or had sent for"),                          \
        SUM(name ".refused", "count", "those that found no line, MSHR or room to memory (L1)"),                        \
        SUM(name ".issued", "count", "those that the cache sent for"),                                                 \
        SUM(name ".useful", "count", "lines of these that a load used"),                                               \
        SUM(name ".late", "count", "of the lines used, those that were still under way"),                              \
        SUM(name ".unused", "count", "lines replaced before any use"),                                                 \
        RATIO(name ".accuracy", "1", "lines used / lines sent for", name ".useful", name ".issued"),                   \
        SUM(name ".pollution", "count", "misses of lines that had made room for a prefetched one shortly before"),     \
        SUM(name ".bytes", "bytes", "that the L2 had to fetch from memory for prefetches"),                            \
        RATIO(name ".traffic", "1", "bytes fetched for prefetches / bytes read from DRAM", name ".bytes",              \
              "dram.read_bytes")

static const struct stat_def table[] = {
    SUM("gpu.cycles", "cycles", "core cycles from the launch to the end of the last CTA"),
    SUM("gpu.drained_cycles", "cycles", "core cycles from the launch until memory is at rest, too"),
    SUM("gpu.warp_instructions", "count", "warp instructions issued"),
    SUM("gpu.thread_instructions", "count", "lanes that executed: active, and guard true"),
    SUM("gpu.active_lanes", "count", "active lanes of issued warp instructions, guard aside"),
    SUM("gpu.barrier_instructions", "count", "convergence-barrier instructions issued, counted apart"),
    SUM("gpu.lane_slots", "count", "lanes of issued warp instructions: 32 each"),
    RATIO("gpu.ipc", "1/cycle", "thread instructions a cycle", "gpu.thread_instructions", "gpu.cycles"),
    RATIO("gpu.warp_ipc", "1/cycle", "warp instructions a cycle", "gpu.warp_instructions", "gpu.cycles"),
    RATIO("gpu.lane_utilization", "1", "thread instructions / lanes", "gpu.thread_instructions", "gpu.lane_slots"),
    SUM("gpu.path_sum", "count",
        "paths that a warp could issue from, also those at a barrier, summed over issued warp instructions"),
    RATIO("gpu.avg_paths", "1", "paths that a warp could issue from, mean over issued warp instructions",
          "gpu.path_sum", "gpu.warp_instructions"),
    SUM("gpu.idle_cycles", "cycles", "cycles in which an SM with live warps issues nothing, over all SMs"),
    SUM("gpu.sm_cycles", "cycles", "cycles times SMs"),
    MAX("gpu.max_stack_depth", "entries", "deepest reconvergence state of a warp"),
    MAX("storage.entry_bits", "bits", "one entry of a warp's reconvergence stack or warp-split table"),
    MAX("storage.path_bits", "bits", "a warp's reconvergence state: the most entries it had, thread states, barriers"),
    MAX("storage.scoreboard_bits", "bits", "a warp's scoreboard, for the registers of its kernel"),
    SUM("gpu.ctas", "count", "CTAs run"),
    SUM("gpu.warps", "count", "warps run"),
    MAX("gpu.max_resident_warps", "warps", "most warps on one SM at a time"),

    SUM("issue.slots", "slots", "cycles x schedulers x SMs: the sum of the rows below"),
    SUM("issue.issued", "slots", "an instruction was issued"),
    SUM("issue.no_warp", "slots", "no live warp"),
    SUM("issue.scoreboard_load", "slots", "waiting for a load, an atomic or a fence"),
    SUM("issue.scoreboard_arith", "slots", "waiting for a result of arithmetic"),
    SUM("issue.pipe_busy", "slots", "an instruction was ready, but its pipe or collector was taken"),
    SUM("issue.pipe_busy_memory", "slots", "of these, those in which only memory instructions were ready"),
    SUM("issue.barrier", "slots", "waiting at a barrier"),
    SUM("issue.fetch", "slots", "waiting for instructions"),
    SUM("issue.reconvergence", "slots", "waiting for a path switch, or for other lanes to converge"),
    SUM("issue.queue", "slots", "waiting for a queue of decoupled execution"),
    SUM("sm.exposed_load_stalls", "cycles", "cycles in which an SM issues nothing and a warp waits for a load"),
    SUM("sm.exposed_load_stalls_divergent", "cycles", "the part of it in which such a warp is inside divergent code"),
    RATIO("sm.occupancy", "warps", "live warps of an SM, mean over cycles", "sm.warp_cycles", "gpu.sm_cycles"),
    SUM("sm.warp_cycles", "cycles", "live warps, summed over cycles and SMs"),
    SUM("sm.context_cycles", "cycles", "the same of warps that extensions have without a CTA, which are in no other"),
    SUM("sm.context_instructions", "count", "warp instructions of such warps, a part of gpu.warp_instructions"),
    SUM("sm.path_switches", "count", "switches between paths of a warp that cost a latency"),

    SUM("sm.path_turns", "count", "times that dpe.scheduler=constrained showed the other path of a warp"),
    SUM("sm.stack_spills", "count", "entries of a stack that reconv.stack_entries drove out to memory"),
    SUM("sm.stack_fills", "count", "entries of a stack that were brought back"),
    SUM("sm.stack_bytes", "bytes", "moved by both"),
    SUM("sm.memory_splits", "count", "paths split by hit and miss of a load"),
    SUM("sm.turns", "count", "times that another warp took its turn on the lanes (sm.in_turn)"),
    SUM("sm.turn_stored", "count", "registers of 32 lanes stored for that"),
    SUM("sm.turn_loaded", "count", "registers of 32 lanes loaded"),
    SUM("sm.turn_cycles", "cycles", "that it took"),

    SUM("fetch.fetches", "count", "instruction fetches"),
    SUM("fetch.l0_misses", "count", "fetches that missed the L0 instruction cache"),
    SUM("fetch.misses", "count", "fetches that missed the L1 instruction cache"),
    SUM("fetch.l0_accesses", "count", "accesses to L0 instruction caches"),
    SUM("fetch.l1_accesses", "count", "accesses to L1 instruction caches"),
    SUM("fetch.prefetches", "count", "lines that stream buffers asked the L1 instruction cache for (in l1_accesses)"),
    SUM("fetch.prefetch_misses", "count", "lines of stream buffers that missed the L1 instruction cache"),
    SUM("fetch.prefetch_useful", "count", "lines that an L0 miss found in its stream buffer"),
    SUM("fetch.prefetch_late", "count", "useful lines that were still outstanding"),
    SUM("fetch.prefetch_unused", "count", "lines that left a stream buffer unused"),
    RATIO("fetch.miss_rate", "1", "fetches that go to memory", "fetch.misses", "fetch.fetches"),

    SUM("collector.reads", "count", "register operands read, of 32 lanes"),
    SUM("collector.writes", "count", "registers written, of 32 lanes"),
    SUM("collector.read_words", "count", "32-bit words a lane read"),
    SUM("collector.write_words", "count", "32-bit words a lane written"),
    SUM("collector.bank_conflicts", "cycles", "cycles that operands waited for a register bank"),
    SUM("collector.write_conflicts", "cycles", "cycles that results waited for a bank or the result bus"),
#define PIPE(id, name, text, units, collectors, in, out, instead)                                                      \
    SUM("pipe." name, "count", "instructions of the " text),
#include "timing/config/pipes.def"
#undef PIPE
    SUM("pipe.sp_cycles", "cycles", "of the sp pipes, for which instructions took them: initiation intervals"),
    SUM("pipe.sp_lane_cycles", "cycles", "the same, summed over lanes that executed"),
    SUM("pipe.sp_flop_lane_cycles", "cycles", "of these, those of f32 additions, multiplications and chains"),
    SUM("op.int", "count", "lanes that did an integer operation"),
    SUM("op.int_mul", "count", "lanes that did an integer multiplication"),
    SUM("op.int_div", "count", "lanes that did an integer division"),
    SUM("op.f32_add", "count", "lanes that did an f32 addition or subtraction"),
    SUM("op.f32_mul", "count", "lanes that did an f32 multiplication"),
    SUM("op.f32_fma", "count", "lanes that did an f32 fused multiply-add"),
    SUM("op.f32_div", "count", "lanes that did an f32 division"),
    SUM("op.f32_minmax", "count", "lanes that did an f32 minimum or maximum"),
    SUM("op.f64", "count", "lanes that did an f64 operation"),
    SUM("op.f64_div", "count", "lanes that did an f64 division"),
    SUM("op.f16", "count", "lanes that did an f16 operation"),
    SUM("op.mma", "count", "lanes that did a matrix instruction"),
    SUM("op.sfu", "count", "lanes that did a special function"),
    SUM("op.shfl", "count", "lanes that exchanged a value"),
    SUM("op.mem", "count", "lanes that accessed memory"),
    SUM("op.control", "count", "lanes of control instructions"),
    SUM("op.affine", "count", "lanes whose work the affine units did once for the warp (cae)"),

    SUM("util.flops", "flop", "f32 additions, subtractions and multiplications of lanes; a fused multiply-add is two"),
    SUM("util.peak_flops", "flop", "that the sp pipes could do: the sum of the row above and the three losses"),
    RATIO("util.utilization", "1", "operations done / operations that the machine could do", "util.flops",
          "util.peak_flops"),
    SUM("util.pipe_cycles", "cycles", "of all sp pipes"),
    RATIO("util.pipe_taken", "1", "share of them in which a pipe was taken, by whatever instruction", "pipe.sp_cycles",
          "util.pipe_cycles"),
    SUM("util.lost_datapath", "flop", "lost to arithmetic latency, busy pipes, fetch, and instructions that do less"),
    SUM("util.lost_no_flops", "flop", "of these, those lost to instructions that do none: addresses, control, memory"),
    SUM("util.lost_memory", "flop", "lost to waiting for memory, its pipe, and queues of decoupled execution"),
    SUM("util.lost_serialization", "flop", "lost to lanes that do not execute, reconvergence, barriers, lack of warps"),
    SUM("util.lost_no_warp", "flop", "of these, those of slots without a live warp"),
    RATIO("util.datapath", "1", "util.lost_datapath / peak", "util.lost_datapath", "util.peak_flops"),
    RATIO("util.no_flops", "1", "util.lost_no_flops / peak", "util.lost_no_flops", "util.peak_flops"),
    RATIO("util.memory", "1", "util.lost_memory / peak", "util.lost_memory", "util.peak_flops"),
    RATIO("util.no_warp", "1", "util.lost_no_warp / peak", "util.lost_no_warp", "util.peak_flops"),
    RATIO("util.serialization", "1", "util.lost_serialization / peak", "util.lost_serialization", "util.peak_flops"),

    SUM("lsu.instructions", "count", "memory instructions"),
    SUM("lsu.transactions", "count", "line accesses they were coalesced into"),
    RATIO("lsu.transactions_per_instruction", "1", "line accesses a memory instruction", "lsu.transactions",
          "lsu.instructions"),
    SUM("lsu.stall_cycles", "cycles", "cycles in which the unit's first access could not go on"),
    SUM("shared.accesses", "count", "shared-memory instructions"),
    SUM("shared.passes", "count", "passes over the shared-memory banks"),
    SUM("shared.bank_conflicts", "count", "passes beyond the first of an instruction"),
    CACHE_STATS("l1", "L1 data cache"),
    CACHE_STATS("l1c", "constant cache"),
    CACHE_STATS("tex", "texture cache"),
    SUM("l1.locked", "count", "lines locked until they were read"),
    SUM("l1.prefetches", "count", "lines asked for by prefetchers"),
    SUM("l1.prefetch_useful", "count", "prefetched lines that a load wanted"),
    SUM("l1.prefetch_late", "count", "of these, those that were still on their way"),
    SUM("l1.prefetch_unused", "count", "prefetched lines replaced before any use"),
    SUM("l1.prefetch_lookups", "count", "tag reads for prefetches and locks, which are not in l1.accesses"),
    SUM("l1.prefetch_refused", "count", "of these, those that found no line, MSHR, room to memory, or way to lock"),
    SUM("l1.sectors", "count",
        "32-byte sectors that accesses to the L1 data cache touch; all of a line unless l1.sectored"),
    SUM("l1.fills", "count", "lines filled, or sectors of a sectored cache"),
    SUM("gpc.accesses", "count", "requests of the SMs to the caches of their clusters"),
    SUM("gpc.hits", "count", "accesses that hit in the cluster's cache"),
    SUM("gpc.misses", "count", "accesses that missed it, pending hits included"),
    SUM("gpc.pending_hits", "count", "misses that joined an outstanding one, mostly of another SM"),
    SUM("gpc.stalls", "cycles", "cycles a request waited at the tags for a line or an MSHR"),
    SUM("gpc.port_cycles", "cycles", "cycles in which the port of a cluster's cache sent to its SMs"),
    RATIO("gpc.miss_rate", "1", "misses / accesses", "gpc.misses", "gpc.accesses"),
    SUM("icnt.request_packets", "count", "packets from SMs to slices"),
    SUM("icnt.reply_packets", "count", "packets from slices to SMs"),
    SUM("icnt.request_flits", "count", "flits from SMs to slices"),
    SUM("icnt.reply_flits", "count", "flits from slices to SMs"),
    SUM("icnt.stall_cycles", "cycles", "cycles in which a packet at the head of a queue waited for a port"),
    SUM("icnt.latency_sum", "cycles", "crossing times, summed over packets"),
    RATIO("icnt.latency", "cycles", "mean time of a packet in the crossbar", "icnt.latency_sum",
          "icnt.request_packets+icnt.reply_packets"),
    CACHE_STATS("l2", "L2 cache"),
    SUM("l2.sectors", "count",
        "32-byte sectors that accesses and prefetches of the SMs touch; all of a line unless l2.sectored"),
    SUM("l2.atomics", "count", "turns of atomics: of each request, the most lanes at one address"),
    SUM("l2.prefetches", "count", "lines that prefetches brought into the L2"),
    SUM("l2.prefetch_useful", "count", "of these, those that an SM wanted"),
    SUM("l2.prefetch_late", "count", "of these, those that were still on their way"),
    SUM("l2.prefetch_unused", "count", "prefetched lines replaced before any use"),
    SUM("l2.prefetch_accesses", "count", "accesses for prefetches of the SMs, which are not in l2.accesses"),
    SUM("l2.prefetch_misses", "count", "of these, those that did not find their data in the L2"),
    SUM("l2.prefetch_lookups", "count", "tag reads for prefetches of the slices' own, which are not in l2.accesses"),
    SUM("l2.prefetch_refused", "count", "of these, those that found no line, MSHR or room to DRAM"),
    SUM("dram.reads", "count", "read bursts"),
    SUM("dram.writes", "count", "write bursts"),
    SUM("dram.read_bytes", "bytes", "read from DRAM"),
    SUM("dram.write_bytes", "bytes", "written to DRAM"),
    SUM("dram.activates", "count", "rows opened"),
    SUM("dram.row_hits", "count", "requests that found their row open"),
    SUM("dram.requests", "count", "requests served"),
    SUM("dram.busy_clocks", "clocks", "clocks of data on the buses of all channels"),
    SUM("dram.clocks", "clocks", "clocks of all channels"),
    SUM("dram.queue_sum", "count", "requests waiting, summed over channels and clocks with work"),
    RATIO("dram.row_hit_rate", "1", "requests that found their row open", "dram.row_hits", "dram.requests"),
    RATIO("dram.utilization", "1", "share of clocks with data on the bus", "dram.busy_clocks", "dram.clocks"),
    SUM("mem.latency_sum", "cycles", "from a demand miss in an L1 to its reply, summed"),
    SUM("mem.replies", "count", "replies to demand misses"),
    RATIO("mem.latency", "cycles", "mean time from a demand miss in an L1 to its reply", "mem.latency_sum",
          "mem.replies"),
    SUM("mem.prefetch_latency_sum", "cycles", "from a prefetch's departure to its reply, summed"),
    SUM("mem.prefetch_replies", "count", "replies to prefetches"),
    SUM("mem.prefetch_joined", "count", "prefetches in flight that a demand miss joined: in mem.replies, too"),
    RATIO("mem.prefetch_latency", "cycles", "mean time from a prefetch's departure to its reply",
          "mem.prefetch_latency_sum", "mem.prefetch_replies"),

#define DECLARED_STATISTICS
#include "mechanisms/declared.def"

    SUM("energy.frontend_joules", "J", "fetch, decode, scheduling"),
    SUM("energy.regfile_joules", "J", "register banks"),
    SUM("energy.int_joules", "J", "integer operations"),
    SUM("energy.float_joules", "J", "f16, f32 and f64 operations"),
    SUM("energy.sfu_joules", "J", "special functions and lane exchange"),
    SUM("energy.shared_joules", "J", "shared memory"),
    SUM("energy.l1_joules", "J", "L1 data, constant and texture caches"),
    SUM("energy.icnt_joules", "J", "crossbar"),
    SUM("energy.l2_joules", "J", "L2 slices"),
    SUM("energy.dram_joules", "J", "DRAM"),
    SUM("energy.affine_joules", "J",
        "affine units and the compact register file (cae); tuple registers, queues and expansion of affine warps "
        "(dac)"),
    SUM("energy.dynamic_joules", "J", "all of the above"),
    SUM("energy.static_joules", "J", "static power times time"),
    SUM("energy.total_joules", "J", "dynamic and static"),

    SUM("host.seconds", "s", "wall-clock time of the simulation"),
    SUM("host.jit_blocks", "blocks", "functional: blocks of kernels that were compiled to native code"),
    SUM("host.jit_seconds", "s", "of the host's processors, spent in compiling them"),
    RATIO("host.warp_instructions_per_second", "1/s", "simulation speed", "gpu.warp_instructions", "host.seconds"),
    MAX("host.peak_rss_bytes", "bytes", "most memory the simulator held"),
};
enum { N_STATS = sizeof table / sizeof table[0] };

const struct stat_def *stat_defs(int *n) {
    *n = N_STATS;
    return table;
}

/* Lengths first: names of one length are few. */
static bool is_called(int i, const char *name, size_t len) {
    return table[i].len == len && memcmp(table[i].name, name, len) == 0;
}

/* Where in the table a name stands, found by a hash of the name (FNV-1a); 0 is no place. */
enum { PLACES = 2048 };
_Static_assert(N_STATS * 2 <= PLACES, "half of the places are free");
static uint16_t places[PLACES];

static uint32_t place_of(const char *name, size_t len) {
    uint32_t h = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)name[i]) * 0x01000193u;
    return (h ^ h >> 15) % PLACES;
}

static void fill_places(void) {
    for (int i = 0; i < N_STATS; i++) {
        uint32_t at = place_of(table[i].name, table[i].len);
        while (places[at])
            at = (at + 1) % PLACES;
        places[at] = (uint16_t)(i + 1);
    }
}

static int index_of(const char *name, size_t len) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_places);
    uint32_t at = place_of(name, len);
    while (places[at] && !is_called(places[at] - 1, name, len))
        at = (at + 1) % PLACES;
    return places[at] - 1;
}

int stat_index(const char *name) { return index_of(name, strlen(name)); }

bool stats_init(struct stats *s) {
    s->v = calloc(N_STATS, sizeof *s->v);
    s->next = 0;
    return s->v != NULL;
}

void stats_free(struct stats *s) {
    free(s->v);
    s->v = NULL;
}

void stats_clear(struct stats *s) { memset(s->v, 0, N_STATS * sizeof *s->v); }

static void combine(struct stats *s, int i, double value) {
    if (table[i].kind == STAT_SUM)
        s->v[i] += value;
    else if (s->v[i] < value)
        s->v[i] = value;
}

void stats_add(struct stats *s, const char *name, double value) {
    int i = s->next; /* units add theirs in the order of the table, mostly */
    size_t len = strlen(name);
    if (!is_called(i, name, len))
        i = index_of(name, len);
    assert(i >= 0 && table[i].kind != STAT_RATIO);
    s->next = i + 1 == N_STATS ? 0 : i + 1;
    combine(s, i, value);
}

void stats_add_chain_error(struct stats *s, const struct chain_error *e) {
    stats_add(s, "chain.wide_results", (double)e->results);
    stats_add(s, "chain.wide_differ", (double)e->differ);
    stats_add(s, "chain.wide_beyond", (double)e->beyond);
    stats_add(s, "chain.max_relative_error", e->largest);
}

void stats_merge(struct stats *to, const struct stats *from) {
    for (int i = 0; i < N_STATS; i++)
        if (table[i].kind != STAT_RATIO)
            combine(to, i, from->v[i]);
}

/* The sum of the statistics that `names` joins by '+'. */
static double sum_of(const struct stats *s, const char *names) {
    double sum = 0;
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, "+");
        int i = index_of(at, len);
        assert(i >= 0 && table[i].kind != STAT_RATIO);
        sum += s->v[i];
        at += len;
        at += *at == '+';
    }
    return sum;
}

double stats_get(const struct stats *s, const char *name) {
    int i = stat_index(name);
    assert(i >= 0);
    if (table[i].kind != STAT_RATIO)
        return s->v[i];
    double den = sum_of(s, table[i].den);
    return den > 0 ? sum_of(s, table[i].num) / den : 0;
}

bool stats_keep(struct stats_kept *out, const struct stats *s) {
    int n = 0;
    for (int i = 0; i < N_STATS; i++)
        n += s->v[i] != 0;
    *out = (struct stats_kept){.v = malloc((size_t)n * (sizeof *out->v + sizeof *out->index) + 1)};
    if (!out->v)
        return false;
    out->index = (uint16_t *)(out->v + n);
    for (int i = 0; i < N_STATS; i++)
        if (s->v[i] != 0) {
            out->v[out->n] = s->v[i];
            out->index[out->n++] = (uint16_t)i;
        }
    return true;
}

void stats_kept_free(struct stats_kept *k) {
    free(k->v);
    *k = (struct stats_kept){0};
}

void stats_kept_add(struct stats *to, const struct stats_kept *k) {
    for (int i = 0; i < k->n; i++)
        combine(to, k->index[i], k->v[i]);
}

double stats_kept_get(const struct stats_kept *k, const char *name) {
    double v[N_STATS] = {0};
    struct stats s = {.v = v};
    stats_kept_add(&s, k);
    return stats_get(&s, name);
}
