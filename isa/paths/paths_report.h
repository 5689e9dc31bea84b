#ifndef ISA_REPORT_H
#define ISA_REPORT_H
/* Text for runs that do not end: where warps stand and what they wait for. Used by the interpreter and by the timing
 * model. */
#include "isa/machine/effects.h"
#include "reconv.h"
#include <stdio.h>

/* ", in the loop of lines A to B" when a branch leads from behind `pc` to before it: the nearest such. */
void report_loop(FILE *out, const struct program *p, uint32_t pc);
/* Warps that a report may still name, and those that it has left out. */
struct report_room {
    uint32_t warps, left_out;
};
/* A CTA's barriers and warps. `state(ctx, warp)` is the model's state of a warp, NULL when it is done. */
void report_cta(FILE *out, const struct cta *c, const struct reconv_ops *model,
                const void *(*state)(const void *ctx, uint32_t warp), const void *ctx, struct report_room *room);
/* How many warps there were no room for. */
void report_rest(FILE *out, const struct report_room *room);
#endif
