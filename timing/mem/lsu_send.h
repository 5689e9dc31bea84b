#ifndef TIMING_LSU_SEND_H
#define TIMING_LSU_SEND_H
/* Functions that send requests of the load/store unit to memory. Only the unit's files include this header. */
#include "lsu_parts.h"

/* Returns the number of bytes in a set of sectors. */
static inline uint16_t lsu_bytes_of(unsigned sectors) { return (uint16_t)(__builtin_popcount(sectors) * SECTOR_BYTES); }
/* Returns whether the wait for the reply to `r` counts as a prefetch wait or a demand wait. */
static inline enum mem_wait lsu_wait_of(const struct mem_request *r) {
    return mem_is_prefetch(r->kind) ? WAIT_PREFETCH : WAIT_DEMAND;
}

/* Sends the request at memport_place(). The caller must have filled in all fields except the cycle and the SM. */
void lsu_send(struct lsu *l, uint64_t now);
/* Sends the dirty line that `out` names to the L2. Requires victim_sectors. */
void lsu_send_victim(struct lsu *l, struct lsu_pipe *p, const struct cache_out *out, uint64_t now);
/* Works like lsu_send_victim() if the access evicted a dirty line. Otherwise does nothing. */
static inline void lsu_write_back(struct lsu *l, struct lsu_pipe *p, const struct cache_out *out, uint64_t now) {
    if (out->victim_sectors)
        lsu_send_victim(l, p, out, now);
}
/* Sends the requests of a miss: the write-back of the evicted dirty line, and the read of the missing sectors. Requires
 * room for two requests. */
void lsu_miss(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, enum mem_kind kind,
              const struct cache_out *out, uint64_t now);
#endif
