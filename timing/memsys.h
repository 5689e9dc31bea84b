#ifndef TIMING_MEMSYS_H
#define TIMING_MEMSYS_H
/* Everything behind the SMs: crossbar, L2 slices, DRAM channels. SMs reach it only through these queues, whose latency
 * is at least one quantum, so that SMs can be advanced independently: within a window [from, to) an SM only adds to its
 * own request queue and takes from its own reply queue; memsys_run() then advances the memory side over the same
 * window. Replies it produces carry a cycle >= to. */
#include "config.h"
#include "stat.h"

/* MEM_PREFETCH brings lines into the L2 only; its reply, when they are there, is empty. */
enum mem_kind { MEM_READ, MEM_WRITE, MEM_ATOMIC, MEM_INSTRUCTION, MEM_CONSTANT, MEM_TEXTURE, MEM_PREFETCH };

struct mem_request {
    uint64_t address; /* device address of the sender's line, a multiple of 32; no request crosses a line of the L2 */
    uint64_t cycle;   /* core cycle it was sent; in a reply: the first cycle the SM may see it, and no address */
    uint32_t tag;     /* the sender's; comes back unchanged */
    uint32_t sectors; /* bit s: 32-byte sector s from `address` is wanted or written */
    uint16_t bytes;   /* payload: written bytes, or bytes wanted */
    uint16_t sm;
    uint8_t kind;   /* enum mem_kind; a reply to a write only says that it was done, and only with l2.write_acks */
    uint8_t serial; /* atomics: most lanes on one address, which the slice performs one after another */
};

struct memsys;
struct memsys *memsys_new(const struct config *cfg);
void memsys_free(struct memsys *m);
/* Cycles of the window: replies and requests need at least so long to cross. */
uint32_t memsys_quantum(const struct memsys *m);
/* Requests that the SM's queue has room for at `now`. An entry that the crossbar takes at cycle c is free for the SM at
 * c + memsys_quantum(), so the answer does not depend on where windows end. */
uint32_t memsys_room(struct memsys *m, uint32_t sm, uint64_t now);
/* The next cycle at which memsys_room() grows by what the memory side has done so far; UINT64_MAX: not known yet. */
uint64_t memsys_room_cycle(const struct memsys *m, uint32_t sm);
/* Requires memsys_room() at r->cycle, and cycles that do not fall. */
void memsys_send(struct memsys *m, const struct mem_request *r);
/* The SM's next reply if its cycle is <= now. */
bool memsys_receive(struct memsys *m, uint32_t sm, uint64_t now, struct mem_request *out);
/* Cycle of the SM's next reply, UINT64_MAX when none is on its way back yet. */
uint64_t memsys_reply_cycle(const struct memsys *m, uint32_t sm);
/* Advances the memory side over [from, to). */
void memsys_run(struct memsys *m, uint64_t from, uint64_t to);
/* Calls every unit every cycle from now on (or not): slow, and the same result. For tests; -DHEDDLE_POLL begins with
 * it. */
void memsys_poll(struct memsys *m, bool every_cycle);
/* Earliest cycle >= now at which the memory side has work; UINT64_MAX when it is empty. */
uint64_t memsys_next(const struct memsys *m, uint64_t now);
/* Adds the counts since the last call to `s`, and clears them. */
void memsys_stats(struct memsys *m, struct stats *s);
/* Empties caches (a new context, not a new launch). */
void memsys_flush(struct memsys *m);
#endif
