#ifndef TIMING_PASSES_H
#define TIMING_PASSES_H
/* Runs the memory side ahead of the SMs (memsys.h) on several host threads, in passes of a few cycles. In a pass, each
 * partition first runs alone. The rest of the memory side follows on one thread and makes room for the next replies of
 * the partitions.
 *
 * One thread runs the passes. Other threads help it: they take partitions of the present pass. The result does not
 * depend on their help. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memsys;

/* The part of a run that has just ended. Callers that measure the time of the parts use it (gpu_watch()). */
enum windows_event {
    WINDOWS_OUTSIDE,   /* time outside simulation, which ends when a launch begins */
    WINDOWS_ALONE,     /* serial work before jobs that several threads can share */
    WINDOWS_FEW,       /* serial work before jobs that are too few to share, or before the end of the launch */
    WINDOWS_PARTITION, /* a partition in a pass */
    WINDOWS_LEAD,      /* the rest of the memory side in a pass, or the requests of a round before its passes */
    WINDOWS_JOB,       /* an SM */
};
struct windows_watch {
    void (*told)(void *ctx, enum windows_event ended);
    void *ctx;
};

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
/* Runs partitions of the present pass until none is left, those from number `first` on first. */
void passes_help(struct passes *p, uint32_t first);
/* Helps until `over` is set. */
void passes_help_all(struct passes *p, uint32_t first);
#endif
