#ifndef ISA_WARPSYNC_H
#define ISA_WARPSYNC_H
/* Instructions with a member mask: bar.warp.sync; shfl, vote, match, redux and elect with .sync; matrix instructions,
 * whose members are all lanes. A thread waits until all members that have not exited execute the same operation with
 * the same mask, at any place in the code (PTX ISA 9.7.9.6 and 9.7.13.2). Then they act together. A driver calls
 * warp_sync_together() first. If members are missing, the path's lanes arrive and wait, like lanes at a CTA barrier;
 * the last arrival executes the instruction for all. */
#include "effects.h"

/* Returns the hints that apply to an instruction: HINT_COLLECTIVE, HINT_MEMBERS, both, or 0. They depend on its
 * operands, so lowering must set the operands before this call. */
uint8_t warp_sync_hints(const struct inst *in);
/* Returns true if `m` contains all live members of each lane's mask, and the masks are equal. exec_inst() then executes
 * the instruction for all of them. `m` has the path's lanes whose guard is true. Requires HINT_MEMBERS. */
bool warp_sync_together(const struct warp *w, const struct inst *in, rowmask_t m);
/* Makes the lanes of `m` wait at `in` and executes the instructions that are now complete. Lanes already waiting
 * there keep waiting. Returns the released lanes of all paths. Each lane continues after its own instruction. */
rowmask_t warp_sync_arrive(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx);
/* Executes the instructions that are complete after lanes of the warp have exited. */
rowmask_t warp_sync_exit(struct warp *w, struct effects *fx);
/* Returns the members for which the lanes of `lanes` wait at `pc`, for reports. Returns 0 if none of `lanes` waits
 * there. */
rowmask_t warp_sync_missing(const struct warp *w, rowmask_t lanes, uint32_t pc);
/* Returns why the waiting lanes among `lanes` can never continue, as a clause for reports that begins with "; ": a lane
 * is not in its own mask, or lanes at one PC that wait for each other have different masks. Returns "" otherwise. */
const char *warp_sync_mistake(const struct warp *w, rowmask_t lanes);
#endif
