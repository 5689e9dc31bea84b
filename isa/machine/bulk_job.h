#ifndef ISA_BULK_JOB_H
#define ISA_BULK_JOB_H
/* Bulk copies in flight. Their effects on memory happen when the instruction executes. A driver that models time gets a
 * job for each, decides when the copy is complete, and then completes its mbarrier. Without a sink, a copy is complete
 * at once. */
#include "isa/types.h"
#include <stdbool.h>

struct cta;
struct warp;

/* A contiguous run of bytes that a copy reads or writes: in global memory (device addresses), or in the shared memory
 * of its own CTA (offsets). */
struct bulk_run {
    uint64_t address;
    uint32_t bytes;
    bool shared, write;
};

enum bulk_traffic { BULK_READS, BULK_WRITES, BULK_UPDATES, BULK_FETCHES };

struct bulk_job {
    const struct warp *warp; /* the row that executed the instruction */
    uint8_t lane;            /* lane of the warp; lanes of the second row begin at WARP_LANES */
    uint8_t traffic;         /* enum bulk_traffic: what the copy does to global memory */
    uint8_t element;         /* bytes of an element of a reduction, at least 4 */
    bool grouped;            /* the job belongs to the thread's bulk group */
    bool signals;            /* at the end of the copy, an mbarrier of the CTA counts `bytes` bytes */
    bool failed;             /* memory for `run` ran out */
    uint32_t signal;         /* offset of the mbarrier in shared memory */
    uint32_t bytes;
    uint32_t n, cap;
    struct bulk_run *run; /* from malloc() */
};

struct bulk_sink {
    void *ctx;
    /* Takes over a job. The sink frees job->run later. */
    void (*begin)(void *ctx, const struct bulk_job *job);
    /* Reports that `lanes` of the row `w` close their bulk group. */
    void (*commit)(void *ctx, const struct warp *w, rowmask_t lanes);
};

/* Adds bytes to a job; contiguous bytes of the same kind become one run. */
void bulk_job_add(struct bulk_job *job, uint64_t address, uint32_t bytes, bool shared, bool write);
#endif
