#ifndef ISA_INTERP_WARP_H
#define ISA_INTERP_WARP_H
/* Runs the warps of one CTA. Private to the interpreter. */
#include "check.h"
#include "interp.h"
#include "interp_native.h"
#include "isa/paths/control.h"
#include "isa/paths/host_poll.h"
#include "isa/paths/reconv_spe.h"

/* The loop in which a warp waits for a clock: the PC of a clock read, the number of its executions, the values of
 * warp_run.executed at the latest of them (0: none) and of %clock at the first. */
struct clock_wait {
    uint32_t pc, reads;
    uint64_t latest, began;
};

/* A warp and its paths. */
struct warp_run {
    struct warp_control control;
    bool done;
    bool starved;     /* the warp stopped before an instruction that needs an entry from the affine warp, or copies */
    bool blocked;     /* no path can run before a barrier completes */
    bool has_yielded; /* since the latest barrier, other warps have run before a store with HINT_OVERWRITES */
    bool patient;     /* with cta_run.turns: the top path has waited once, and other warps have run since */
    /* with cta_run.turns: paths have taken turns, so some paths may have missed their reconvergence */
    bool unmerged;
    /* with cta_run.turns: number of iterations of waiting loops since the warp last let others run */
    uint32_t rounds;
    uint64_t since;    /* value of `executed` when these iterations began */
    uint32_t rotation; /* a counter: `rotation` modulo the number of schedulable paths is the path that runs */
    uint64_t executed; /* number of warp instructions executed so far */
    /* %clock is `executed` + `slept`: cycles of nanosleep, and cycles that loops skip which wait for a clock */
    uint64_t slept;
    struct clock_wait clock_wait;
    /* number of clock reads in a row, each at most CLOCKS_APART cycles after the one before; %clock at the latest */
    uint32_t clock_reads;
    uint64_t clock_read_at;
    struct host_polls host_polls; /* with cta_run.has_host */
    struct path_wait held[MAX_PATHS];
};

struct cta_run {
    struct cta *cta;
    const struct reconv_ops *model;
    const struct reconv_cfg *cfg;
    struct warp_run *warps;
    struct reconv_cta *shared; /* state of the model that the warps share; NULL: none */
    /* Called before the first instruction of a turn whose order among CTAs is observable. Returns false if the turn
     * must stop because another CTA has faulted. If NULL, the turn waits for nothing. */
    bool (*wait_for_turn)(void *ctx);
    void *turn_ctx;
    /* the affine warp, freed with the run; NULL: the program has no affine stream */
    struct cta_affine *affine;
    bool turns;  /* interp_cfg.turns; stack model only */
    bool single; /* a warp stops after each instruction, in any model */
    /* by PC: a warp may enter the block there; NULL: any. A warp stops before another block, and sets `stopped`. */
    const bool *known;
    bool stopped;
    bool counts_loads; /* true: count loads for affine statistics */
    /* state of the checker, freed with the run; NULL: the launch is not checked */
    struct check_cta *check;
    /* tests control bits, freed with the run; NULL: no test */
    struct late_cta *late;
    const struct interp_observer *observer; /* NULL: none */
    struct cta_watch *watch, *watch_memory; /* `watch` is NULL while the CTA is not watched; see interp_watch.h */
    /* the block stopped before its last instruction, which waits for members of its mask, a queue entry or copies */
    bool stands;
    bool wants_entry;  /* `stands` is set, and the block's last instruction is tried again in the warp's next turn: it
                        * waits for an entry from the affine warp, or for copies */
    bool communicates; /* an instruction with observable order was executed in this turn */
    bool polled;       /* an mbarrier wait was false in all its lanes: the warp's turn ends after the block */
    bool rests;        /* the warp slept or polls a clock: its turn ends after the block, and other paths of it run */
    bool polls_clock;  /* a path has polled a clock in this turn */
    enum poll polls;   /* the memory that paths have polled in this turn */
    bool has_host;     /* threads of the host may run while the launch waits (launch.stands) */
    bool keeps_clock;  /* nothing but instructions advances %clock: the CTA is lent (interp_lent.h) */
    uint64_t slept;    /* sum of warp_run.slept over the warps, and over earlier CTAs; turns count it as instructions */
    /* counters of the reconvergence model, which the interpreter provides but does not report */
    uint64_t model_counts[RECONV_COUNTERS];
    struct interp_stats n;
    _Alignas(64) struct effects fx; /* aligned to cache lines */
    uint32_t fault_pc, fault_warp;
    uint32_t last; /* the warp that warp_run() ran last */
    /* number of rounds of the warps that native code may run before warp_run() returns */
    uint32_t more_rounds;
    struct native_cta native;
};

