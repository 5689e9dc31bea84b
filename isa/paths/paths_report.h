#ifndef ISA_REPORT_H
#define ISA_REPORT_H
/* Reports of runs that do not end: where warps are and what they wait for. Used by the interpreter and by the timing
 * model. */
#include "isa/machine/effects.h"
#include "reconv.h"
#include <stdio.h>

/* Prints ", in the loop of lines A to B" if a backward branch encloses `pc`; the shortest such loop. */
void report_loop(FILE *out, const struct program *p, uint32_t pc);
/* Warps that a report may still print, and warps that it has left out. */
struct report_room {
    uint32_t warps, left_out;
};
/* Prints a CTA's barriers and warps. `state(ctx, warp)` returns the reconvergence model's state of a warp, NULL if the
 * warp has ended. */
void report_cta(FILE *out, const struct cta *c, const struct reconv_ops *model,
                const void *(*state)(const void *ctx, uint32_t warp), const void *ctx, struct report_room *room);
/* Prints how many warps were left out. */
void report_rest(FILE *out, const struct report_room *room);
#endif
