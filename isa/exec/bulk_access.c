/* Parts that all bulk copies share: their operands, their memory, their mbarriers and their jobs. */
#include "exec_bulk.h"
#include "exec_mbarrier.h"
#include "exec_mem.h"

/* Returns the bytes per lane of an operand that is no address. */
static unsigned value_bytes(const struct bulk_form *f, unsigned i) {
    const bool elements = f->what == BULK_ST_ASYNC || f->what == BULK_RED_ASYNC;
    switch (i) {
    case BULK_BYTES:
        return f->what == BULK_ZERO || (f->what == BULK_REPLACE && f->type == T_B64) ? 8 : 4;
    case BULK_CTAS:
        return f->what == BULK_REPLACE ? 4 : 2;
    case BULK_MASK:
    case BULK_MASK2:
        return f->cp_mask ? 2 : 4;
    default:
        return elements ? type_bytes(f->type) : i >= BULK_OFFSET ? 2 : 4;
    }
}

uint64_t bulk_operand(const struct bulk *b, unsigned i) {
    const unsigned char *at = reg_ptr(b->w, b->w->program->lists[b->in->list + i]);
    const bool address = i == BULK_TO || i == BULK_FROM || i == BULK_SIGNAL || i == BULK_MAP;
    const unsigned bytes = address ? b->in->asize >> i & 1 ? 8 : 4 : value_bytes(&b->form, i);
    uint64_t value = 0;
    memcpy(&value, at + (size_t)b->lane * bytes, bytes);
    return value;
}

bool bulk_fail(const struct bulk *b, const char *text, uint64_t value) {
    fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane, text, (unsigned long long)value);
    return false;
}

bool bulk_aligned(const struct bulk *b, uint64_t address, unsigned align, enum space space) {
    if (!(address & (align - 1)))
        return true;
    mem_fault(b->fx, FAULT_MISALIGNED, b->lane, space, address, align);
    return false;
}

unsigned char *bulk_shared(const struct bulk *b, uint64_t address, uint64_t bytes, unsigned align, bool write,
                           struct cluster_place *place) {
    struct cta *c = b->w->cta;
    if (address >= SHARED_WINDOW && address < LOCAL_WINDOW) /* a generic address */
        address -= SHARED_WINDOW;
    *place = (struct cluster_place){c, c->rank, address};
    if (!bulk_aligned(b, address, align, SPACE_SHARED))
        return NULL;
    if (address >= CLUSTER_STEP && bytes <= UINT32_MAX && cluster_owns(c, address)) {
        *place = cluster_place(c, address);
        return cluster_lane(c, b->fx, b->lane, &address, (unsigned)bytes, write);
    }
    if (bytes <= c->shared_bytes && address <= c->shared_bytes - bytes)
        return c->shared + address;
    fx_fault_text(b->fx, FAULT_OUT_OF_BOUNDS, b->lane,
                  "a bulk %s of %llu bytes at shared 0x%llx; the CTA has %u bytes of shared memory",
                  write ? "write" : "read", (unsigned long long)bytes, (unsigned long long)address, c->shared_bytes);
    return NULL;
}

unsigned char *bulk_global(const struct bulk *b, uint64_t address, uint64_t bytes, unsigned align, bool write) {
    const struct memory *mem = b->w->cta->launch->memory;
    if (!bulk_aligned(b, address, align, SPACE_GLOBAL))
        return NULL;
    const struct allocation *a = mem_find(mem, address, bytes, &b->w->alloc_hint);
    if (a && !(write && a->read_only))
        return a->host + (address - a->begin);
    const struct allocation *owner = mem_owner(mem, address);
    const bool freed = owner && !owner->live && !owner->reserved;
    fx_fault_text(b->fx,
                  a       ? FAULT_READ_ONLY
                  : freed ? FAULT_USE_AFTER_FREE
                          : FAULT_OUT_OF_BOUNDS,
                  b->lane, "a bulk %s of %llu bytes at global 0x%llx%s", write ? "write" : "read",
                  (unsigned long long)bytes, (unsigned long long)address,
                  a       ? ", which is constant"
                  : freed ? ", which has been freed"
                          : ", which is not inside one allocation");
    return NULL;
}

void bulk_read_global(const struct bulk *b, unsigned char *to, const unsigned char *from, uint64_t bytes) {
    const struct held_stores *held = b->w->cta->held;
    if (held && held->used)
        held_read(held, from, to, (unsigned)bytes);
    else
        memcpy(to, from, bytes);
}

void bulk_moves_global(struct bulk *b, uint64_t address, uint64_t bytes) {
    if (bulk_has_job(b))
        bulk_job_add(&b->job, address, (uint32_t)bytes, false, b->job.traffic == BULK_WRITES);
}

void bulk_moves_shared(struct bulk *b, const struct cluster_place *place, uint64_t bytes, bool write) {
    if (bulk_has_job(b) && place->cta == b->w->cta)
        bulk_job_add(&b->job, place->offset, (uint32_t)bytes, true, write);
}

bool bulk_signal(struct bulk *b, const struct cluster_place *mbarrier, uint32_t bytes) {
    const bool later = bulk_has_job(b) && mbarrier->cta == b->w->cta;
    const char *wrong = mbarrier_complete_bytes(mbarrier->cta, mbarrier->offset, later ? 0 : bytes);
    if (wrong) {
        fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane, "mbarrier at shared 0x%llx of a bulk copy of %u bytes: %s",
                      (unsigned long long)mbarrier->offset, bytes, wrong);
        return false;
    }
    if (!later)
        return true;
    b->job.signals = true;
    b->job.signal = (uint32_t)mbarrier->offset;
    b->job.bytes = bytes;
    return true;
}

unsigned bulk_destinations(const struct bulk *b, uint64_t bytes, unsigned align,
                           struct cluster_place to[MAX_CLUSTER_CTAS], struct cluster_place mbarrier[MAX_CLUSTER_CTAS]) {
    const struct cluster *k = b->w->cta->cluster;
    if (!bulk_shared(b, bulk_operand(b, BULK_TO), bytes, align, true, &to[0]) ||
        !bulk_shared(b, bulk_operand(b, BULK_SIGNAL), 8, 8, true, &mbarrier[0]))
        return 0;
    if (mbarrier[0].cta != to[0].cta && !(b->form.pair && (mbarrier[0].rank ^ to[0].rank) == 1))
        return bulk_fail(
            b,
            "the mbarrier at 0x%llx is not in the CTA to which the copy writes; with .cta_group::2 it may be "
            "in the peer CTA",
            bulk_operand(b, BULK_SIGNAL));
    if (!b->form.multicast && to[0].cta != b->w->cta && b->w->cta->copies_take_time)
        return bulk_fail(b,
                         "a copy from global memory into another CTA (address 0x%llx) without .multicast::cluster is "
                         "supported by -m functional only",
                         bulk_operand(b, BULK_TO));
    if (!b->form.multicast)
        return 1;
    const struct cluster_place first[2] = {to[0], mbarrier[0]};
    const uint64_t ctas = bulk_operand(b, BULK_CTAS);
    unsigned n = 0;
    if (!ctas || ctas >> k->n) {
        fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane,
                      "the mask 0x%llx of a multicast names no CTA, or one beyond the %u of the cluster",
                      (unsigned long long)ctas, k->n);
        return 0;
    }
    for (uint32_t r = 0; r < k->n; r++)
        if (ctas >> r & 1) {
            to[n] = (struct cluster_place){k->cta[r], r, first[0].offset};
            mbarrier[n++] = (struct cluster_place){k->cta[r], r, first[1].offset};
        }
    return n;
}
