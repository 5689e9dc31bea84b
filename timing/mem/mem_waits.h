#ifndef TIMING_MEM_WAITS_H
#define TIMING_MEM_WAITS_H
/* Times from requests to replies, for one SM: the statistics mem.latency and mem.prefetch_latency. Only sums of cycles
 * are stored, not single requests.
 *
 * Demand requests and prefetch requests are counted separately. A demand access that misses a line for which only a
 * prefetch is in flight sends no request. Its wait counts as a demand wait, from the cycle of the miss to the
 * prefetch's reply. The wait of the prefetch, which is longer, is counted as well. A demand access that joins a
 * demand request is not counted: the wait of this request covers it. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stdint.h>

enum mem_wait { WAIT_DEMAND, WAIT_PREFETCH, MEM_WAITS };

struct mem_waits {
    struct {
        /* number of waits that have begun, and number that have ended, since the start; the difference is the number
         * of waits in flight */
        uint64_t begun, ended;
        uint64_t begin_cycles,
            end_cycles;     /* sums of the cycles at which waits began and ended, since the last statistics */
        uint64_t replies;   /* number of waits that ended since the last statistics */
        uint64_t in_flight; /* the part of end_cycles that mem_waits_account() added for waits in flight */
    } of[MEM_WAITS];
    uint64_t joined; /* number of prefetches in flight that demand accesses have joined */
};

/* Begins `n` waits at cycle `now`. */
static inline void mem_waits_begin(struct mem_waits *w, enum mem_wait kind, uint32_t n, uint64_t now) {
    w->of[kind].begun += n;
    w->of[kind].begin_cycles += n * now;
}
/* Ends one wait whose reply was due at cycle `at`. */
static inline void mem_waits_end(struct mem_waits *w, enum mem_wait kind, uint64_t at) {
    w->of[kind].ended++;
    w->of[kind].replies++;
    w->of[kind].end_cycles += at;
}
/* Returns true if a prefetch is in flight. */
static inline bool mem_waits_prefetch(const struct mem_waits *w) {
    return w->of[WAIT_PREFETCH].begun != w->of[WAIT_PREFETCH].ended;
}
/* Adds the time of waits in flight to the interval that ends at cycle `now`. Call it before mem_waits_stats(). */
void mem_waits_account(struct mem_waits *w, uint64_t now);
/* Adds to `s` mem.latency_sum and the other counts since the last call, and clears them. */
void mem_waits_stats(struct mem_waits *w, struct stats *s);
#endif
