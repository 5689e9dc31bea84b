#ifndef ISA_EXEC_TCGEN05_H
#define ISA_EXEC_TCGEN05_H
/* Functions that exec_tcgen05.c and exec_tcgen05_mma.c share: faults, allocated columns, CTA pairs, and matrices in
 * shared memory. */
#include "exec_mem.h"
#include "isa/tensor_memory.h"
#include "isa/tiles.h"

/* Reports a fault and returns false. */
static inline bool tensor_refuse(struct effects *fx, int lane, const char *why) {
    fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "%s", why);
    return false;
}

/* Returns the peer CTA of cta_group::2: CTAs whose ranks in the cluster differ in the last bit are a pair. Returns NULL
 * if there is none; fx then holds the fault. */
static inline struct cta *tensor_peer(const struct cta *c, int lane, struct effects *fx) {
    const uint32_t rank = c->rank ^ 1;
    struct cta *peer = rank < c->cluster->n ? c->cluster->cta[rank] : NULL;
    if (peer && peer->live_threads)
        return peer;
    fx_fault_text(fx, FAULT_UNSUPPORTED, lane,
                  peer ? ".cta_group::2 needs both CTAs of a pair, and CTA %u of the cluster has ended (it has %u CTAs)"
                       : ".cta_group::2 needs a pair of CTAs, and the cluster has no CTA %u (it has %u)",
                  rank, c->cluster->n);
    return NULL;
}

/* Fills cta[0] and cta[1] with the CTAs on which an instruction of CTA `own` works, the one with the even rank first.
 * Returns their number, or 0 if fx holds the fault. */
static inline unsigned tensor_ctas(struct cta *own, bool pair, int lane, struct effects *fx, struct cta *cta[2]) {
    struct cta *peer = pair ? tensor_peer(own, lane, fx) : NULL;
    cta[0] = own;
    if (!pair)
        return 1;
    cta[own->rank & 1] = own;
    cta[~own->rank & 1] = peer;
    return peer ? 2 : 0;
}

/* Checks that columns [column, column + n) of a CTA are allocated. */
static inline bool tensor_allocated(const struct cta *c, uint32_t column, uint32_t n, int lane, struct effects *fx) {
    const struct tensor_memory *t = c->tensor;
    bool all = t && column + n <= TENSOR_COLUMNS;
    for (uint32_t i = column / TENSOR_UNIT; all && i * TENSOR_UNIT < column + n; i++)
        all = t->owner[i] != 0;
    if (!all)
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane,
                      "columns %u to %u of tensor memory are not allocated (tcgen05.alloc)", column, column + n - 1);
    return all;
}

/* Decodes a descriptor of tcgen05. `wide`: elements have 32 bits. Returns false if fx holds a fault. */
static inline bool tensor_matrix(uint64_t d, const char *what, bool across, bool wide, int lane, struct effects *fx,
                                 struct tile *t) {
    static const uint8_t modes[] = {SWIZZLE_NONE, SWIZZLE_128B_32B, SWIZZLE_128B, N_SWIZZLES,
                                    SWIZZLE_64B,  N_SWIZZLES,       SWIZZLE_32B,  N_SWIZZLES};
    const unsigned mode = modes[d >> 61];
    const char *wrong = (d >> 46 & 7) != 1   ? "bits 46 to 48 must be 0b001"
                        : d >> 52 & 1        ? "absolute addresses (bit 52) are not supported"
                        : mode == N_SWIZZLES ? "bits 61 to 63 have no meaning; a swizzle is 0, 1, 2, 4 or 6"
                        : across && wide != (mode == SWIZZLE_128B_32B)
                            ? "along M or N, elements of 32 bits need swizzle 1 (bits 61 to 63), and others must not "
                              "have it"
                            : NULL;
    if (wrong) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "descriptor 0x%016llx of %s: %s", (unsigned long long)d, what,
                      wrong);
        return false;
    }
    *t = tile_of(d, mode, across);
    return true;
}

/* Returns the host address of the 16 bytes at offset `at` of a CTA's shared memory. Out of bounds, stores a fault in fx
 * and returns NULL. */
static inline const unsigned char *tensor_chunk(const struct cta *c, uint32_t at, int lane, struct effects *fx) {
    if (at + TILE_CHUNK <= c->shared_bytes)
        return c->shared + at;
    mem_fault(fx, FAULT_OUT_OF_BOUNDS, lane, SPACE_SHARED, at, TILE_CHUNK);
    return NULL;
}
#endif
