#include "mem_waits.h"

void mem_waits_account(struct mem_waits *w, uint64_t now) {
    for (int i = 0; i < MEM_WAITS; i++) {
        w->of[i].in_flight = (w->of[i].begun - w->of[i].ended) * now;
        w->of[i].end_cycles += w->of[i].in_flight;
    }
}

void mem_waits_stats(struct mem_waits *w, struct stats *s) {
    static const char *const names[MEM_WAITS][2] = {{"mem.latency_sum", "mem.replies"},
                                                    {"mem.prefetch_latency_sum", "mem.prefetch_replies"}};
    for (int i = 0; i < MEM_WAITS; i++) {
        stats_add(s, names[i][0], (double)(int64_t)(w->of[i].end_cycles - w->of[i].begin_cycles));
        stats_add(s, names[i][1], (double)w->of[i].replies);
        w->of[i].begin_cycles = w->of[i].in_flight; /* as if they began with the next interval */
        w->of[i].end_cycles = w->of[i].replies = w->of[i].in_flight = 0;
    }
    stats_add(s, "mem.prefetch_joined", (double)w->joined);
    w->joined = 0;
}
