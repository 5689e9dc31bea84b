#ifndef ISA_EXEC_BULK_H
#define ISA_EXEC_BULK_H
/* One bulk copy of one lane: its operands, its memory and its job. Internal to isa/exec. */
#include "exec.h"
#include "isa/bulk.h"
#include "isa/machine/bulk_job.h"
#include "isa/tensormap.h"

struct bulk {
    struct warp *w;
    const struct inst *in;
    struct effects *fx; /* receives the fault */
    int lane;
    struct bulk_form form;
    struct bulk_job job; /* filled only if the CTA has a receiver of jobs (struct bulk_sink) */
};

/* Returns true if the CTA has a sink, so that the copy needs a job. */
static inline bool bulk_has_job(const struct bulk *b) { return b->w->cta->bulk != NULL; }
/* Fills fx with a fault whose text contains `value` at its "%llu" or "%llx". Returns false. */
bool bulk_fail(const struct bulk *b, const char *text, uint64_t value);
/* Returns true if the address is a multiple of `align`, a power of two; false: fx holds the fault. */
bool bulk_aligned(const struct bulk *b, uint64_t address, unsigned align, enum space space);
/* Returns the value of an operand (BULK_TO ...), zero-extended. */
uint64_t bulk_operand(const struct bulk *b, unsigned i);
/* Returns the host address of `bytes` bytes of shared memory at a shared::cluster address. Also sets *place to the CTA
 * that has the memory, and to the offset in it. On a fault, stores the fault in fx and returns NULL. */
unsigned char *bulk_shared(const struct bulk *b, uint64_t address, uint64_t bytes, unsigned align, bool write,
                           struct cluster_place *place);
/* Returns the host address of `bytes` bytes of global memory. On a fault, stores the fault in fx and returns NULL. */
unsigned char *bulk_global(const struct bulk *b, uint64_t address, uint64_t bytes, unsigned align, bool write);
/* Copies bytes from global memory. The copied bytes include stores that the SM holds back until the next edge
 * (isa/machine/held.h). */
void bulk_read_global(const struct bulk *b, unsigned char *to, const unsigned char *from, uint64_t bytes);
/* Records bytes that the copy reads or writes. */
void bulk_moves_global(struct bulk *b, uint64_t address, uint64_t bytes);
void bulk_moves_shared(struct bulk *b, const struct cluster_place *place, uint64_t bytes, bool write);
/* Counts `bytes` bytes as complete at the mbarrier, now or when the job ends. On a fault, stores the fault in fx and
 * returns false. */
bool bulk_signal(struct bulk *b, const struct cluster_place *mbarrier, uint32_t bytes);
/* Finds the destination CTAs of a copy into shared memory: the CTA of the address, or the CTAs of the multicast mask.
 * Returns their number. On a fault, stores the fault in fx and returns 0. */
unsigned bulk_destinations(const struct bulk *b, uint64_t bytes, unsigned align,
                           struct cluster_place to[MAX_CLUSTER_CTAS], struct cluster_place mbarrier[MAX_CLUSTER_CTAS]);
/* exec_tensor.c: executes a tensor copy, a reduction, a prefetch, tensormap.replace or tensormap.cp_fenceproxy. */
void bulk_tensor(struct bulk *b);
void bulk_replace(struct bulk *b);
void bulk_copy_map(struct bulk *b);
#endif
