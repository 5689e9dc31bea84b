#ifndef ISA_REPORT_H
#define ISA_REPORT_H
/* Reports for runs that do not end: they show where each warp is and what it waits for. The interpreter and the timing
 * model use them. */
#include "isa/machine/effects.h"
#include "reconv.h"
#include <stdio.h>

/* Prints ", in the loop of lines A to B" for the shortest loop (the range of a backward branch) that contains `pc`, if
 * there is one. */
void report_loop(FILE *out, const struct program *p, uint32_t pc);
/* Prints the mbarrier for which the lanes of `w` at `pc` wait, if `pc` is a test_wait or try_wait, or is in a loop that
 * contains one. The text begins with a comma. It has the mbarrier's address and phase, the pending and expected
 * arrivals, and the pending transactions. Returns true if the function has printed. */
bool report_mbarrier(FILE *out, const struct warp *w, uint32_t pc, lanemask_t lanes);
/* The number of warps that a report may still print, and the number of warps that it has omitted. */
struct report_room {
    uint32_t warps, left_out;
};
/* Prints a CTA's barriers and warps. `state(ctx, warp)` returns the reconvergence model's state of a warp, or NULL if
 * the warp has ended. */
void report_cta(FILE *out, const struct cta *c, const struct reconv_ops *model,
                const void *(*state)(const void *ctx, uint32_t warp), const void *ctx, struct report_room *room);
/* If threads wait at the barrier of the cluster, prints for each CTA how many threads have not arrived. */
void report_cluster(FILE *out, const struct cluster *k);
/* Prints how many warps were left out. */
void report_rest(FILE *out, const struct report_room *room);
#endif