/* Counts of executed instructions: warp instructions, thread instructions, and instructions of convergence barriers.
 * `others` is the part of `warp` that earlier warps have executed in the same turn (native code, at barriers). */
struct tally {
    uint64_t warp, thread, barrier, others;
};

/* The functions warp_...only_path() serve the stack model, for warps with one path. They have the same effects as the
 * functions of isa/paths/control.h, but do not call the model. */
static inline unsigned warp_advance_only_path(void *model, int id, uint32_t next) {
    (void)id;
    spe_advance(model, next);
    return 0;
}
static inline struct path warp_only_path(const struct spe_stack *st) {
    return (struct path){.pc = st->e[0].pc, .lanes = st->e[0].lanes};
}
/* Moves the only path past a barrier that has opened. */
static inline void warp_step_only_path(struct warp_run *wr) {
    const struct path p = warp_only_path(wr->control.model);
    if (((const struct spe_stack *)wr->control.model)->n == 1)
        control_step_over(&wr->control, &p, warp_advance_only_path);
}
static inline void warp_note_depth(struct cta_run *r, const struct spe_stack *st) {
    if (st->max_depth > r->n.max_depth)
        r->n.max_depth = st->max_depth;
}

/* Functions that the interpreter stores in cta_run.turns. cta_has_others() returns true if warps have other runnable
 * paths. cta_take_turns() lets these paths run next. */
bool cta_has_others(const struct cta_run *r);
void cta_take_turns(struct cta_run *r);
/* The reason why warp_run() returned. In the order of the constants: the warp exited, it waits for other warps or
 * lanes, it used its budget, it faulted, or the launch is stopping. */
enum warp_end { WARP_DONE, WARP_WAITS, WARP_SPENT, WARP_FAULT, WARP_STOPPED };

/* Allocates the paths of all warps; false if out of memory. `r` then owns `c`. */
bool cta_run_init(struct cta_run *r, struct cta *c, const struct reconv_ops *model, const struct reconv_cfg *cfg);
/* Frees the run and its CTA. */
void cta_run_free(struct cta_run *r);
/* Starts all warps at the kernel's entry. */
void cta_run_start(struct cta_run *r);
/* Releases the lanes of a complete barrier in all warps. */
void cta_release_barrier(struct cta_run *r, uint32_t barrier);
/* Runs one warp until it ends, waits, faults, polls an mbarrier in vain, or has executed `budget` warp instructions and
 * the rest of a block. If the warp waits at a barrier, native code may run the next warps in the same way. Sets r->last
 * to the last of these warps, whose end it returns. */
enum warp_end warp_run(struct cta_run *r, uint32_t warp, uint64_t budget);
/* interp_execute.c: returns true if the CTA has other warps, and copies would land before `in` that the warp has issued
 * in this turn. */
bool cta_lands_fresh(const struct cta_run *r, const struct warp *w, const struct inst *in, lanemask_t lanes);
/* interp_execute.c: returns true if `in` is a store that may overwrite what other warps have to read, and they must run
 * first: they have not run since the latest barrier, after this warp came to such a store. */
bool cta_yields(const struct cta_run *r, const struct warp *w, const struct inst *in);
/* interp_execute.c: executes an instruction that does not change paths; effects go to r->fx. Returns false if it
 * faulted or the run must stop. */
bool cta_execute(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes, uint64_t clock);
#endif
