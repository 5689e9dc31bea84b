#include "mem_waits.h"

void mem_waits_account(struct mem_waits *w, uint64_t now) {
    for (int i = 0; i < MEM_WAITS; i++) {
        w->of[i].in_flight = (w->of[i].begun - w->of[i].ended) * now;
        w->of[i].end_cycles += w->of[i].in_flight;
    }
}

void mem_waits_stats(struct mem_waits *w, struct stats *s) {
    static const enum stat_id sum[MEM_WAITS] = {STAT_mem_latency_sum, STAT_mem_prefetch_latency_sum};
    static const enum stat_id replies[MEM_WAITS] = {STAT_mem_replies, STAT_mem_prefetch_replies};
    for (int i = 0; i < MEM_WAITS; i++) {
        stats_put(s, sum[i], (double)(int64_t)(w->of[i].end_cycles - w->of[i].begin_cycles));
        stats_put(s, replies[i], (double)w->of[i].replies);
        /* waits in flight continue, so each counts in the next interval from the start of that interval */
        w->of[i].begin_cycles = w->of[i].in_flight;
        w->of[i].end_cycles = w->of[i].replies = w->of[i].in_flight = 0;
    }
    stats_put(s, STAT_mem_prefetch_joined, (double)w->joined);
    w->joined = 0;
}
