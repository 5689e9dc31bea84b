#ifndef TIMING_FETCH_STREAM_H
#define TIMING_FETCH_STREAM_H
/* Stream buffers: one behind each L0 instruction cache (fetch.prefetch lines). What fetch.c and fetch_stream.c share.
 *
 * An L0 miss looks into its stream buffer. A line that is there goes to the L0, STREAM_LATENCY cycles later; a line on
 * its way is waited for. Entries before it are dropped, and the buffer asks for as many lines behind its last one. A
 * miss of any other line, as behind a taken branch, drops all entries, asks the L1 itself, and starts the buffer at the
 * line behind it.
 * The stream buffers of an SM send one request a cycle together, in turn, and none in a cycle in which a fetch asks the
 * L1. A request reads the L1's tags; it hits after l1i.latency, or takes an MSHR and goes to memory as a fetch does.
 * One MSHR of the L1 stays free for fetches.
 * Sources: N. Jouppi, "Improving direct-mapped cache performance by the addition of a small fully-associative cache and
 * prefetch buffers", ISCA 1990; behind the L0 of a GPU core, 8 lines: R. Huerta et al., "Dissecting and modeling the
 * architecture of modern GPU cores", MICRO 2025. */
#include "fetch.h"

enum { STREAM_LATENCY = 1 }; /* cycles, buffer to L0 */

/* What waits on an L1 line: a ticket, an MSHR of an L0 (unit << 32 | mshr), or a stream buffer's entry
 * (unit << 32 | serial). */
#define TARGET_L0     (1ull << 63)
#define TARGET_STREAM (1ull << 62)

/* Allocates the buffers; fetch_free() frees them. False when memory is out. */
bool fetch_streams_init(struct fetch *f, const struct config *cfg);
/* L0 `unit` has missed `line` (in lines of the L0), and waits with its `mshr`. FETCH_HIT: the line was in the buffer,
 * is in the L0 now, and *latency is set. FETCH_WAIT: it is on its way. FETCH_REFUSED: the buffer has no such line, and
 * starts behind it; the caller asks the L1. */
enum fetch_result fetch_stream_take(struct fetch *f, uint32_t unit, uint64_t line, uint32_t mshr, uint64_t now,
                                    uint32_t *latency);
/* The L1 has the line that a buffer asked for: `target` is its TARGET_STREAM. */
void fetch_stream_arrived(struct fetch *f, uint64_t target, uint64_t now);
/* A line has arrived in the L1: buffers that it refused may ask again. */
void fetch_streams_retry(struct fetch *f);
/* A cycle of all buffers: lines that are due go to their L0, and one request leaves. True when an L0 got a line. */
bool fetch_streams_tick(struct fetch *f, uint64_t now);

/* fetch.c: asks the L1 at `now`; a target comes back when the line is there, unless it is a hit. `ahead`: for a stream
 * buffer. */
enum fetch_result fetch_ask_l1(struct fetch *f, uint64_t address, uint64_t target, bool ahead, uint64_t now);
/* fetch.c: a fetch waits from `now` on for the line that holds `address` and that a stream buffer has asked for. */
void fetch_join(struct fetch *f, uint64_t address, uint64_t now);
/* fetch.c: the line of L0 `unit`'s MSHR has arrived, and everyone who waits for it gets it after `latency`. */
void fetch_fill_l0(struct fetch *f, uint32_t unit, uint32_t mshr, uint32_t latency);
#endif
