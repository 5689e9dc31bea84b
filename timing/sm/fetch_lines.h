#ifndef TIMING_FETCH_LINES_H
#define TIMING_FETCH_LINES_H
/* Lines of the L1 instruction cache, for fetches, L0 caches and stream buffers. */
#include "fetch_state.h"

/* What waits for a line of the L1: a ticket, an MSHR of an L0 (unit << 32 | mshr), or a stream buffer's entry
 * (unit << 32 | serial). */
#define TARGET_L0     (1ull << 63)
#define TARGET_STREAM (1ull << 62)

/* Asks the L1 at `now`; the target comes back when the line arrives, unless it is a hit. `ahead`: for a stream buffer.
 */
enum fetch_result fetch_ask_l1(struct fetch *f, uint64_t address, uint64_t target, bool ahead, uint64_t now);
/* A fetch waits from `now` on for the line of `address`, which a stream buffer has requested. */
void fetch_join(struct fetch *f, uint64_t address, uint64_t now);
/* The line of an MSHR of L0 `unit` has arrived: all waiters get it after `latency` cycles. */
void fetch_fill_l0(struct fetch *f, uint32_t unit, uint32_t mshr, uint32_t latency);
/* The fetch `ticket` is done after `latency` cycles: fetch_take() returns it. */
void fetch_hand_back(struct fetch *f, uint32_t ticket, uint32_t latency);
#endif
