#ifndef TIMING_FETCH_LINES_H
#define TIMING_FETCH_LINES_H
/* Lines of the L1 instruction cache, for fetches, L0 caches and stream buffers. */
#include "fetch_state.h"

/* A waiter for a line of the L1: a ticket, an MSHR of an L0 (unit << 32 | mshr), or an entry of a stream buffer (unit
 * << 32 | serial). */
#define TARGET_L0     (1ull << 63)
#define TARGET_STREAM (1ull << 62)

/* Looks up `address` in the L1 at `now`. On a miss, `target` is returned when the line arrives. `ahead`: the request
 * is for a stream buffer. */
enum fetch_result fetch_ask_l1(struct fetch *f, uint64_t address, uint64_t target, bool ahead, uint64_t now);
/* Makes a fetch wait from `now` on for the line of `address`, which a stream buffer has requested. */
void fetch_join(struct fetch *f, uint64_t address, uint64_t now);
/* Fills the line of an MSHR of L0 `unit`. All fetches that wait for the line get it after `latency` cycles. */
void fetch_fill_l0(struct fetch *f, uint32_t unit, uint32_t mshr, uint32_t latency);
/* Ends the fetch `ticket` after `latency` cycles: fetch_take() returns it. */
void fetch_hand_back(struct fetch *f, uint32_t ticket, uint32_t latency);
#endif
