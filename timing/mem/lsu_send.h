#ifndef TIMING_LSU_SEND_H
#define TIMING_LSU_SEND_H
/* Requests of the load/store unit to memory. Private to the unit. */
#include "lsu_parts.h"

/* Bytes of a set of sectors. */
static inline uint16_t lsu_bytes_of(unsigned sectors) { return (uint16_t)(__builtin_popcount(sectors) * SECTOR_BYTES); }
/* Whether a reply to `r` is waited for by a prefetch or by a demand access. */
static inline enum mem_wait lsu_wait_of(const struct mem_request *r) {
    return mem_is_prefetch(r->kind) ? WAIT_PREFETCH : WAIT_DEMAND;
}

/* Sends the request at memport_place(). The caller has filled in all fields except its cycle and its SM. */
void lsu_send(struct lsu *l, uint64_t now);
/* Sends the dirty line that `out` names to the L2. Requires victim_sectors. */
void lsu_send_victim(struct lsu *l, struct lsu_pipe *p, const struct cache_out *out, uint64_t now);
/* Does so if the access evicted a dirty line. */
static inline void lsu_write_back(struct lsu *l, struct lsu_pipe *p, const struct cache_out *out, uint64_t now) {
    if (out->victim_sectors)
        lsu_send_victim(l, p, out, now);
}
/* Sends the requests of a miss: the evicted dirty line, and the read of its sectors. Requires room for two. */
void lsu_miss(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, enum mem_kind kind,
              const struct cache_out *out, uint64_t now);
#endif
