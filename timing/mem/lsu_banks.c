/* The L1's pipeline in banks of sectors (peer.l1_banks). Each bank keeps its accesses in order. An access that must
 * wait delays only its bank. */
#include "lsu_send.h"

static uint32_t bank_of(const struct lsu_pipe *p, uint64_t address) {
    return (uint32_t)(address / SECTOR_BYTES % p->ports);
}

static struct line_op *entry(const struct lsu_pipe *p, uint32_t bank, uint64_t at) {
    return &p->ring[bank * (p->mask + 1) + (at & p->mask)];
}

bool lsu_banks_take(const struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    const struct lsu_bank *b = &p->bank[bank_of(p, op->address)];
    return b->entered != now + 1 && b->tail - b->head < p->latency;
}

void lsu_banks_enter(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    const uint32_t at = bank_of(p, op->address);
    struct lsu_bank *b = &p->bank[at];
    const uint64_t ready = now + (p->latency > 1 ? p->latency - 1 : 1);
    struct line_op *to = entry(p, at, b->tail);
    if (b->head == b->tail)
        l->due[p->id] = min64(l->due[p->id], ready);
    b->tail++;
    p->tail++;
    b->entered = now + 1;
    *to = *op;
    to->ready = ready;
}

/* Serves the oldest access of a bank. Returns the cycle of the bank's next access, or NEVER if there is none or if it
 * waits for a fill. */
static uint64_t serve(struct lsu *l, struct lsu_pipe *p, uint32_t bank, uint64_t now, lsu_finish_fn *finish) {
    struct lsu_bank *b = &p->bank[bank];
    const struct line_op *op = entry(p, bank, b->head);
    if (b->head == b->tail)
        return NEVER;
    if (op->ready > now)
        return op->ready;
    p->awaits_fill = false;
    if (!finish(l, p, op, now))
        return p->awaits_fill ? NEVER : now + 1;
    b->head++;
    p->head++;
    return b->head == b->tail ? NEVER : max64(entry(p, bank, b->head)->ready, now + 1);
}

void lsu_banks_tick(struct lsu *l, struct lsu_pipe *p, uint64_t now, lsu_finish_fn *finish) {
    uint64_t due = NEVER, head = p->head;
    bool awaits = false;
    for (uint32_t bank = 0; bank < p->ports; bank++) {
        due = min64(due, serve(l, p, bank, now, finish));
        awaits |= p->awaits_fill;
    }
    p->n.stalls += p->head == head;
    p->awaits_fill = awaits;
    l->due[p->id] = due;
}
