/* Sends requests of the load/store unit to memory: misses, write-backs of evicted lines, accesses past the L1. */
#include "lsu_send.h"

void lsu_send(struct lsu *l, uint64_t now) {
    struct mem_request *r = memport_place(l->status.port);
    uint32_t replies = memport_replies(l->status.port, r);
    r->cycle = now;
    r->sm = (uint16_t)l->sm;
    memport_send(l->status.port);
    if (l->trace) {
        bool writes = r->kind == MEM_WRITE || r->kind == MEM_WRITE_BACK;
        trace_note(l->trace, &(struct trace_event){.from = now,
                                                   .to = now,
                                                   .address = r->address,
                                                   .row = r->tag,
                                                   .kind = writes ? TRACE_WRITE : TRACE_REQUEST,
                                                   .what = r->kind});
    }
    if (r->kind == MEM_WRITE) {
        l->stores[r->tag] += replies;
        return;
    }
    mem_waits_begin(&l->waits, lsu_wait_of(r), replies, now);
}

void lsu_send_victim(struct lsu *l, struct lsu_pipe *p, const struct cache_out *out, uint64_t now) {
    p->n.writebacks++;
    *memport_place(l->status.port) = (struct mem_request){.kind = MEM_WRITE_BACK,
                                                          .address = out->victim << p->line_shift,
                                                          .sectors = out->victim_sectors,
                                                          .full = out->victim_sectors,
                                                          .bytes = lsu_bytes_of(out->victim_sectors)};
    lsu_send(l, now);
}

void lsu_miss(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, enum mem_kind kind,
              const struct cache_out *out, uint64_t now) {
    lsu_write_back(l, p, out, now);
    *memport_place(l->status.port) = (struct mem_request){.kind = (uint8_t)kind,
                                                          .address = op->address >> p->line_shift << p->line_shift,
                                                          .tag = out->mshr,
                                                          .pc = op->pc,
                                                          .warp = op->warp,
                                                          .sectors = out->fetch,
                                                          .bytes = lsu_bytes_of(out->fetch)};
    lsu_send(l, now);
}
