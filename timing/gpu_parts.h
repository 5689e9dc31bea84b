#ifndef TIMING_GPU_PARTS_H
#define TIMING_GPU_PARTS_H
/* The private struct of a GPU, for gpu.c, gpu_code.c and gpu_machine.c. */
#include "gpu.h"
#include "timing/windows.h"

/* A program that the GPU has seen. Each has its own code addresses. */
struct gpu_code {
    const struct program *program;
    uint32_t sms; /* number of SMs, from SM 0 on, whose instruction caches have had its code */
};

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
    bool traced;           /* true if opt.trace has at least one event */
    uint64_t trace_lost;   /* events lost because memory ran out */
    uint64_t trace_shift;  /* cycles run on earlier machines; the present machine began at 0 */
    struct gpu_code *code; /* programs seen so far, in order */
    uint32_t n_programs;
};

/* Builds the machine, with empty caches. Returns false if memory is out; then there is no machine. */
bool gpu_build_machine(struct gpu *g);
void gpu_free_machine(struct gpu *g);
struct timed_program;
/* gpu_code.c: prepares the program of a launch that runs in time (timed_init()), and brings its code to the L2 with
 * l2.holds_code. Returns false if memory is out. */
bool gpu_bring_code(struct gpu *g, const struct launch *l, struct timed_program *p);
/* Makes the machine's windows report to g->watch. */
void gpu_watch_machine(struct gpu *g);
#endif
