#ifndef TIMING_PASSES_H
#define TIMING_PASSES_H
/* Runs the memory side ahead of the SMs (memsys.h) on several host threads, in passes of a few cycles. In a pass, each
 * partition first runs alone. The rest of the memory side follows on one thread and makes room for the next replies of
 * the partitions.
 *
 * One thread runs the passes. Other threads help it: they take partitions of the present pass. The result does not
 * depend on their help. */
#include "windows_watch.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memsys;

struct passes {
    struct memsys *mem;
    const struct windows_watch *watch; /* NULL: no callback */
    uint32_t partitions;
    uint32_t number;   /* number of the present pass */
    uint64_t to;       /* cycle at which the present pass ends */
    atomic_uint *took; /* by partition: the last pass in which a thread took it */
    atomic_uint open;  /* number of the last pass that threads may help */
    atomic_uint left;  /* partitions of the present pass that have not finished */
    atomic_bool over;  /* true if no pass follows in this round of jobs */
};

/* Initialises passes of `mem`, which must outlive them. Returns false if memory is out. */
bool passes_init(struct passes *p, struct memsys *mem);
void passes_free(struct passes *p);
/* Runs the memory side up to cycle `to`, at most memsys_leads(). Without `shared`, no other thread may help, and one
 * pass is enough. */
void passes_run(struct passes *p, uint64_t to, bool shared);
/* Runs partitions of the present pass, beginning with number `first`, until none is left. */
void passes_help(struct passes *p, uint32_t first);
/* Helps until `over` is set. */
void passes_help_all(struct passes *p, uint32_t first);
#endif
