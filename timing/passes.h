#ifndef TIMING_PASSES_H
#define TIMING_PASSES_H
/* Runs the memory side ahead of the SMs (memsys.h) on several host threads, in passes of a few cycles. In a pass, each
 * partition first runs alone. The rest of the memory side follows on one thread and makes room for the next replies of
 * the partitions. Another thread moves the requests of SMs at the same time, in steps. A pass waits for the steps that
 * it needs.
 *
 * One thread runs the passes. Other threads help it: they take partitions of the present pass, or move the requests.
 * The result does not depend on their help. */
#include "windows_watch.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memsys;

/* The state of the requests of a round. */
enum passes_moving { PASSES_MOVED, PASSES_WAIT_FOR_THREAD, PASSES_MOVE };

struct passes {
    struct memsys *mem;
    const struct windows_watch *watch; /* NULL: no callback */
    uint32_t partitions;
    uint32_t number;           /* number of the present pass */
    uint64_t to;               /* cycle at which the present pass ends */
    uint64_t follows;          /* cycle up to which requests move in this round of jobs */
    atomic_uint *took;         /* by partition: the last pass in which a thread took it */
    atomic_uint open;          /* number of the last pass that threads may help */
    atomic_uint left;          /* partitions of the present pass that have not finished */
    atomic_bool over;          /* true if no pass follows in this round of jobs */
    _Atomic uint64_t followed; /* cycle up to which requests have moved */
    atomic_uint moving;        /* enum passes_moving */
};

/* Initialises passes of `mem`, which must outlive them. Returns false if memory is out. */
bool passes_init(struct passes *p, struct memsys *mem);
void passes_free(struct passes *p);
/* Begins a round of jobs. Requests move up to cycle `follows`, at most memsys_led(); 0: no request moves. Call it
 * before other threads may help. */
void passes_begin(struct passes *p, uint64_t follows);
/* Moves the requests of the round, and runs the rest of the memory side up to cycle `to`, at most memsys_leads().
 * Without `shared`, no other thread may help, and one pass is enough. */
void passes_run(struct passes *p, uint64_t to, bool shared);
/* Moves the requests if no other thread does, and runs partitions of the present pass, beginning with number `first`,
 * until none is left. */
void passes_help(struct passes *p, uint32_t first);
/* Helps until `over` is set. */
void passes_help_all(struct passes *p, uint32_t first);
#endif
