#ifndef TIMING_FETCH_STREAM_H
#define TIMING_FETCH_STREAM_H
/* Stream buffers: one for each L0 instruction cache (fetch.prefetch lines).
 *
 * An L0 miss looks up its stream buffer. On a hit the line goes to the L0 after STREAM_LATENCY cycles, or when it
 * arrives. The entries up to this line leave the buffer, and the buffer requests as many lines after its last line. On
 * a miss (typically after a taken branch) all entries are dropped, the L0 requests the line from the L1, and the buffer
 * restarts at the next line.
 *
 * The stream buffers of an SM together send at most one request per cycle, round-robin. They send no request in a cycle
 * in which a fetch accesses the L1. A request reads the L1's tags. On a hit, the line is available after l1i.latency.
 * On a miss, the request takes an MSHR and goes to memory like a fetch. One MSHR of the L1 stays free for fetches.
 *
 * Sources: N. Jouppi, "Improving direct-mapped cache performance by the addition of a small fully-associative cache
 * and prefetch buffers", ISCA 1990; for the L0 of a GPU core, with 8 lines: R. Huerta et al., "Dissecting and
 * modeling the architecture of modern GPU cores", MICRO 2025. */
#include "fetch_lines.h"

enum { STREAM_LATENCY = 1 }; /* cycles, buffer to L0 */

/* Allocates the buffers; fetch_free() frees them. Returns false if memory is out. */
bool fetch_streams_init(struct fetch *f, const struct config *cfg);
/* Looks up `line` (in units of L0 lines) after a miss of L0 `unit`, whose MSHR `mshr` waits for the line. FETCH_HIT:
 * the buffer had the line; it is in the L0 now, and *latency is set. FETCH_WAIT: the line is in flight.
 * FETCH_REFUSED: the buffer does not have the line, and restarts at the line after it; the caller must request the
 * line from the L1. */
enum fetch_result fetch_stream_take(struct fetch *f, uint32_t unit, uint64_t line, uint32_t mshr, uint64_t now,
                                    uint32_t *latency);
/* Receives a line of the L1 that a buffer requested: `target` is the waiter of kind TARGET_STREAM. */
void fetch_stream_arrived(struct fetch *f, uint64_t target, uint64_t now);
/* Lets buffers that the L1 refused try again, after a line has arrived in the L1. */
void fetch_streams_retry(struct fetch *f);
/* Runs all buffers for one cycle: lines that are due go to their L0, and at most one request leaves. Returns true if an
 * L0 got a line. */
bool fetch_streams_tick(struct fetch *f, uint64_t now);
#endif
