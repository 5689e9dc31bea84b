#ifndef ISA_WARPSYNC_H
#define ISA_WARPSYNC_H
/* Instructions that name the threads they are for: bar.warp.sync, and shfl, vote, match, redux and elect with .sync,
 * and those on matrices, which name all. A thread waits until all threads of its mask that have not exited execute
 * the same form with the same mask (PTX ISA 9.7.9.6 and 9.7.13.2), wherever in the code: then they act together. A
 * driver asks warp_sync_together() first; when threads are missing, the path's lanes arrive and wait like lanes at a
 * barrier of the CTA, and when the last one has arrived the instruction is executed for all. */
#include "effects.h"

/* HINT_COLLECTIVE and HINT_MEMBERS of an instruction whose operands are in place. */
uint8_t warp_sync_hints(const struct inst *in);
/* Does every executing lane of a path find all live threads of its mask in `m`, with the same mask? Then exec_inst()
 * does it all. Requires HINT_MEMBERS; `m`: the path's lanes whose guard holds. */
bool warp_sync_together(const struct warp *w, const struct inst *in, lanemask_t m);
/* The lanes of `m` wait at `in`, those that waited there already included. What is complete now is executed. Returns
 * the lanes that need not wait any more, in whatever path they are: each goes on behind the instruction it stood at. */
lanemask_t warp_sync_arrive(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx);
/* Lanes of the warp have exited: likewise. */
lanemask_t warp_sync_exit(struct warp *w, struct effects *fx);
/* Threads that those of `lanes` which wait at `pc` wait for, for reports; 0: none of them waits there. */
lanemask_t warp_sync_missing(const struct warp *w, lanemask_t lanes, uint32_t pc);
#endif
