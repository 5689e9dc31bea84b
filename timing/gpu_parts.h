#ifndef TIMING_GPU_PARTS_H
#define TIMING_GPU_PARTS_H
/* The private struct of a GPU, for gpu.c and gpu_machine.c. */
#include "gpu.h"
#include "timing/windows.h"

struct gpu {
    struct config cfg; /* all units have pointers to this configuration, so its address must not change */
    struct gpu_options opt;
    struct memsys *mem; /* NULL: no machine */
    struct sm **sm;
    struct workers *workers; /* NULL: one thread */
    struct windows windows;
    const struct windows_watch *watch; /* NULL: none */
    uint32_t n_sms;
    uint64_t now; /* the next cycle to run; always an edge of a window */
    bool unbuilt; /* no machine has been built yet: the first launch, copy to the L2 or warming builds it */
    bool broken;  /* the machine must be rebuilt: a launch failed, or the next launch begins with empty caches */
    struct gpu_profile *profile; /* counts of the last launch, by PC */
    uint32_t n_profile;
    bool traced;          /* true if opt.trace has at least one event */
    uint64_t trace_lost;  /* events lost because memory ran out */
    uint64_t trace_shift; /* cycles run on earlier machines; the present machine began at 0 */
    const void **program; /* programs seen so far, in order; each has its own code addresses */
    uint32_t n_programs;
};

/* Builds the machine, with empty caches. Returns false if memory is out; then there is no machine. */
bool gpu_build_machine(struct gpu *g);
void gpu_free_machine(struct gpu *g);
/* Makes the machine's windows report to g->watch. */
void gpu_watch_machine(struct gpu *g);
#endif
