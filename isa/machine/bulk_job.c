/* The list of bytes that a bulk copy moves. */
#include "bulk_job.h"
#include <stdlib.h>

void bulk_job_add(struct bulk_job *job, uint64_t address, uint32_t bytes, bool shared, bool write) {
    struct bulk_run *last = job->n ? &job->run[job->n - 1] : NULL;
    if (job->failed || !bytes)
        return;
    if (last && last->shared == shared && last->write == write && last->address + last->bytes == address) {
        last->bytes += bytes;
        return;
    }
    if (job->n == job->cap) {
        const uint32_t cap = job->cap ? 2 * job->cap : 8;
        struct bulk_run *more = realloc(job->run, cap * sizeof *more);
        if (!more) {
            job->failed = true;
            return;
        }
        job->run = more;
        job->cap = cap;
    }
    job->run[job->n++] = (struct bulk_run){address, bytes, shared, write};
}
