#ifndef TIMING_SM_PATH_CONTROL_H
#define TIMING_SM_PATH_CONTROL_H
/* Control flow: notifies the reconvergence model of the PCs to which lanes go, and updates the warp's paths. */
#include "timing/sm/scoreboard/scoreboard.h"
#include "warps.h"

struct sm;

/* The operations of the model and of the scoreboard. Their state is in the warps. */
struct sm_model {
    const struct reconv_ops *ops;
    const struct reconv_cfg *options; /* options of `ops` */
    struct reconv_wants wants;
    const struct scoreboard_ops *sb;
    uint16_t long_latency;            /* TIMED_ bits of instructions for which sm_long_latency() is called */
    uint64_t counts[RECONV_COUNTERS]; /* what the model counts: see reconv_ops.counters */
    struct reconv_level level[RECONV_LEVELS];
};
void model_init(struct sm_model *m, const struct reconv_ops *ops, const struct reconv_cfg *options);

/* ---- model_calls.c ---- */
/* Handles RECONV_ bits that a call of the model returned. */
void sm_heed(struct sm *sm, struct sm_warp *sw, unsigned flags);
/* Handles the RECONV_ bits and the call depth that are in sw->control. */
void sm_heed_control(struct sm *sm, struct sm_warp *sw);
/* Passes the PCs of the warp's paths to the model, except the PC of path `p` (n_paths: no exception). */
void sm_tell_others(struct sm *sm, struct sm_warp *sw, uint32_t p);
void sm_tell_all(struct sm *sm, struct sm_warp *sw);

/* ---- path_state.c ---- */
/* Find what a path, or each path of a warp, waits for, and set the state of the path accordingly. */
void sm_evaluate(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
void sm_evaluate_all(struct sm *sm, uint32_t w, uint64_t now);
/* Moves the warp's only path past an instruction with TIMED_PLAIN (sm_fast_path.plain). */
void sm_pass(struct sm *sm, uint32_t w, const struct timed_inst *ti, uint64_t now);
/* Returns what lanes of a warp wait for before the instruction at `pc`: operands or, in a modern core, its control
 * bits. `now`: UINT64_MAX to ignore stall counts. */
enum sb_verdict sm_check_operands(const struct sm *sm, uint32_t w, uint32_t pc, unsigned board, lanemask_t lanes,
                                  uint64_t now);
/* Updates the warp after a change of sm_warp.asleep. */
void sm_doze(struct sm *sm, uint32_t w, uint64_t now);
/* Wakes the warp, which a unit put to sleep (EVENT_WAKE). (sleep.c) */
void sm_woken(struct sm *sm, uint32_t w, uint64_t now);

/* ---- warp_paths.c ---- */
/* Gets the paths of the warp from the model, and evaluates the state of each path. Sets sm_warp.finished if all lanes
 * of the warp have exited. Lanes exit only in sm_control() and sm_await_members(), so callers of these two functions
 * must then call sm_warp_check_done(). */
void sm_refresh(struct sm *sm, uint32_t w, uint64_t now);
/* Delays the active path by the cost of a path switch, for models with wants.switches. */
void sm_switched(struct sm *sm, uint32_t w, uint64_t now);
/* Delays the paths that have the lanes by `ns` nanoseconds, after a nanosleep. PTX allows any time from 0 to twice the
 * requested one; the SM takes this time itself, rounded up to cycles. A path may begin earlier if its lanes join
 * others. */
void sm_nap(struct sm *sm, uint32_t w, lanemask_t lanes, uint64_t ns, uint64_t now);

/* ---- path_control.c ---- */
/* Returns true if the path may issue its next instruction, which has the flag TIMED_GATHER. Returns false if the
 * path has to wait for lanes from which it was split. */
bool sm_gather(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
/* Moves the path to the next instruction in program order. */
void sm_advance(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
/* Updates the paths after the control instruction `in`, which the path has executed with the effects sm->fx. */
void sm_control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now);
/* Releases the lanes of CTA slot `cta` that wait at a barrier, for barriers that end at an edge. */
void sm_barrier_opens(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
/* Makes the path wait at an instruction whose member mask includes lanes of other paths. */
void sm_await_members(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);

/* ---- stack_spills.c ---- */
/* Updates the depth of the warp's stack after its paths have changed, and adds the time of spilled and filled entries.
 * For models with wants.stack_entries. */
void sm_stack_moved(struct sm *sm, uint32_t w, uint64_t now);
#endif
