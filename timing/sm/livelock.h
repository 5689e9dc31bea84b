#ifndef TIMING_LIVELOCK_H
#define TIMING_LIVELOCK_H
/* Warps that run for ever and get nowhere. While memory does not change, what a path does depends on its registers
 * alone: once it is back at a branch with the registers that it had there before, it will come back for ever. When that
 * is known of every lane of the GPU that may run at all, nobody is left to change memory, and the launch cannot end.
 * Whatever is not understood (stores, clocks, barriers, calls, votes of a part of a warp) starts the search anew, so a
 * spin that someone will end is never reported; a loop that counts its rounds is found by the cycle limit only. */
#include <stdbool.h>
#include <stdint.h>

struct sm;
struct inst;
struct livelock;
typedef uint32_t livelock_lanes;

/* NULL: out of memory. */
struct livelock *livelock_new(void);
void livelock_free(struct livelock *l);
/* Begins to watch, with nothing known; or stops. */
void livelock_begin(struct sm *sm);
void livelock_end(struct sm *sm);
/* While sm->watching: warp `w` has executed `in` as sm->fx tells, on the path `lanes`, at `pc`. */
void livelock_note(struct sm *sm, uint32_t w, uint32_t pc, livelock_lanes lanes);
/* Something else happened that may end a spin: to the GPU, or to one warp. */
void livelock_disturb(struct sm *sm);
void livelock_disturb_warp(struct sm *sm, uint32_t w);
/* Has anything happened since livelock_begin() that may end a spin elsewhere? */
bool livelock_disturbed(const struct sm *sm);
/* Does every lane of this SM that may run repeat itself? *any: there is one. */
bool livelock_repeats(const struct sm *sm, bool *any);
/* Lanes of the warp that are known to repeat themselves. */
livelock_lanes livelock_lanes_of(const struct sm *sm, uint32_t w);
#endif
