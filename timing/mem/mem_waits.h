#ifndef TIMING_MEM_WAITS_H
#define TIMING_MEM_WAITS_H
/* Times from requests to their replies, for one SM: the statistics mem.latency and mem.prefetch_latency. It keeps sums
 * of cycles, and no request by itself.
 *
 * Requests of demand accesses and requests of prefetches are apart. A demand access that misses a line for which only a
 * prefetch is in flight sends no request of its own. Its wait counts as one of a demand request, from that cycle to the
 * prefetch's reply. The prefetch keeps its own, longer wait. A demand access that joins a demand request counts
 * nothing: the wait of that request covers it. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stdint.h>

enum mem_wait { WAIT_DEMAND, WAIT_PREFETCH, MEM_WAITS };

struct mem_waits {
    struct {
        uint64_t begun, ended;             /* waits since the beginning; the difference is in flight */
        uint64_t begin_cycles, end_cycles; /* sums of the cycles of both since the last statistics */
        uint64_t replies;                  /* waits that ended since then */
        uint64_t in_flight;                /* what mem_waits_account() has added to end_cycles */
    } of[MEM_WAITS];
    uint64_t joined; /* prefetches in flight that a demand access joined first */
};

/* `n` waits begin at cycle `now`. */
static inline void mem_waits_begin(struct mem_waits *w, enum mem_wait kind, uint32_t n, uint64_t now) {
    w->of[kind].begun += n;
    w->of[kind].begin_cycles += n * now;
}
/* One wait ends: its reply was due at cycle `at`. */
static inline void mem_waits_end(struct mem_waits *w, enum mem_wait kind, uint64_t at) {
    w->of[kind].ended++;
    w->of[kind].replies++;
    w->of[kind].end_cycles += at;
}
/* Is a prefetch in flight? */
static inline bool mem_waits_prefetch(const struct mem_waits *w) {
    return w->of[WAIT_PREFETCH].begun != w->of[WAIT_PREFETCH].ended;
}
/* Before mem_waits_stats(), when cycle `now` ends an interval: the time that waits in flight have taken so far belongs
 * to that interval. */
void mem_waits_account(struct mem_waits *w, uint64_t now);
/* Adds mem.latency_sum and the other counts since the last call, and clears them. */
void mem_waits_stats(struct mem_waits *w, struct stats *s);
#endif
